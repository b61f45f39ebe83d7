"""What is found of a text, cut out of others, and scrubbed from logs of every form."""

from __future__ import annotations

import json

import pytest

from alaya_core.services.erase.needles import ERASED, Needles
from alaya_core.services.erase.scrubbing import scrubbed

SECRET = "The Zqx orchard yields nine hundred baskets 霁月清风果园里的秋天很长很长，落叶也多"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        SECRET.upper(),
        f"He said: “{SECRET[4:40]}”, I think.",
        SECRET.replace(" ", "\n   "),
        "里的秋天很长很长 霁月清风果园里的秋天很长很长，落叶也多",
        json.dumps(SECRET),
        json.dumps({"inner": json.dumps({"text": SECRET}, ensure_ascii=False)}, ensure_ascii=False),
        "ｎｉｎｅ　ｈｕｎｄｒｅｄ　ｂａｓｋｅｔｓ",
    ],
)
def test_quotes_are_found(text: str) -> None:
    assert Needles([SECRET]).found_in(text)


@pytest.mark.parametrize(
    "text", ["", "nine hundred", "orchard", "秋天很长很长", "A quite different sentence, twice as long."]
)
def test_other_text_is_not(text: str) -> None:
    assert not Needles([SECRET]).found_in(text)


def test_nothing_to_look_for() -> None:
    for needles in (Needles([]), Needles(["", "ok", " \n"]), Needles([SECRET], kept=[f"x {SECRET} y"])):
        assert not needles
        assert not needles.found_in(SECRET)
        assert needles.cut(SECRET) == SECRET


def test_names_are_whole_words() -> None:
    needles = Needles([], names=["talk-1"])
    for text in ("talk-1", '"talk-1"', "raw/sessions/talk-1.json", "# talk-1"):
        assert needles.found_in(text)
    for text in ("talk-10", "talk-1~ab", "my-talk-1", "talk-1-2"):
        assert not needles.found_in(text)
    assert needles.cut("talk-1 and talk-10") == f"{ERASED} and talk-10"


def test_only_the_quote_is_cut() -> None:
    needles = Needles([SECRET])
    assert needles.cut(f"before {SECRET} after") == f"before {ERASED} after"
    assert needles.cut(f"a {SECRET} b {SECRET.upper()} c") == f"a {ERASED} b {ERASED} c"
    assert needles.cut("nothing here") == "nothing here"
    assert Needles(["pin 4711 9"]).cut("my PIN 47119 is old") == f"my {ERASED} is old"


def test_long_texts_are_found_with_less_memory() -> None:
    words = " ".join(f"{number:x}zqx{number * 7919:x}" for number in range(250_000))
    needles = Needles([words])
    assert needles._step > 1
    assert len(needles._runs) <= 1_000_001
    assert needles.found_in(words[1_000_000:1_000_200])
    assert SECRET in needles.cut(f"{words[5_000:6_000]} {SECRET} ")
    assert not needles.found_in(needles.cut(f"x {words[5_000:9_000]} y"))


def kept(data: bytes | None) -> str:
    assert data is not None
    return data.decode("utf-8", "surrogateescape")


def test_lines_that_say_nothing_of_it_keep_their_bytes() -> None:
    lines = [
        '{"a":1,   "odd" : "spacing"}',
        json.dumps({"role": "user", "content": SECRET, "picture": "aGVsbG8" * 9, "id": "m1"}),
        '{"role": "user", "content": "\\u00e9 stays escaped"}',
        "no JSON at all",
        "",
        json.dumps({"text": "line\u2028separator", "n": 1.0}, ensure_ascii=False),
    ]
    out = kept(scrubbed("\r\n".join(lines).encode(), Needles([SECRET]))).split("\r\n")
    assert [line for at, line in enumerate(out) if at != 1] == [line for at, line in enumerate(lines) if at != 1]
    assert json.loads(out[1]) == {"role": "user", "content": ERASED, "picture": ERASED, "id": "m1"}


def test_a_document_keeps_what_is_around() -> None:
    turns = [
        {"role": "user", "content": [{"text": "hello"}]},
        {"role": "user", "content": [{"text": SECRET}, {"image": "x"}]},
    ]
    document = {"id": "s", "title": SECRET, SECRET: 1, "turns": turns, "more": [1, None, True]}
    for data in (json.dumps(document).encode(), json.dumps(document, indent=2).encode()):
        out = json.loads(kept(scrubbed(data, Needles([SECRET]))))
        assert out["turns"] == [turns[0], {"role": "user", "content": [{"text": ERASED}, {"image": ERASED}]}]
        assert (out["title"], out["more"], out[ERASED]) == (ERASED, [1, None, True], 1)


def test_a_session_of_a_document_is_emptied() -> None:
    document = [{"id": "gone", "turns": [{"role": "user", "content": "ok"}]}, {"id": "stays", "turns": []}]
    out = json.loads(kept(scrubbed(json.dumps(document).encode(), Needles([], names=["gone"]), "gone")))
    assert out == [{"turns": [{"role": "user", "content": ERASED}]}, document[1]]


def test_bytes_that_are_no_utf8_stay() -> None:
    data = b"caf\xe9 \xff\n" + SECRET.encode() + b"\n\xfe end"
    assert scrubbed(data, Needles([SECRET])) == b"caf\xe9 \xff\n" + ERASED.encode() + b"\n\xfe end"
    half = b'{"role": "user", "content": "\\ud83d", "id": "m"}\n' + json.dumps({"role": "user", "x": SECRET}).encode()
    assert kept(scrubbed(half, Needles([SECRET]))).startswith('{"role": "user", "content": "\\ud83d"')


def test_what_cannot_be_made_sure_of_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alaya_core.services.erase.scrubbing.LARGEST", 10)
    assert scrubbed(SECRET.encode(), Needles([SECRET])) is None
