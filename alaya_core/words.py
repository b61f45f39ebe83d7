"""The one analyser of words: what is indexed and what is asked go through it alike.

A text becomes tokens of letters and digits that a full-text index keeps whole whatever its own tokenizer does:

* Latin words are stemmed (`plugins` -> `plugin`), accents and case folded;
* Chinese, Japanese, Korean and South-East Asian runs are cut into pairs of characters, so that no dictionary has to
  agree with itself; lone characters stand beside the pairs, so that one character can be asked for;
* identifiers (`plugins.allow`, `--flag`, `C++`, `1.2.3`) are kept whole, encoded, and their parts stand beside them.
Encoded tokens begin with `qx` and a letter for their kind; a plain word that begins so is encoded too, hence none can
be mistaken for another.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any

from alaya_core.text import storable, without_escapes

ANALYSER = "words/2"
"""Changes whenever the tokens of some text change: an index made by another analyser must be made again."""

INDEX_SETTINGS: Mapping[str, Any] = {
    "base_tokenizer": "icu/split",
    "stem": False,
    "remove_stop_words": False,
    "lower_case": True,
    "ascii_folding": False,
}
"""How the full-text index is to cut a normalised text: at its spaces, nothing folded again."""

MAX_QUERY_WORDS = 64

_REMEMBERED = 24  # characters of a chunk whose tokens are remembered
_LONGEST = 36  # bytes; the index drops tokens of 40 and more without a word
_LONGEST_QUERY, _GIANT = 50_000, 4_096  # characters and tokens of a query that are looked at
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0edf\u1000-\u104f\u1780-\u17d3"
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_UNSPACED = _HAN + _HANGUL + _KANA + _SOUTH_EAST
_TOKEN = re.compile(
    rf"""
      (?P<number> (?<![\w.,]) [$+-]? [0-9]{{1,3}} (?:,[0-9]{{3}})+ (?:\.[0-9]+)? (?![\w,]) )
    | (?P<elided> (?<![\w.+\#@~/\\:$-]) [A-Za-z]+ ' [A-Za-z]{{1,3}} (?![A-Za-z0-9_]) )
    | (?P<chunk> [A-Za-z0-9_.+\#@~/\\:$-]+ )
    | (?P<unspaced> [{_UNSPACED}]+ )
    | (?P<other> (?: [{_INDIC}] | (?![{_UNSPACED}])[^\W\x00-\x7f] )+ )
    """,
    re.VERBOSE,
)
_ALONE = re.compile(f"[{_HAN}{_HANGUL}]")
_PIECE = re.compile(r".{1,1024}(?=\s|\Z)|.{1,1024}", re.DOTALL)
_SIGNS_KEPT = re.compile(r"(?:\.{0,2}/|~/|--?|[.$@#~])?_*$")
_VERSION = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+)+")
_VERSION_BEGINS = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+)+(?=[-+_A-Za-z])")
_SIGNED = re.compile(r"([A-Za-z]{1,2}(?:\+\+|#))([0-9]*)")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SIGNS = {sign: "q" + chr(ord("a") + index) for index, sign in enumerate("._-/\\:+#@~$")}
_stemming = threading.Lock()  # a stemmer keeps the word it works on in itself


def normalise(text: str) -> str:
    """The text as it is indexed: its tokens, in order and as often as they occur, with single spaces between."""
    return " ".join(chain.from_iterable(_of_match(match) for match in _TOKEN.finditer(_fold(text))))


def query_words(text: str, limit: int = MAX_QUERY_WORDS) -> tuple[str, ...]:
    """The distinct tokens to ask for, in the order of the text; of a giant query the most telling ones.

    Stop words go unless there is nothing else (asking for them cost 5 points of recall@10 on English conversations).
    Every token is one of the text's own, so that a text finds itself.
    """
    counts: dict[str, int] = {}
    for token in islice(tokens(_head(text)), _GIANT):
        counts[token] = counts.get(token, 0) + 1
    asked = [token for token in counts if token not in _stops()] or list(counts)
    if len(asked) <= limit:
        return tuple(asked)
    ranked = sorted(enumerate(asked), key=lambda item: (-telling(item[1]), -counts[item[1]], item[0]))
    return tuple(token for _, token in sorted(ranked[:limit]))


def match_query(text: str) -> str:
    """What to hand to the index's match query; empty when the text has no word to look for."""
    return " ".join(query_words(text))


def telling(token: str) -> float:
    """How much a token tells by itself, 0..1, without knowing the collection."""
    if token.startswith(("qxw", "qxh")):
        return 1.0
    if token in _stops():
        return 0.05
    if token.startswith("qxc"):
        # A pair that reaches into a function word says little beside the pairs within the words themselves.
        return 0.4 if _stop_codes() & {token[3:7], token[7:11]} else 0.6
    if len(token) == 1:
        return 0.25
    return 0.8 if any(char.isdigit() for char in token) else 0.7


def telling_among(texts: Sequence[frozenset[str]]) -> Callable[[str], float]:
    """`telling`, less for pairs of characters that none of the texts found has: mostly those over the edge of two
    words, which no text was ever going to have."""
    present = frozenset().union(*texts)
    # asked again for every text with the same few words
    return cache(lambda token: telling(token) * (0.25 if token.startswith("qxc") and token not in present else 1.0))


def coverage(
    asked: Sequence[str], text_words: frozenset[str] | set[str], weigh: Callable[[str], float] = telling
) -> float:
    """Share of what was asked that a text has, 0..1, each token weighed by what it tells.

    Args:
        asked: `query_words` of the query.
        text_words: Tokens of the text (its normalised form, split at spaces).
        weigh: Another measure of what a token tells, e.g. its rarity in the collection.
    """
    total = sum(map(weigh, asked))
    return sum(weigh(word) for word in asked if word in text_words) / total if total > 0 else 0.0


def identifiers(text: str) -> tuple[str, ...]:
    """Ids, flags, paths, versions and error codes of a text, as they stand in its `folded` form; distinct, in order."""
    found = dict.fromkeys(
        (body.lstrip("vV") if _VERSION.fullmatch(body) else body).casefold()
        for match in _TOKEN.finditer(_fold(_head(text)))
        if match.lastgroup == "chunk" and _is_identifier(body := _trim(match[0]))
    )
    return tuple(islice(found, MAX_QUERY_WORDS))


def folded(text: str) -> str:
    """The text as `identifiers` compare: compatibility forms, case, accents and Traditional characters folded."""
    return _fold(text).casefold()


def tokens(text: str) -> Iterator[str]:
    """The tokens of a text, lazily; time is linear in its length."""
    for match in _TOKEN.finditer(_fold(text)):
        yield from _of_match(match)


def _of_match(match: re.Match[str]) -> Iterable[str]:
    value = match[0]
    match match.lastgroup:
        case "chunk":
            return _known_chunk(value) if len(value) <= _REMEMBERED else _chunk(value)
        case "number":
            return _chunk(value.replace(",", "").lstrip("$+-"))
        case "unspaced":
            return _pairs(value)
        case "elided":
            return (_word(value),)
        case _:
            return (_plain(value.casefold()),)


def _head(query: str) -> str:
    """As much of a giant query as is looked at, up to a space."""
    return query if len(query) <= _LONGEST_QUERY else (query[:_LONGEST_QUERY].rsplit(None, 1) or [""])[0]


def _fold(text: str) -> str:
    text = storable(without_escapes(text))
    if text.isascii():
        return text
    return "".join(map(_compatible, _PIECE.findall(text))).translate(_folds())


def _compatible(piece: str) -> str:
    # in pieces, because normalising a long run of combining marks takes time quadratic in its length
    return piece if unicodedata.is_normalized("NFKC", piece) else unicodedata.normalize("NFKC", piece)


@cache
def _folds() -> dict[int, str | None]:
    from alaya_core.words_data import fold_table  # 4,300 pairs that plain English never needs

    return fold_table()


@lru_cache(maxsize=65_536)
def _known_chunk(chunk: str) -> tuple[str, ...]:
    """The tokens of a chunk, remembered: most words of a text have been seen before."""
    return tuple(_chunk(chunk))


def _chunk(chunk: str) -> Iterator[str]:
    body = _trim(chunk)
    if not body:
        return
    if body.isalnum():
        yield from _alphanumeric(body)
        return
    if _VERSION.fullmatch(body):
        yield from _version(body)
        return
    yield _whole(body)
    for segment in re.split(r"[/\\:@]+|(?<![A-Za-z])#", body):
        yield from _segment(segment, body)


def _version(version: str) -> Iterator[str]:
    """A version and what it is a version of: `2.14.3` is found by `2.14` too."""
    numbers = version.lstrip("vV").split(".")
    for end in range(len(numbers), 1, -1):
        yield _whole(".".join(numbers[:end]))


def _segment(segment: str, body: str) -> Iterator[str]:
    if signed := _SIGNED.fullmatch(segment):
        if signed[1] != body:
            yield _whole(signed[1])
        return
    if _VERSION.fullmatch(segment):
        yield from _version(segment)
        return
    if begins := _VERSION_BEGINS.match(segment):
        yield from _version(begins[0])
    segment = segment.strip("-~$")
    if segment != body and segment.strip("_.+#") and not segment.isalnum():
        yield _whole(segment)
    for part in re.split(r"[^A-Za-z0-9]+", segment):
        if part:
            yield from _alphanumeric(part)


def _alphanumeric(value: str) -> Iterator[str]:
    yield _word(value)
    parts = _CAMEL.findall(value)
    one_case = value.islower() or value.isupper() or value.istitle()
    if one_case and not value.isalpha() and not re.fullmatch(r"[A-Za-z]{2,}[0-9]+|[0-9]+[A-Za-z]+", value):
        return
    if len(parts) > 1 and (value.isalpha() or len(parts) <= 6):  # a hash or an encoded blob has no words in it
        yield from map(_word, parts)


def _trim(chunk: str) -> str:
    """A chunk without the punctuation of the sentence around it; empty if nothing of it is a letter or digit."""
    chunk = chunk.rstrip(".:-/\\@~$")
    if chunk.endswith(("+", "#")) and not re.search(r"[A-Za-z](?:\+{1,2}|#)$", chunk):
        chunk = chunk.rstrip("+#.:-/\\@~$")
    chunk = chunk.lstrip(":+\\")
    signs = chunk[: len(chunk) - len(chunk.lstrip("._-/\\:+#@~$"))]
    if len(signs) == len(chunk):
        return ""
    kept = _SIGNS_KEPT.search(signs[-4:])
    return chunk[len(signs) - len(kept[0] if kept else "") :]


def _is_identifier(body: str) -> bool:
    if not body or body.isalpha() or body.isdigit():
        return False
    if body.isalnum():
        return re.fullmatch(r"[A-Za-z]+[0-9]{2,}|(?=.*[0-9])[A-Za-z0-9]{8,}", body) is not None
    if re.fullmatch(r"[A-Za-z0-9]+(?:[-/:][A-Za-z0-9]+)+", body) and not re.search(r"[0-9]", body):
        return body.count("/") > 1 or "::" in body
    plain = len(body) <= 2 or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]?|[0-9]+[./:-][0-9]+", body)
    return not plain or _SIGNED.fullmatch(body) is not None


def _word(value: str) -> str:
    value = value.casefold()
    natural = len(value) <= _LONGEST and not any(map(str.isdigit, value))
    return _plain((_stem(value) if natural else value).replace("'", ""))


def _plain(value: str) -> str:
    if value.startswith("qx"):
        return _whole(value)
    return value if len(value.encode()) <= _LONGEST else _hashed(value)


def _whole(value: str) -> str:
    value = value.casefold()
    encoded = "qxw" + "".join("qq" if char == "q" else _SIGNS.get(char, char) for char in value)
    return encoded if len(encoded.encode()) <= _LONGEST else _hashed(value)


def _hashed(value: str) -> str:
    return "qxh" + hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=10).hexdigest()


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    codes = [_code(char) for char in run]
    for at, char in enumerate(run):
        if _stands_alone(char):
            yield char
        if at + 1 < len(run):
            yield f"qxc{codes[at]}{codes[at + 1]}"


@lru_cache(maxsize=32_768)
def _stands_alone(char: str) -> bool:
    return _ALONE.match(char) is not None


@lru_cache(maxsize=32_768)
def _code(char: str) -> str:
    number, letters = ord(char), ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        letters += chr(ord("a") + digit)
    return letters


@cache
def _stops() -> frozenset[str]:
    from alaya_core.words_data import STOP_CHARACTERS, STOP_PAIRS, STOP_WORDS

    function = [f"qxc{one}{other}" for one in _stop_codes() for other in _stop_codes()]
    pairs = [f"qxc{_code(pair[0])}{_code(pair[1])}" for pair in STOP_PAIRS.split()]
    return frozenset((*map(_word, STOP_WORDS.split()), *STOP_CHARACTERS, *function, *pairs))


@cache
def _stop_codes() -> frozenset[str]:
    from alaya_core.words_data import STOP_CHARACTERS

    return frozenset(map(_code, STOP_CHARACTERS))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    with _stemming:
        return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord  # type: ignore[no-any-return]
