"""Markdown from a memory: looks like Markdown, acts like text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Markdown, Static

from alaya_tui.render_text import block

MOST_LINES = 120
MOST_BLOCKS = 120
"""Every block of Markdown is a widget: mounting those of a longer text would hold up the keys, so it is shown plain."""

MOST_NESTING = 4
"""Lists and quotes inside each other; the widget draws no text that stands much deeper."""

_NOT_READ = ["link", "image", "autolink", "linkify", "reference", "html_inline", "html_block", "entity"]
_BLOCKS = ("hr", "fence", "code_block")


class SafeMarkdown(Markdown):
    """Links, images and HTML are shown as they are written: nothing stored can be clicked, loaded or hidden."""

    def __init__(self) -> None:
        super().__init__(parser_factory=literal_parser, open_links=False)


class StoredText(Vertical):
    """A stored text as Markdown if that is quickly done and shows all of it, else as it is written."""

    DEFAULT_CSS = "StoredText, StoredText > * { height: auto; }"

    _shown_times = 0

    def compose(self) -> ComposeResult:
        """Both ways, of which one is shown."""
        yield SafeMarkdown()
        yield Static(markup=False)

    def show(self, text: str) -> None:
        """Shows stored text; until it is laid out nothing is seen, least of all the text before it."""
        shown = block(text)
        as_markdown = is_good_as_markdown(shown)
        markdown, plain = self.query_one(SafeMarkdown), self.query_one("StoredText > Static", Static)
        markdown.display, plain.display = False, not as_markdown
        plain.update(Content("" if as_markdown else shown))
        self._shown_times += 1
        self.run_worker(self._lay_out(self._shown_times, shown if as_markdown else ""), exit_on_error=False)

    async def _lay_out(self, number: int, text: str) -> None:
        markdown = self.query_one(SafeMarkdown)
        await markdown.update(text)
        if number == self._shown_times:
            markdown.display = bool(text)


def literal_parser() -> MarkdownIt:
    """A parser that knows no links, images or HTML."""
    # A quote in a quote in a quote ... would become widgets in widgets, until the layout gives up.
    return MarkdownIt("gfm-like", {"maxNesting": 12, "linkify": False, "html": False}).disable(_NOT_READ, True)


def is_good_as_markdown(text: str) -> bool:
    """Whether the widget would draw this text soon, and all of it."""
    if text.count("\n") >= MOST_LINES:
        return False
    tokens = literal_parser().parse(text)
    blocks = sum(token.type in _BLOCKS or (token.nesting == 1 and token.type != "inline") for token in tokens)
    return blocks <= MOST_BLOCKS and _depth(tokens) <= MOST_NESTING and _letters([text]) == _letters(_drawn(tokens))


def _depth(tokens: Sequence[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        if token.type in ("bullet_list_open", "bullet_list_close", "ordered_list_open", "ordered_list_close",
                          "blockquote_open", "blockquote_close"):  # fmt: skip
            depth += token.nesting
            deepest = max(deepest, depth)
    return deepest


def _drawn(tokens: Iterable[Token]) -> Iterable[str]:
    """The pieces of text that are seen; the language of a code block is not, and nobody misses it."""
    for token in tokens:
        yield token.content
        if token.type == "list_item_open" or len(token.info.split()) <= 1:
            yield token.info


def _letters(texts: Iterable[str]) -> int:
    """How many characters there are that no Markdown is made of; cells beyond the columns of a table are dropped."""
    return sum(not (char.isspace() or (char.isascii() and not char.isalnum())) for text in texts for char in text)
