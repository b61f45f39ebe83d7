"""Scopes: what an agent may not see is not told in any way: not as a hit, a neighbour, a count, a name, or an error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from alaya_core.clock import IdSource
from alaya_core.config import Config
from alaya_core.errors import AmbiguousIdError, ConfigError, NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.commit import card_created, link_created
from alaya_core.models.requests import SORTS, CardChanges, Filters, RecallOptions
from tests.conftest import Clock
from tests.contracts.cli_runner import batch
from tests.core.homes import found_ids, session, write
from tests.core.stores.test_store_graph import card, link

MARK = "zebrafish"
"""Stands in every text, title, tag, entity and reason that only the other agent may see."""
HIDDEN_TALK = "talk-of-other"

HIDDEN_TEXTS = (
    f"Remember: the {MARK} server runs on host db-9, port 6600.",
    f"Noted. I will use the {MARK} server from now on.",
    f"We decided to deploy {MARK} with Kubernetes because the old scripts broke every Friday.",
    "Good, Kubernetes it is.",
)


def crowded_ids() -> IdSource:
    """Ids that are told apart by their last digits only."""
    cards, commits = count(1), count(1)
    return IdSource(lambda: f"card-abcdef01{next(cards):024x}", lambda _: f"{next(commits):026d}")


@dataclass(frozen=True)
class World:
    """A memory of two agents, `main` and `other`.

    Attributes:
        open: Seen, global, linked to what is hidden and to `near`; near: seen, global.
        replaced: Seen, global, superseded by a hidden card.
        shared: Seen, global, but learned in a session of the other agent.
        own: Learned by `main`; lent: learned by `main`, then given to the other agent.
        hidden: Of the other agent; merged: an id that names it too; forgotten: of the other agent, forgotten.
    """

    home: Path
    open: str
    near: str
    replaced: str
    shared: str
    own: str
    lent: str
    hidden: str
    merged: str
    forgotten: str

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may stand in no answer."""
        return (MARK, HIDDEN_TALK, "agent:other", self.lent, self.hidden, self.merged, self.forgotten)

    @property
    def seen(self) -> tuple[str, ...]:
        return (self.open, self.near, self.replaced, self.shared, self.own)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("scopes")
    logs = [
        write(root / "a.json", session("talk-of-main")),
        write(root / "b.json", session(HIDDEN_TALK, HIDDEN_TEXTS, agent="other")),
    ]
    with Memory.open(root / "home", clock=Clock(), ids=crowded_ids(), environ={}, create=True) as memory:

        def capture(text: str, scope: str | None = None) -> str:
            # Of two ids in a row, so that a long beginning fits a seen card and a hidden one.
            told = {"tags": (MARK,), "entities": (MARK.title(),)} if scope else {"tags": ("net",)}
            return memory.capture(text, scope=scope, **told).card.card_id  # type: ignore[arg-type]

        first = capture("The gateway reads plugins.allow before it starts.")
        hidden = capture(f"The gateway has a {MARK} mode behind plugins.allow.", "agent:other")
        near = capture("Docker containers of the gateway need two gigabytes.")
        merged = capture(f"The {MARK} mode of the gateway is slow, says plugins.allow.", "agent:other")
        replaced = capture("The gateway listens on port 80.")
        forgotten = capture(f"The gateway once hid a {MARK}.", "agent:other")
        report = memory.ingest(logs, distill=True).distilled
        assert report is not None
        made = {outcome.session_id: [found.card_id for found in outcome.cards] for outcome in report.sessions}
        own, lent = made["talk-of-main"][:2]
        shared = made[HIDDEN_TALK][0]
        given = CardChanges(scope="global", title="Shared server", content="It runs on db-9.", tags=(), entities=())
        memory.edit(shared, given)
        memory.edit(lent, CardChanges(scope="agent:other", title=f"Lent {MARK}"))
        memory.merge(hidden, merged)
        memory.edit(replaced, CardChanges(superseded_by=hidden))
        memory.link(first, near, relation="DEPENDS_ON", weight=0.5, reason="both run")
        for other in (hidden, lent):
            memory.link(first, other, weight=1.0, reason=MARK)
        memory.link(near, hidden, weight=1.0, reason=MARK)
        memory.link(hidden, own, weight=1.0, reason=MARK)
        memory.forget(forgotten)
        assert memory.recall("gateway").results
    return World(root / "home", first, near, replaced, shared, own, lent, hidden, merged, forgotten)


@pytest.fixture(scope="module")
def main(template: World) -> Iterator[Memory]:
    """The memory as `main` sees it; to read only."""
    with Memory.open(template.home, agent="main", clock=Clock(), environ={}) as memory:
        yield memory


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    """A copy that a test may change."""
    shutil.copytree(template.home, tmp_path / "home")
    return replace(template, home=tmp_path / "home")


