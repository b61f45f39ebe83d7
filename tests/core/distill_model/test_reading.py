"""Sessions read by a model: what it is sent, what becomes of its answers, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug import Response

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.requests import Filters
from alaya_core.progress import CancelledError, CancelToken, Progress
from tests.conftest import Clock, counting_ids
from tests.core.distill_model.conftest import MODEL, Open, learn
from tests.core.distill_model.talks import CHINESE, talk
from tests.core.homes import START, ledger_lines
from tests.core.providers.chat_service import HANG_UP, ChatService, card, completion
from tests.core.providers.service import Waits, said

Take = Callable[..., None]
HERON = card("The archive is on heron", "The archive lives on the machine called heron.", [0])


def titles(memory: Memory) -> list[str]:
    return sorted(row.title for row in memory.list_cards(limit=500).cards)


def undistilled(memory: Memory) -> int:
    return memory.status().raw.undistilled


def test_cards_are_made_as_the_model_says(taken: Memory, service: ChatService) -> None:
    full = HERON | {
        "overview": "Where the archive is.",
        "type": "preferences",
        "tags": ["Archive", "hosts"],
        "entities": ["heron"],
        "importance": "0.9",
        "confidence": 0.6,
        "turns": [0, "1", 77],
        "expires": "2027-01-31",
    }
    other = card("Reports name who changed a file", "The importer's report names who changed a file.", [1])
    link = {"from_title": full["title"], "to_title": other["title"], "relation": "depends_on", "reason": "for one"}
    service.read = [{"cards": [full, other], "links": [link]}]
    report = learn(taken)
    [outcome] = report.sessions
    assert (outcome.status, report.distiller) == ("done", MODEL)
    assert [(each.relation, each.reason) for each in outcome.links] == [("DEPENDS_ON", "for one")]
    shown = taken.show(outcome.cards[0].card_id)
    made = shown.card
    assert (made.title, made.content, made.type) == (full["title"], full["content"], "preference")
    assert (made.origin, made.scope, made.distilled_by) == ("llm", "agent:main", MODEL)
    assert (made.importance, made.confidence, made.tags) == (0.9, 0.6, ["Archive", "hosts"])
    assert [(source.session_id, list(source.turns)) for source in shown.sources] == [("s1", [0, 1])]
    assert made.created_at == START + 1000, "the time of the last turn it came from"
    stored = ledger_lines(taken.home)[-1]
    assert stored["actor"] == f"llm:{MODEL}"
    first = next(event["card"] for event in stored["events"] if event["kind"] == "card.created")
    assert first["importance_by"] == "llm"
    assert first["expires_at"] == 1_801_440_000_000, "the end of 2027-01-31"
    assert stored["events"][-1] | {"v": 1} == {
        "kind": "session.distilled", "v": 1, "id": "s1", "turns": 8, "by": MODEL, "status": "done", "reason": "",
    }  # fmt: skip
    assert (taken.home / f"raw/contexts/{made.card_id}-context.json").exists()
    assert undistilled(taken) == 0
    usage = report.usage
    assert usage is not None
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cost) == (1, 100, 20, None)


def test_cost_is_told_where_prices_are_known(reading: Open, service: ChatService, take: Take) -> None:
    memory = reading(price_per_million_input=2.0, price_per_million_output=10.0)
    take(memory, s1=talk())
    usage = learn(memory).usage
    assert usage is not None
    assert usage.cost == pytest.approx(0.0004)


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "Here you are [as asked]:\n{}\nAnything else?",
        '<think>\nMaybe {{"cards": []}}? No.\n</think>\n{}',
        "{}",
    ],
)
def test_what_stands_around_an_answer_does_not_matter(taken: Memory, service: ChatService, wrapped: str) -> None:
    service.read = [wrapped.replace("{}", json.dumps({"cards": [HERON], "links": None})).replace("{{", "{")]
    learn(taken)
    assert titles(taken) == [HERON["title"]]
    assert len(service.bodies) == 1


@pytest.mark.parametrize("empty", ["[]", {"cards": []}, "Nothing new.\n```json\n[]\n```"])
def test_an_empty_answer_is_an_answer(taken: Memory, service: ChatService, empty: Any) -> None:
    service.read = [empty]
    [outcome] = learn(taken).sessions
    assert (outcome.status, outcome.cards) == ("done", [])
    assert undistilled(taken) == 0
    assert learn(taken).sessions == []


@pytest.mark.parametrize(
    "broken",
    [
        "I cannot do that.",
        "",
        '{"cards": ',
        '{"cards": [{"title": "The arch',
        completion('{"cards": [], "links": [', finish="length"),
        "<think>so many words",
        {"cards": None},
        {"cards": [{"title": None, "content": None}, 7]},
        {"answer": "none"},
        completion(None),
    ],
)
def test_what_cannot_be_used_is_asked_for_once_more(taken: Memory, service: ChatService, broken: Any) -> None:
    service.read = [broken, broken, {"cards": [HERON]}]
    [outcome] = learn(taken).sessions
    assert (outcome.status, outcome.cards) == ("retry", [])
    assert MODEL in outcome.reason
    assert len(service.bodies) == 2
    assert service.questions[1].startswith(service.questions[0])
    assert len(service.questions[1]) > len(service.questions[0]), "the model is told what is wrong"
    assert undistilled(taken) == 1
    assert titles(taken) == []
    assert [each.status for each in learn(taken).sessions] == ["done"]
    assert titles(taken) == [HERON["title"]]


def test_the_second_answer_counts(taken: Memory, service: ChatService) -> None:
    service.read = ["Let me think about it.", {"cards": [HERON]}]
    assert [each.status for each in learn(taken).sessions] == ["done"]
    assert titles(taken) == [HERON["title"]]


def test_a_session_whose_answer_was_cut_off_twice_is_read_again_the_next_time(
    taken: Memory, service: ChatService
) -> None:
    whole = {"cards": [HERON, card("Lost", "This one is cut")]}
    cut = completion(json.dumps(whole)[:-12], finish="length")
    service.read = [cut, cut, whole]
    [outcome] = learn(taken).sessions
    assert (outcome.status, titles(taken)) == ("retry", [])
    assert "cut off" in outcome.reason
    assert [each.status for each in learn(taken).sessions] == ["done"]
    assert set(titles(taken)) == {HERON["title"], "Lost"}


def test_nothing_is_paid_for_twice(taken: Memory, service: ChatService) -> None:
    service.read = [{"cards": [HERON]}]
    learn(taken)
    again = learn(taken, redo=True)
    assert len(service.bodies) == 1
    assert again.usage is not None
    assert (again.usage.calls, again.usage.cached) == (0, 1)
    assert titles(taken) == [HERON["title"]]
    assert "known already" in again.sessions[0].reason
    [kept] = list((taken.home / "cache/replies").iterdir())
    assert kept.stat().st_mode & 0o777 == 0o600


def test_of_a_grown_session_only_new_turns_are_sent(taken: Memory, service: ChatService, take: Take) -> None:
    service.read = [{"cards": [HERON]}]
    learn(taken)
    take(taken, s1=[*talk(), *talk("The backup goes to the machine called otter.")])
    service.read = [{"cards": [card("Backups go to otter", "The backup goes to otter.", [8])]}]
    learn(taken)
    assert "heron" not in service.questions[1]
    assert "otter" in service.questions[1]
    turns = {row.title: taken.show(row.card_id).sources[0].turns for row in taken.list_cards().cards}
    assert turns == {HERON["title"]: [0], "Backups go to otter": [8]}


def memory_rows(memory: Memory) -> list[str]:
    return [row.card_id for row in memory.list_cards(limit=500).cards]


def test_small_sessions_share_a_request(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=talk(), s2=talk("The backup goes to otter."), s3=talk("The mail runs on stork."))
    service.read = [
        {
            "cards": [
                card("Backups go to otter", "The backup goes to otter.", session="S2"),
                HERON,
                card("Nobody's", "Of a session that was not sent.", session="S9"),
            ]
        }
    ]
    report = learn(memory)
    assert len(service.bodies) == 1
    assert [each.status for each in report.sessions] == ["done"] * 3
    assert [[made.title for made in each.cards] for each in report.sessions] == [
        [HERON["title"]],
        ["Backups go to otter"],
        [],
    ]
    assert "another session" in report.sessions[0].reason
    sources = {memory.show(row).card.title: memory.show(row).sources[0].session_id for row in memory_rows(memory)}
    assert sources == {HERON["title"]: "s1", "Backups go to otter": "s2"}


def test_a_batch_that_fails_is_asked_about_one_by_one(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=talk(), s2=talk("The backup goes to otter."))

    def answer(question: str) -> Any:
        if "heron" in question and "otter" in question:
            return "too much for me"
        return {"cards": [HERON]} if "heron" in question else "no idea"

    service.read = answer
    report = learn(memory)
    assert [each.status for each in report.sessions] == ["done", "retry"]
    assert titles(memory) == [HERON["title"]]
    assert undistilled(memory) == 1


def test_a_long_session_is_read_in_parts_and_committed_once(reading: Open, service: ChatService, take: Take) -> None:
    memory = reading(input_tokens=600)
    take(memory, s1=talk(pairs=8))

    def answer(question: str) -> Any:
        turns = [int(line[1:].split("]")[0]) for line in question.splitlines() if line.startswith("[")]
        return {"cards": [card(f"Part from {turns[0]}", f"Turns {turns[0]} to {turns[-1]}.", [])]}

    service.read = answer
    before = len(ledger_lines(memory.home))
    [outcome] = learn(memory).sessions
    assert len(outcome.cards) == len(service.questions) > 2
    assert len(ledger_lines(memory.home)) == before + 1
    turns = sorted(turn for made in outcome.cards for turn in memory.show(made.card_id).sources[0].turns)
    assert turns == list(range(18)), "a card that names no turn comes from its part"


def test_what_the_service_finds_too_large_is_halved(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=talk(pairs=4))

    def answer(question: str) -> Any:
        if len(question) > 1500:
            return said(400, "This model's maximum context length is 400 tokens")
        return {"cards": [HERON]} if "heron" in question else {"cards": []}

    service.read = answer
    assert [each.status for each in learn(memory).sessions] == ["done"]
    assert titles(memory) == [HERON["title"]]


def test_of_too_many_cards_the_most_important_are_kept(reading: Open, service: ChatService, take: Take) -> None:
    memory = reading(max_cards_per_session=2)
    take(memory, s1=talk())
    cards = [card(f"Thing {n}", f"Content {n}.", importance=n / 10) for n in range(1, 6)]
    service.read = [{"cards": cards}]
    [outcome] = learn(memory).sessions
    assert titles(memory) == ["Thing 4", "Thing 5"]
    assert "over the limit" in outcome.reason
    assert "At most 2 cards" in service.systems[0]


def test_a_short_session_waits_until_it_has_grown(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=["The weather is fine over there today.", "It is."])
    memory._work.clock.now = START + DAY_MS  # type: ignore[attr-defined]
    [outcome] = learn(memory).sessions
    assert (outcome.status, service.bodies) == ("skipped", [])
    assert "too short" in outcome.reason
    assert "of 200" in outcome.reason
    assert undistilled(memory) == 1
    take(memory, s1=["The weather is fine over there today.", "It is.", *talk()])
    learn(memory)
    assert "weather" in service.questions[0], "it is read as a whole"
    assert undistilled(memory) == 0


def test_a_short_session_waits_a_week_at_most(memory: Memory, service: ChatService, take: Take, clock: Clock) -> None:
    take(memory, s1=["The weather is fine over there today.", "It is."])
    clock.now = START + 8 * DAY_MS
    [outcome] = learn(memory).sessions
    assert (outcome.status, service.bodies) == ("skipped", [])
    assert undistilled(memory) == 0


def test_what_somebody_asks_to_be_remembered_is_worth_it(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=["Remember: the alarm code of the office is on the blue card.", "Noted."])
    learn(memory)
    assert len(service.bodies) == 1


def test_secrets_are_not_sent(memory: Memory, service: ChatService, take: Take) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    take(memory, s1=talk(f"The key is {key}, and the password: hunter2xyz."))
    service.read = [{"cards": [card("The key", f"The key is {key}")]}]
    learn(memory)
    assert key not in service.questions[0]
    assert "hunter2xyz" not in service.questions[0]
    assert key not in json.dumps(ledger_lines(memory.home)[-1])


def test_small_talk_is_not_sent_and_learnt(memory: Memory, service: ChatService, take: Take) -> None:
    chatter = "Shall we have the cheese sandwich or the tomato soup for lunch in the canteen?"
    take(memory, s1=[chatter, *talk()[1:]])
    learn(memory)
    assert chatter in service.questions[0]
    take(memory, s2=[chatter, "Yes.", "Hello, how are you today?", "Fine.", *talk("The mail runs on stork.")])
    learn(memory)
    assert "stork" in service.questions[1]
    assert chatter not in service.questions[1]
    assert "how are you" not in service.questions[1]
    for path in (memory.home / "cache/noise").iterdir():
        assert b"cheese" not in path.read_bytes()


def test_chinese_sessions_get_chinese_instructions(memory: Memory, service: ChatService, take: Take) -> None:
    take(memory, s1=CHINESE * 2)
    learn(memory)
    assert "最多 10 张" in service.systems[0]
    assert "苍鹭" in service.questions[0]


def test_somebodys_own_instructions_are_used(memory: Memory, service: ChatService, take: Take) -> None:
    (memory.home / "prompts").mkdir()
    (memory.home / "prompts/distill.txt").write_text("Only birds. {max_cards} of them. {not_this}", encoding="utf-8")
    take(memory, s1=talk())
    learn(memory)
    [system] = service.systems
    assert system.startswith("Only birds. 10 of them. {not_this}\n\n")
    assert '{"cards": []' in system, "how to answer is not left to it"


def test_only_people_are_learnt_from_if_that_is_wanted(reading: Open, service: ChatService, take: Take) -> None:
    memory = reading(capture_assistant=False)
    take(memory, s1=talk())
    service.read = [{"cards": [HERON, card("Said by the machine", "It said so.", [1])]}]
    [outcome] = learn(memory).sessions
    assert titles(memory) == [HERON["title"]]
    assert "assistant" in outcome.reason


def test_a_dry_run_asks_nobody(taken: Memory, service: ChatService) -> None:
    before = ledger_lines(taken.home)
    [outcome] = learn(taken, dry_run=True).sessions
    assert outcome.status == "done"
    assert MODEL in outcome.reason
    assert (service.bodies, ledger_lines(taken.home)) == ([], before)


def test_whoever_is_sent_text_is_named_before(taken: Memory, service: ChatService) -> None:
    chat = taken._work.chat
    assert chat is not None
    chat.host = "chat.example"  # type: ignore[misc]
    told: list[str] = []
    learn(taken, announce=told.append)
    assert len(told) == 1
    assert MODEL in told[0]
    assert "chat.example" in told[0]


def test_status_names_the_model_and_its_host(taken: Memory, service: ChatService) -> None:
    answer = taken.status()
    assert answer.distiller == MODEL
    assert f"localhost:{service.server.port}" in answer.sends_text_to


# -- a service that does not do its job ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble", [said(429, "slow down", {"Retry-After": "9"}), said(503, "loading"), HANG_UP, said(500, "oops")]
)
def test_passing_trouble_is_waited_for_and_told(
    taken: Memory, service: ChatService, waits: Waits, trouble: Response
) -> None:
    service.read = [trouble, {"cards": [HERON]}]
    steps: list[Progress] = []
    assert [each.status for each in learn(taken, progress=steps.append).sessions] == ["done"]
    assert len(waits.seconds) == 1
    assert any(step.note.startswith("waiting") for step in steps)


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        (said(401, "bad key"), "key"),
        (said(429, "no more", code="insufficient_quota"), "quota"),
        (said(402, "pay"), "quota"),
        (said(404, "no such model"), "model"),
    ],
)
def test_a_refusal_stops_at_once_and_keeps_what_was_done(
    reading: Open, service: ChatService, take: Take, waits: Waits, refusal: Response, hint: str
) -> None:
    memory = reading(input_tokens=700)  # so that each session is a request of its own
    take(memory, s1=talk(), s2=talk("The backup goes to otter."), s3=talk("The mail runs on stork."))
    service.read = [{"cards": [HERON]}, refusal]
    report = learn(memory)
    assert [each.status for each in report.sessions] == ["done", "retry", "retry"]
    assert all(hint in each.reason for each in report.sessions[1:])
    assert (len(service.bodies), waits.seconds) == (2, [])
    assert titles(memory) == [HERON["title"]]
    assert undistilled(memory) == 2


def test_a_service_that_is_down_is_not_asked_for_ever(reading: Open, service: ChatService, take: Take) -> None:
    memory = reading(input_tokens=700)
    take(memory, **{f"s{n}": talk(f"Machine {n} is called bird {n}.") for n in range(4)})
    service.read = [said(503, "down")]
    report = learn(memory)
    assert [each.status for each in report.sessions] == ["retry"] * 4
    assert len(service.bodies) == 10, "two sessions, five times each"


def test_cancelled_between_and_during_requests_nothing_is_half_done(
    reading: Open, service: ChatService, take: Take
) -> None:
    memory = reading(input_tokens=700)
    take(memory, s1=talk(), s2=talk("The backup goes to otter."))
    token = CancelToken()

    def answer(question: str) -> Any:
        if "otter" in question:
            token.cancel()
        return {"cards": [HERON]} if "heron" in question else {"cards": [card("Otter", "The backup goes to otter.")]}

    service.read = answer
    with pytest.raises(CancelledError):
        learn(memory, cancel=token)
    assert titles(memory) == [HERON["title"]]
    assert undistilled(memory) == 1
    learn(memory)
    assert titles(memory) == ["Otter", HERON["title"]]


def test_who_was_overtaken_leaves_it(taken: Memory, service: ChatService, open_memory: Callable[..., Memory]) -> None:
    def meanwhile(_: str) -> Any:
        learn(open_memory(ids=counting_ids(500)))
        return {"cards": [HERON]}

    service.read = meanwhile
    [outcome] = learn(taken).sessions
    assert (outcome.status, "meanwhile" in outcome.reason or "changed" in outcome.reason) == ("retry", True)
    assert HERON["title"] not in titles(taken)
    assert learn(taken).sessions == []


def test_what_a_person_erased_is_not_learnt_again(taken: Memory, service: ChatService) -> None:
    service.read = [{"cards": [HERON | {"turns": [0, 1]}]}]
    [outcome] = learn(taken).sessions
    taken.erase(outcome.cards[0].card_id, yes=True)
    service.read = [{"cards": [HERON | {"turns": [0]}, card("Reports", "The importer writes reports.", [2])]}]
    (taken.home / "prompts").mkdir()
    (taken.home / "prompts/distill.txt").write_text("Otherwise.", encoding="utf-8")  # so that it is asked again
    learn(taken, redo=True)
    assert titles(taken) == ["Reports"]


def test_cards_of_a_run_are_found_and_undone(taken: Memory, service: ChatService) -> None:
    service.read = [{"cards": [HERON]}]
    taken.distill()
    assert taken.recall("where is the archive").results[0].title == HERON["title"]
    assert memory_rows(taken) == [row.card_id for row in taken.list_cards(Filters(origin=("llm",))).cards]
    taken.undo(run=ledger_lines(taken.home)[-1]["run"])
    assert titles(taken) == []
    assert undistilled(taken) == 1
