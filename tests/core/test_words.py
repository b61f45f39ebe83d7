"""The analyser: the same on both sides, whole identifiers, every script, and a real index that agrees."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.words import (
    INDEX_SETTINGS,
    MAX_QUERY_WORDS,
    coverage,
    folded,
    identifiers,
    match_query,
    normalise,
    query_words,
    telling,
    tokens,
)
from alaya_core.words_data import SIMPLIFIED, TRADITIONAL, fold_table

settings.register_profile("unhurried", deadline=None)  # the first call loads tables and the stemmer
settings.load_profile("unhurried")

MIXED = st.text(
    alphabet=st.one_of(
        st.sampled_from("aB9._-/\\:+#@~$' \n,猫貓的コーｶ한ไé\u0301\u200b\x1bqx*\"<>（ＡＢ"),
        st.characters(codec=None),
    ),
    max_size=60,
)


def same(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("資料庫連線逾時", "资料库连线逾时"),
        ("阿賴耶識", "阿赖耶识"),
        ("読書の広場", "读书の广场"),
        ("ｐｌｕｇｉｎｓ．ａｌｌｏｗ", "plugins.allow"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("Café NAÏVE Straße", "cafe naive strasse"),
        ("don’t", "don't"),
        ("PLUGINS", "plugin"),
        ("v1.2.3", "1.2.3"),
        ("1,000", "1000"),
        ("soft\u00adware zero\u200bwidth", "software zerowidth"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("(plugins.allow).", "plugins.allow"),
    ],
)
def test_two_ways_of_writing_are_one(one: Any, other: Any) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C"), ("C++", "C#"), ("1.2.3", "123"), ("--flag", "flag"), ("猫", "狗"), (".env", "env")],
)
def test_what_differs_stays_different(one: Any, other: Any) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plugins.allow", {"plugin", "allow"}),
        ("--dry-run", {"dri", "run"}),
        ("ERR_42", {"err", "42"}),
        ("parseHttpResponse", {"parsehttprespons", "pars", "http", "respons"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("gpt4", {"gpt4", "gpt", "4"}),
        ("5km", {"5km", "5", "km"}),
        ("2026-03-31", {"2026", "03", "31"}),
        ("养猫", {"养", "猫"}),
    ],
)
def test_an_identifier_is_kept_whole_and_split(text: Any, parts: Any) -> None:
    found = set(tokens(text))
    assert parts < found or parts == found
    if not text.isalnum():
        assert any(token.startswith("qxw") for token in found)


def test_a_letter_q_is_no_sign() -> None:
    assert next(tokens("x-qab")) != next(tokens("x-.b"))


def test_a_path_brings_the_file_it_ends_in() -> None:
    assert set(query_words("config.json")) <= set(tokens("see /home/u/.config/alaya/config.json."))


def test_a_language_inside_a_list_and_with_its_version() -> None:
    assert query_words("C++") == ("qxwcqgqg",)
    assert set(query_words("C++")) <= set(tokens("C/C++17"))
    assert "c" not in set(tokens("C++17"))


def test_plain_words_cannot_pretend_to_be_identifiers() -> None:
    (encoded,) = query_words("C++")
    assert not set(tokens(encoded)) & {encoded}
    bigram = next(token for token in tokens("养猫") if token.startswith("qxc"))
    assert bigram not in set(tokens(bigram))


@given(st.text(alphabet="abq._-/:+#@~$", max_size=12), st.text(alphabet="abq._-/:+#@~$", max_size=12))
def test_whole_identifiers_never_collide(one: Any, other: Any) -> None:
    whole_one = [token for token in tokens(one) if token.startswith("qxw")]
    whole_other = [token for token in tokens(other) if token.startswith("qxw")]
    if whole_one and whole_other and whole_one[0] == whole_other[0]:
        strip = "._-/:+#@~$"
        assert one.strip(strip) == other.strip(strip)


@given(MIXED)
@settings(max_examples=300)
def test_a_text_finds_itself_and_every_token_survives_an_index(text: Any) -> None:
    indexed = normalise(text).split(" ")
    assert set(query_words(text)) <= set(indexed)
    assert normalise(text) == " ".join(tokens(text))
    for token in tokens(text):
        assert token
        assert len(token.encode()) < 40
        assert not any(char.isspace() for char in token)
        assert token.isalnum() or not token.isascii()


@given(MIXED, MIXED)
def test_a_text_within_a_text_is_found(inner: Any, outer: Any) -> None:
    assert set(tokens(inner)) <= set(tokens(f"{outer}\n{inner}\n{outer}")) or "\x1b" in outer + inner


@given(MIXED)
def test_folding_twice_is_folding_once(text: Any) -> None:
    once = folded(text)
    assert folded(once) == once or not once.isascii()
    assert len(query_words(text, 5)) <= 5


def test_the_table_is_closed_and_large() -> None:
    assert len(TRADITIONAL) == len(SIMPLIFIED) > 2_500
    assert not set(TRADITIONAL) & set(SIMPLIFIED)
    assert fold_table()[ord("貓")] == "猫"


def test_stop_words_go_unless_there_is_nothing_else() -> None:
    assert query_words("what is the port of Redis") == ("port", "redi")
    assert query_words("who are you") == ("who", "are", "you")
    assert "的" not in query_words("我的猫")
    assert "the" in normalise("the port")


def test_a_giant_query_keeps_the_telling_words_in_order() -> None:
    query = "ordinary words " + " ".join(f"word{chr(97 + i % 26) * (i % 7 + 1)}" for i in range(500)) + " ERR_42 --flag"
    asked = query_words(query)
    assert len(asked) == MAX_QUERY_WORDS
    assert {"qxwerrqb42", "qxwqcqcflag"} <= set(asked)
    assert asked == query_words(query)
    order = list(dict.fromkeys(tokens(query)))
    assert [order.index(token) for token in asked] == sorted(order.index(token) for token in asked)


def test_only_the_head_of_a_monstrous_query_is_looked_at() -> None:
    query = "\u0301\u0316 word " * 200_000 + "ERR_42"
    start = time.process_time()
    assert query_words(query) == ("word",)
    assert identifiers(query) == ()
    assert time.process_time() - start < 2
    assert set(query_words("abcde " * 10_000)) == {"abcd"}
    assert query_words("x" * 60_000 + " y")[0].startswith("qxh")


@pytest.mark.parametrize("text", ["", " ", "*", '"', "...", "\ud800", "\x00", "👍", "++", "\u0301"])
def test_texts_without_words_ask_for_nothing_much(text: Any) -> None:
    assert match_query(text) in ("", "�")


def test_identifiers_are_what_must_be_found_verbatim() -> None:
    assert identifiers("set plugins.allow and --flag, see ERR_42 in C++ (v1.2.3)") == (
        "plugins.allow",
        "--flag",
        "err_42",
        "c++",
        "1.2.3",
    )
    assert identifiers("a long-term plan, and/or 10:30, e.g. 3.14 or U.S. 42") == ()
    assert all(term in folded("Set ＰＬＵＧＩＮＳ.allow") for term in identifiers("plugins.allow"))


def test_coverage_is_a_share_and_weighs_what_tells() -> None:
    asked = query_words("redis ERR_42")
    assert coverage(asked, set(tokens("redis gave ERR_42"))) == 1
    assert coverage(asked, set(tokens("nothing"))) == 0
    assert coverage(asked, set(tokens("ERR_42"))) > coverage(asked, set(tokens("redis"))) > 0
    assert coverage((), {"a"}) == 0
    assert telling("qxwx") > telling("word") > telling("猫") > telling("的")
    assert coverage(("a1", "b1"), {"b1"}, lambda word: 3.0 if word == "b1" else 1.0) == 0.75


@pytest.mark.parametrize(
    "unit",
    [
        "我养了一只猫和狗。",
        "The foxes jumped over lazy.dogs ",
        "a",
        "_",
        "-/",
        "a'",
        "1,000,",
        "a.",
        "aB",
        "\u0301\u0316",
        "\x1b[",
    ],
)
def test_time_is_linear(unit: Any) -> None:
    def took(size: int) -> float:
        text = "x" + unit * (size // len(unit))
        start = time.process_time()
        for _ in tokens(text):
            pass
        return time.process_time() - start

    took(10_000)
    small, large = took(50_000), took(400_000)
    assert large < 40 * max(small, 0.005)


def test_stems_are_right_from_many_threads() -> None:
    words = [
        f"{stem}{letter}ations" for letter in "bcdfgklmnprst" for stem in ("gener", "regul", "illumin", "oper")
    ] * 4
    names = [f"{word}{chr(97 + index % 26)}ing" for index, word in enumerate(words)]
    found: list[list[tuple[str, str]]] = [[] for _ in range(4)]

    def work(thread: int) -> None:
        for index, name in enumerate(names):
            word = f"{name[: -3 - thread % 2]}{'aeiou'[(index + thread) % 5]}tions"
            found[thread].append((word, normalise(word)))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    stem = snowballstemmer.stemmer("english").stemWord
    wrong = [word for words_found in found for word, stemmed in words_found if stem(word) != stemmed]
    assert not wrong


def test_importing_it_brings_no_stemmer_and_no_table() -> None:
    code = "import sys, alaya_core.words; print([m for m in sys.modules if 'snowball' in m or 'words_data' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


ROWS = {
    "cat": "我养了一只猫",
    "coffee": "她每天早上喝一杯咖啡",
    "life": "他们研究生命起源的问题",
    "univ": "北京大学生活动中心",
    "alaya": "阿賴耶識是第八識",
    "db": "資料庫連線逾時，請重試",
    "allow": "Set `plugins.allow` to true in the gateway.",
    "allow2": "plugins may allow anything",
    "flag": "Run it with --dry-run first",
    "err": "It failed with ERR_42 again",
    "snake": "call snake_case_name() twice",
    "camel": "use parseHttpResponse here",
    "cpp": "用C++写的程序很快",
    "c": "A C program from 1989",
    "csharp": "The C# service",
    "env": "secrets live in .env files",
    "path": "see /etc/alaya/config.json for that",
    "version": "upgraded to v1.2.3 today",
    "kana": "コーヒーが好きです",
    "half": "ｶﾀｶﾅ ＡＢＣ１２３",
    "korean": "한국어 문장을 씁니다",
    "accent": "Le café de São Paulo",
    "stem": "The indexes were searched quickly",
    "russian": "Привет, мир",
    "long": "token " + "f" * 60 + " end",
}
PROBES = [
    ("猫", "cat"),
    ("貓", "cat"),
    ("养猫", "cat"),
    ("咖啡", "coffee"),
    ("生命", "life"),
    ("大学", "univ"),
    ("阿赖耶识", "alaya"),
    ("数据库还是资料库超时", "db"),
    ("连线逾时", "db"),
    ("plugins.allow", "allow"),
    ("dry run", "flag"),
    ("--dry-run", "flag"),
    ("ERR_42", "err"),
    ("err 42", "err"),
    ("snake_case_name", "snake"),
    ("http response", "camel"),
    ("parseHttpResponse", "camel"),
    ("C++", "cpp"),
    ("C#", "csharp"),
    ("C", "c"),
    (".env", "env"),
    ("config.json", "path"),
    ("1.2.3", "version"),
    ("コーヒー", "kana"),
    ("カタカナ", "half"),
    ("abc123", "half"),
    ("한국", "korean"),
    ("sao paulo cafe", "accent"),
    ("searching index", "stem"),
    ("МИР", "russian"),
    ("f" * 60, "long"),
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: Any) -> Any:
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb
    from lancedb import query as lance
    from lancedb.index import FTS

    match_words: Any = lance.MatchQuery
    table = lancedb.connect(tmp_path_factory.mktemp("words")).create_table(
        "cards", [{"id": key, "words": normalise(text)} for key, text in ROWS.items()]
    )
    table.create_index("words", config=FTS(**INDEX_SETTINGS))

    def search(words: str) -> list[str]:
        found = table.search(match_words(words, "words"), query_type="fts").select(["id", "_score"]).limit(30)
        return [row["id"] for row in found.to_list()]

    return search


@pytest.mark.parametrize(("query", "expected"), PROBES)
def test_a_real_index_finds_it(ask: Any, query: Any, expected: Any) -> None:
    assert ask(match_query(query))[0] == expected


def test_a_real_index_keeps_symbols_apart(ask: Any) -> None:
    assert "c" not in ask(match_query("C++"))
    assert "cpp" not in ask(match_query("C"))
    assert ask(match_query("f" * 59)) == []


def test_a_real_index_cuts_at_our_spaces_only(ask: Any) -> None:
    for text in ROWS.values():
        for token in query_words(text):
            expected = {key for key, other in ROWS.items() if token in set(tokens(other))}
            assert set(ask(token)) == expected, token


@pytest.mark.parametrize(
    "query", ["", "x" * 10_000, "猫狗" * 5_000, '"unclosed', "AND", "*", "NOT (", "a:b^2~", "\ud800"]
)
def test_odd_queries_do_not_crash(ask: Any, query: Any) -> None:
    assert isinstance(ask(match_query(query)), list)