def told(answer: Any) -> str:
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False)


def assert_silent(text: str, world: World, but: str = "") -> None:
    """Nothing hidden stands in a text, apart from what was asked for in so many words."""
    for secret in world.secrets:
        if not but or secret not in but:
            assert secret not in text, (secret, text)


QUERIES = ("gateway plugins.allow", MARK, "server on host db-9", "Kubernetes deploy Friday", "staging database db-7")


@pytest.mark.parametrize("within", ["cards", "passages", "both"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_recall_tells_nothing_hidden(main: Memory, template: World, query: str, within: Any) -> None:
    options = RecallOptions(within=within, context=True, filters=Filters(archived=True))
    answer = main.recall(query, options)
    assert_silent(told(answer).replace(json.dumps(answer.query), ""), template)
    assert answer.degraded == []


@pytest.mark.parametrize(
    "filters",
    [
        Filters(scope=("agent:other",)),
        Filters(tag=(MARK,)),
        Filters(entity=(MARK.title(),)),
        Filters(tag=(MARK[:-1],)),
        Filters(entity=(MARK[:-1].title(),)),
    ],
)
def test_a_filter_for_what_is_hidden_finds_and_counts_nothing(main: Memory, template: World, filters: Filters) -> None:
    answer = main.recall("gateway plugins.allow", RecallOptions(filters=filters))
    assert (answer.results, answer.passages, answer.filtered.below_floor) == ([], [], 0)
    listed = main.list_cards(filters)
    assert (listed.cards, listed.total) == ([], 0)
    for said in (answer, listed):
        asked = " ".join((*filters.scope, *filters.tag, *filters.entity))
        assert_silent(told(said), template, but=f"{asked} {answer.query}")


def test_counts_are_those_of_a_memory_without_what_is_hidden(main: Memory, template: World) -> None:
    """What falls below the floor is counted: of the cards that may be seen, and of no others."""
    with Memory.open(template.home, clock=Clock(), environ={}) as owner:
        everything = owner.recall(MARK, RecallOptions(within="cards", limit=1000))
        assert len(everything.results) + everything.filtered.below_floor >= 2
    answer = main.recall(MARK, RecallOptions(within="cards", limit=1000))
    assert answer.filtered.below_floor + len(answer.results) <= len(template.seen)
    assert main.list_cards().total == len(_all_seen(main))
    for sort in SORTS:
        listed = main.list_cards(sort=sort)
        assert_silent(told(listed), template)
        links = {row.card_id: row.links for row in listed.cards}
        assert (links[template.open], links[template.near], links[template.own]) == (1, 1, 0)


def _all_seen(memory: Memory) -> list[str]:
    found = [row.card_id for row in memory.list_cards(limit=1000).cards]
    assert len(found) == len(set(found))
    return found


def test_a_passage_names_only_cards_that_may_be_seen(main: Memory, template: World) -> None:
    with Memory.open(template.home, clock=Clock(), environ={}) as owner:
        whole = owner.recall("tabs over spaces in Go files", RecallOptions(within="passages")).passages
        assert template.lent in {key for passage in whole for key in passage.cards}, "nothing to hide"
    for _ in range(5):  # also when this process holds the links in memory
        passages = main.recall("tabs over spaces in Go files", RecallOptions(within="passages")).passages
        assert passages
        assert template.lent not in {key for passage in passages for key in passage.cards}


def test_a_card_is_shown_without_what_is_hidden(main: Memory, template: World) -> None:
    for seen in template.seen:
        assert_silent(told(main.show(seen)), template)
    first = main.show(template.open)
    assert [near.card_id for near in first.related] == [template.near]
    assert first.related_total == 1
    assert main.show(template.replaced).card.state == "superseded"
    assert main.show(template.replaced).card.successor is None
    shared = main.show(template.shared)
    assert (shared.sources, shared.card.source_sessions) == ([], [])


def test_hidden_links_do_not_weigh(main: Memory, template: World) -> None:
    """A card damped for its many links tells how many there are."""
    with main._work.graph.reading() as reader:
        scopes = main._work.visible_scopes()
        [near] = reader.neighbours([template.open], scopes)[template.open]
        assert (near.card_id, near.degree) == (template.near, 1)
        several = reader.neighbours([*template.seen, "card-0", "card-1"], scopes)
        assert [found.degree for found in several[template.open]] == [1]
        assert several[template.own] == []


def test_a_trace_shows_only_sessions_that_may_be_seen(main: Memory, template: World) -> None:
    for full in (False, True):
        for seen in template.seen:
            assert_silent(told(main.trace(seen, full=full)), template)
        assert [found.session_id for found in main.trace(template.own, full=full).sessions] == ["talk-of-main"]
        assert main.trace(template.shared, full=full).sessions == []
    with Memory.open(template.home, clock=Clock(), environ={}) as owner:
        assert [found.session_id for found in owner.trace(template.shared).sessions] == [HIDDEN_TALK]


def test_a_session_that_is_hidden_is_not_there(main: Memory, template: World) -> None:
    for reference in (HIDDEN_TALK, HIDDEN_TALK[:-2]):
        with pytest.raises(NotFoundError) as hidden:
            main.session_id(reference)
        with pytest.raises(NotFoundError) as absent:
            main.session_id("no-such-session")
        assert hidden.value.message.replace(reference, "") == absent.value.message.replace("no-such-session", "")
        assert_silent(hidden.value.hint, template)
    assert main.session_id("talk-of-m") == "talk-of-main", "a beginning that fits a hidden one too is not ambiguous"
    with pytest.raises(NotFoundError):
        main.distill(session=HIDDEN_TALK)


Deed = Callable[[Memory, World, str], object]
DEEDS: dict[str, Deed] = {
    "show": lambda memory, world, key: memory.show(key),
    "trace": lambda memory, world, key: memory.trace(key),
    "link from": lambda memory, world, key: memory.link(key, world.open),
    "link to": lambda memory, world, key: memory.link(world.open, key),
    "unlink from": lambda memory, world, key: memory.unlink(key, world.open),
    "unlink to": lambda memory, world, key: memory.unlink(world.open, key),
    "edit": lambda memory, world, key: memory.edit(key, CardChanges(title="x")),
    "supersede": lambda memory, world, key: memory.edit(world.open, CardChanges(superseded_by=key)),
    "pin": lambda memory, world, key: memory.pin(key),
    "unpin": lambda memory, world, key: memory.unpin(key),
    "archive": lambda memory, world, key: memory.archive(key),
    "forget": lambda memory, world, key: memory.forget(key),
    "restore": lambda memory, world, key: memory.restore(key),
    "merge": lambda memory, world, key: memory.merge(world.open, key),
    "merge into": lambda memory, world, key: memory.merge(key, world.open),
}


@pytest.mark.parametrize("name", DEEDS)
def test_a_hidden_card_is_not_there_whatever_is_asked_of_it(main: Memory, template: World, name: str) -> None:
    absent = f"card-ffff0001{'0' * 24}"
    before = main.last_change()
    with pytest.raises(NotFoundError) as nothing:
        DEEDS[name](main, template, absent)
    for hidden in (template.hidden, template.lent, template.merged, template.forgotten):
        with pytest.raises(NotFoundError) as error:
            DEEDS[name](main, template, hidden)
        said = error.value.message.replace(hidden, absent)
        assert (said, error.value.hint) == (nothing.value.message, nothing.value.hint)
    assert main.last_change() == before


def test_a_beginning_that_fits_hidden_cards_too_is_not_ambiguous(main: Memory, template: World) -> None:
    with Memory.open(template.home, clock=Clock(), environ={}) as owner, pytest.raises(AmbiguousIdError):
        owner.show(template.open[:-1])
    visible = [key for key in _all_seen(main) if key.startswith(template.open[:-1])]
    with pytest.raises(AmbiguousIdError) as error:
        main.show(template.open[:-1])
    assert_silent(error.value.message, template)
    assert len(visible) > 1
    with Memory.open(template.home, agent="nobody", clock=Clock(), environ={}) as nobody:
        assert len(_all_seen(nobody)) > 1


def test_what_a_hidden_card_alone_begins_with_names_nothing(world: World) -> None:
    with Memory.open(world.home, clock=Clock(), environ={}) as owner:
        hidden = owner.capture(f"Another {MARK}.", scope="agent:other").card.card_id
    with Memory.open(world.home, agent="main", clock=Clock(), environ={}) as memory, pytest.raises(NotFoundError):
        memory.show(hidden[:14])


def test_nobody_writes_what_they_cannot_read(world: World) -> None:
    with Memory.open(world.home, agent="main", clock=Clock(), environ={}) as memory:
        with pytest.raises(UsageError) as captured:
            memory.capture("x", scope="agent:other")
        with pytest.raises(UsageError) as edited:
            memory.edit(world.open, CardChanges(scope="agent:other"))
        for error in (captured, edited):
            assert_silent(error.value.hint, world)
        twin = memory.capture(f"The gateway once hid a {MARK}.")
        assert twin.changed, "that a hidden card says the same is not told"


def test_the_owner_grants_an_agent_more(world: World) -> None:
    write(world.home / "config.json", {"scopes": {"access": {"helper": ["agent:other", "project:x"]}}})
    with Memory.open(world.home, agent="helper", clock=Clock(), environ={}) as helper:
        assert world.hidden in found_ids(helper, f"{MARK} gateway")
        assert helper.show(world.merged).card.card_id == world.hidden
        assert helper.trace(world.shared).sessions[0].session_id == HIDDEN_TALK
        assert helper.recall(MARK, RecallOptions(within="passages")).passages
        assert helper.capture("It is ours.", scope="project:x").card.scope == "project:x"
        assert world.own not in _all_seen(helper)
    with Memory.open(world.home, agent="main", clock=Clock(), environ={}) as main:
        assert world.hidden not in found_ids(main, f"{MARK} gateway")
        assert "It is ours." not in told(main.list_cards())


def test_a_grant_of_what_is_no_scope_is_a_mistake(world: World) -> None:
    path = write(world.home / "config.json", {"scopes": {"access": {"helper": ["other"]}}})
    with pytest.raises(ConfigError, match=r"scopes\.access"):
        Config.load(path)


def test_many_better_hidden_cards_do_not_crowd_out_the_seen_ones(memory: Memory, home: Path) -> None:
    """Filters are asked before the cut: 300 cards that say just what is asked for, and 3 that say it in passing."""

    def made(number: int, text: str, scope: str) -> Any:
        return card_created(card(number, title=text, content=text, scope=scope))

    hidden = [made(n, "walrus song at noon", "agent:other") for n in range(300)]
    seen = [made(1000 + n, f"harbour note {n}: the walrus song is heard from pier {n}", "global") for n in range(3)]
    links = [link_created(link(1000, n)) for n in range(300)] + [link_created(link(1000, 1001))]
    memory._work.commit("test", lambda _: [*hidden, *seen, *links])
    memory.rebuild("l1")
    wanted = {card(1000 + n).id for n in range(3)}
    write(home / "config.json", {"recall": {"candidates": 5, "max_results": 5, "related": 1}})
    with Memory.open(home, agent="main", clock=Clock(), environ={}) as agent:
        for vectors in (True, False):
            answer = agent.recall("walrus song at noon", RecallOptions(vectors=vectors, within="cards"))
            assert {hit.card_id for hit in answer.results} == wanted
            near = next(hit.related for hit in answer.results if hit.card_id == card(1000).id)
            assert [found.card_id for found in near] == [card(1001).id]
        assert {row.card_id for row in agent.list_cards(limit=3).cards} == wanted
        assert agent.list_cards(limit=1).total == 3


def test_at_the_command_line_too(template: World) -> None:
    asked = [
        *(["recall", query, "--in", within] for query in QUERIES if query != MARK for within in ("cards", "passages")),
        ["recall", "gateway plugins.allow", "--context"],
        ["recall", "gateway plugins.allow", "--explain"],
        ["recall", "gateway plugins.allow", "--format", "context"],
        ["recall", "gateway", "--tag", MARK[:5]],
        ["list", "--sort", "linked"],
        ["list", "--tag", MARK[:5]],
        *([verb, seen] for verb in ("show", "trace") for seen in template.seen),
        ["show", template.open[:-1]],
        ["recall", "gateway", "--session", HIDDEN_TALK[:8]],
    ]
    hidden = [
        *([verb, template.hidden] for verb in ("show", "trace", "history", "pin", "forget", "archive")),
        ["link", template.open, template.hidden],
        ["unlink", template.hidden, template.open],
        ["recall", "gateway", "--session", HIDDEN_TALK],
        ["list", "--session", HIDDEN_TALK],
    ]
    commands = [[*form, *words, "--agent", "main"] for form in (["--json"], []) for words in (*asked, *hidden)]
    done = batch(commands, template.home)
    for words, run in zip(commands, done, strict=True):
        if words[-2:] == ["--agent", "main"] and any(words[-len(each) - 2 : -2] == each for each in hidden):
            assert run.status == 3, (words, run)
        else:
            assert run.status in (0, 2, 3), (words, run)
        assert_silent(run.text + run.told, template, but=" ".join(words))


def test_what_tells_of_the_whole_home_counts_and_shows_no_text(main: Memory, template: World) -> None:
    for answer in (main.status(), main.doctor()):
        assert_silent(told(answer), template)
    with Memory.open(template.home, clock=Clock(), environ={}) as owner:
        assert main.status().graph == owner.status().graph


def test_without_the_graph_an_agent_is_told_no_sessions(world: World) -> None:
    with Memory.open(world.home, agent="main", clock=Clock(), environ={}) as memory:
        assert memory.recall("staging database db-7").results[0].source_sessions == ["talk-of-main"]
        with memory._work.locks.graph_writing():
            answer = memory.recall("staging database db-7 server")
        assert answer.degraded == ["graph busy"]
        assert all(hit.source_sessions == [] for hit in answer.results)
