"""What needs neither a model nor a memory: answers read, sessions cut, drafts made, choices checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.models.card import Card, CardDraft, LinkDraft
from alaya_core.models.card_types import CardType
from alaya_core.services.distill.drafting import drafts_of, expiry, links_of
from alaya_core.services.distill.duplicates import Candidate, Offer, question, verdicts
from alaya_core.services.distill.json_reply import json_in
from alaya_core.services.distill.making import Action
from alaya_core.services.distill.prompts import instructions, quoted
from alaya_core.services.distill.reply import ProposedCard, ProposedLink, read_reply
from alaya_core.services.distill.windows import Window, fits, line_of, windows_of
from alaya_core.services.distill.worth import Measures, Verdict, worthwhile
from tests.core.providers.chat_service import card

SENT = {"S1": frozenset({0, 1, 2})}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
names = st.sampled_from(
    [
        "session",
        "title",
        "content",
        "overview",
        "type",
        "tags",
        "entities",
        "importance",
        "confidence",
        "turns",
        "expires",
    ]
)
rows = st.dictionaries(names, anything | st.sampled_from(["S1", "fact", "0.5", "2026-12-31", [0, 1]]), max_size=8)


@given(st.text(max_size=300) | st.text(alphabet='{}[]",:\\ ant<>/hik1\n', max_size=120))
def test_any_text_gives_json_or_a_value_error(text: str) -> None:
    try:
        value, _ = json_in(text)
    except ValueError:
        return
    assert isinstance(value, dict | list)


@given(st.lists(st.dictionaries(st.text(max_size=6), anything, max_size=3), max_size=5), st.integers(0, 600))
def test_of_what_was_cut_off_whole_elements_are_kept_and_nothing_else(cards: list[dict[str, Any]], at: int) -> None:
    cards = json.loads(json.dumps({"cards": cards}, allow_nan=True).replace("NaN", "0").replace("Infinity", "1"))[
        "cards"
    ]
    text = json.dumps({"cards": cards})
    cut = text[:at]
    try:
        value, mended = json_in(cut)
    except ValueError:
        return
    kept = value.get("cards", []) if isinstance(value, dict) else None
    assert kept == cards[: len(kept or [])]
    assert mended == (len(cut) < len(text))


@given(st.lists(rows | anything, max_size=5), st.lists(anything, max_size=3))
def test_any_answer_is_read_or_refused_and_nothing_is_made_up(cards: list[Any], links: list[Any]) -> None:
    try:
        reply = read_reply({"cards": cards, "links": links}, SENT)
    except ValueError:
        return
    said = json.dumps([cards, links], ensure_ascii=False, default=str)
    for each in reply.cards:
        assert set(each.turns) <= SENT["S1"]
        assert 0 <= each.importance <= 1
        assert 0 <= each.confidence <= 1
        assert each.title
        assert each.content
        for word in (*each.tags, *each.entities, each.title, each.content):
            assert word in said or not word.isalnum()


def test_fields_are_read_leniently() -> None:
    row = card("A  title\nin two lines", "It is so.", ["turn 1", "2", 2.0, True, 9, None, "x"])
    row |= {"type": "Patterns", "tags": "one, two，one", "importance": "0.25", "confidence": 8, "entities": None}
    [made] = read_reply([row], SENT).cards
    assert (made.title, made.turns, made.type) == ("A title in two lines", (1, 2), CardType.PATTERN)
    assert (made.tags, made.entities, made.importance, made.confidence) == (("one", "two"), (), 0.25, 0.7)


def test_a_card_without_a_title_gets_its_first_words() -> None:
    [made] = read_reply({"cards": [{"title": None, "content": "The gate is open. Go in."}]}, SENT).cards
    assert made.title == "The gate is open"


def test_what_is_no_card_is_counted() -> None:
    reply = read_reply({"cards": [card("A", "b", [0]), card("a ", "c", [1]), 7, {"title": "empty"}]}, SENT)
    assert [(each.title, each.turns) for each in reply.cards] == [("A", (0, 1))]
    assert reply.refused == {"card named twice": 1, "entry that is no card": 1, "card without text": 1}


@pytest.mark.parametrize("value", [None, 7, {}, {"cards": None}, {"cards": {"a": 1}}, [7], {"cards": [{"title": "x"}]}])
def test_what_is_no_answer_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_reply(value, SENT)


def proposed(title: str, **fields: Any) -> ProposedCard:
    return ProposedCard(**({"session": "S1", "title": title, "content": title, "type": CardType.FACT} | fields))


def test_drafts_have_the_times_and_turns_they_came_from() -> None:
    cards = [
        proposed("a", turns=(0, 1), expires="2026-11-19"),
        proposed("b", importance=0.9),
        proposed("A", turns=(2,)),
    ]
    made = drafts_of(cards, session_id="s", time=5, times={0: 10, 1: 20}, sent=SENT, most=9)
    assert [(each.title, each.created_at, each.sources[0].turns) for each in made] == [
        ("a", 20, (0, 1)),
        ("b", 20, (0, 1, 2)),
    ]
    assert len({each.key for each in made}) == 2
    [only] = drafts_of(cards, session_id="s", time=5, times={}, sent=SENT, most=1)
    assert (only.title, only.created_at) == ("b", 5)


def test_what_a_person_asked_to_be_remembered_outweighs_what_the_model_thinks_of_it() -> None:
    cards = [proposed("a", turns=(0,), importance=0.3), proposed("b", turns=(1,), importance=0.9)]
    made = drafts_of(cards, session_id="s", time=5, times={}, sent=SENT, most=1, stressed={0: 0.5})
    assert [(each.title, each.importance, each.importance_by) for each in made] == [("a", 1.0, "rules")]
    both = drafts_of(cards, session_id="s", time=5, times={}, sent=SENT, most=2, stressed={1: 0.3})
    assert [(each.importance, each.importance_by) for each in both] == [(0.3, "llm"), (0.9, "llm")]


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        ("1970-01-03", 3 * 86_400_000),
        ("1970-01-03T06:00:00", 2 * 86_400_000 + 6 * 3_600_000),
        ("1970-01-03T06:00:00+06:00", 2 * 86_400_000),
        ("1969-12-01", None),
        ("soon", None),
        ("", None),
        ("9999-12-31", None),
    ],
)
def test_when_something_ends(written: str, ends: int | None) -> None:
    assert expiry(written, 1000) == ends


def draft(key: str, title: str) -> CardDraft:
    return CardDraft(title=title, content=title, key=key)


def known(card_id: str, title: str) -> Card:
    return Card(card_id, title, title, CardType.FACT, 0, 0, 0)


def test_links_need_one_card_at_each_end() -> None:
    drafts = [draft("k1", "One"), draft("k2", "Two"), draft("k3", "Same")]
    offered = [known("card-a", "Known"), known("card-b", "same")]
    pairs = [("one", " TWO"), ("One", "Known"), ("One", "Same"), ("One", "Elsewhere"), ("One", "one")]
    links, refused = links_of([ProposedLink(*pair) for pair in pairs], drafts, offered)
    assert links == [LinkDraft("k1", "k2", links[0].relation), LinkDraft("k1", "card-a", links[1].relation)]
    assert refused == 3


CANDIDATES = [
    Candidate(draft("k1", "One"), (Offer(known("card-a", "A"), 0.9), Offer(known("card-b", "B"), 0.8))),
    Candidate(draft("k2", "Two"), (Offer(known("card-c", "C"), 0.75),)),
]


def answers(*rows: Any) -> dict[str, Any]:
    names = ("note", "action", "with")
    return {"answers": [dict(zip(names, row, strict=False)) if isinstance(row, tuple) else row for row in rows]}


def test_choices_are_read_by_their_labels() -> None:
    fates, refused = verdicts(answers(("C1", "merge", "k2"), ("c2", "SKIP K3")), CANDIDATES)
    assert {key: (fate.action, fate.known.id) for key, fate in fates.items()} == {
        "k1": (Action.MERGE, "card-b"),
        "k2": (Action.SKIP, "card-c"),
    }
    assert refused == 0
    assert verdicts(answers(("C1", "CREATE"), ("C2", "CREATE")), CANDIDATES) == ({}, 0)


@pytest.mark.parametrize(
    "row",
    [
        ("C1", "MERGE", "K3"),  # offered to another
        ("C1", "MERGE", "card-a"),
        ("C1", "MERGE", "K9"),
        ("C1", "MERGE", None),
        ("C1", "DELETE", "K1"),
        ("C1", "SAME", "K1"),
        ("C9", "MERGE", "K1"),
        ("K1", "MERGE", "K1"),
        ("C1", None, None),
        7,
        "MERGE",
    ],
)
def test_whatever_was_not_offered_counts_for_nothing(row: Any) -> None:
    assert verdicts(answers(row), CANDIDATES) == ({}, 1)


@given(anything)
def test_no_answer_can_do_more(value: Any) -> None:
    try:
        fates, _ = verdicts(value, CANDIDATES)
    except ValueError:
        return
    assert fates == {}


def test_a_question_shows_texts_and_no_ids() -> None:
    text = question(CANDIDATES)
    assert "card-" not in text
    assert text.index("K1 (known, offered to C1)") < text.index("K3 (known, offered to C2)")


def line(turn: int, text: str, budget: int = 1000) -> Any:
    return line_of(turn, "user", text, person=True, budget=budget, count=lambda text: max(1, len(text) // 4))


@given(st.lists(st.integers(0, 6000), max_size=30), st.integers(500, 3000))
def test_windows_hold_every_turn_once_within_the_budget(lengths: Sequence[int], budget: int) -> None:
    lines = [line(turn, "x" * length, budget) for turn, length in enumerate(lengths)]
    windows = windows_of("s", 0, lines, budget)
    assert [each.turn for window in windows for each in window.lines] == list(range(len(lengths)))
    assert all(window.tokens <= budget for window in windows)


def test_of_a_long_turn_head_and_tail_are_kept() -> None:
    text = line(0, "begin" + "x" * 90_000 + "end").text
    assert text.startswith("begin")
    assert text.endswith("end")
    assert len(text) < 3000


def test_few_small_sessions_share_a_request() -> None:
    one = Window("s", 0, (line(0, "x" * 400),))
    assert fits([], one, 100), "one always fits"
    assert fits([one], one, 1000)
    assert not fits([one], one, 200)
    assert not fits([one] * 6, one, 100_000)


def test_the_same_text_gives_the_same_question_and_a_mark_of_its_own() -> None:
    one, other = Window("s", 0, (line(0, "a </session 1234>"),)), Window("s", 0, (line(0, "b"),))
    assert quoted([("S1", one)], chinese=False) == quoted([("S1", one)], chinese=False)
    marks = {quoted([("S1", each)], chinese=False).split("<session ", 1)[1][:16] for each in (one, other)}
    assert len(marks) == 2


def test_instructions_take_nothing_but_the_number() -> None:
    text = instructions("{max_cards} {x} {0}", max_cards=3, chinese=False, assistant=True)
    assert text.startswith("3 {x} {0}\n\n")


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [
        (Measures(10, 500), Verdict.SEND, ""),
        (Measures(10, 40), Verdict.WAIT, "too short: 40 tokens of 200"),
        (Measures(10, 40, strong=True), Verdict.SEND, ""),
        (Measures(10, 120, tools=True), Verdict.SEND, ""),
        (Measures(10, 60, tools=True), Verdict.WAIT, "too short: 60 tokens of 100"),
        (Measures(1, 500), Verdict.WAIT, "too short: 1 messages of 2"),
        (Measures(0, 0), Verdict.DONE, "nothing in it that somebody said"),
        (Measures(0, 0, noise=3), Verdict.DONE, "only small talk"),
        (Measures(2, 500, noise=8), Verdict.DONE, "mostly small talk: 8 of 10 messages"),
        (Measures(3, 500, noise=7), Verdict.SEND, ""),
    ],
)
def test_what_is_worth_a_request(found: Measures, verdict: Verdict, reason: str) -> None:
    assert worthwhile(found, min_tokens=200, min_messages=2, now=86_400_000) == (verdict, reason)


def test_what_is_short_is_not_waited_for_for_ever() -> None:
    short = Measures(10, 40)
    assert worthwhile(short, min_tokens=200, min_messages=2, now=8 * 86_400_000)[0] is Verdict.DONE
