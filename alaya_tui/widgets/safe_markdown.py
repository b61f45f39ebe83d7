"""Markdown from a memory: looks like Markdown, acts like text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Markdown, Static

from alaya_tui.render_text import block

MOST_LINES = 120
"""Every block of Markdown is a widget: mounting those of a longer text would hold up the keys, so it is shown plain."""

_NOT_READ = ["link", "image", "autolink", "linkify", "reference", "html_inline", "html_block", "entity"]


class SafeMarkdown(Markdown):
    """Links, images and HTML are shown as they are written: nothing stored can be clicked, loaded or hidden."""

    def __init__(self) -> None:
        super().__init__(parser_factory=literal_parser, open_links=False)


class StoredText(Vertical):
    """A stored text as Markdown if that is quickly done, else as it is written."""

    DEFAULT_CSS = "StoredText, StoredText > * { height: auto; }"

    def compose(self) -> ComposeResult:
        """Both ways, of which one is shown."""
        yield SafeMarkdown()
        yield Static(markup=False)

    def show(self, text: str) -> None:
        """Shows stored text."""
        shown = block(text)
        as_markdown = shown.count("\n") < MOST_LINES
        markdown, plain = self.query_one(SafeMarkdown), self.query_one("StoredText > Static", Static)
        markdown.display, plain.display = as_markdown, not as_markdown
        markdown.update(shown if as_markdown else "")
        plain.update(Content("" if as_markdown else shown))


def literal_parser() -> MarkdownIt:
    """A parser that knows no links, images or HTML."""
    # A quote in a quote in a quote ... would become widgets in widgets, until the layout gives up.
    return MarkdownIt("gfm-like", {"maxNesting": 12, "linkify": False, "html": False}).disable(_NOT_READ, True)
