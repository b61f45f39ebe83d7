"""Calibration: measured on the home's own cards, kept for the model measured, and no word sent unannounced."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from alaya_core.memory import Memory
from alaya_core.models.answers.calibration import CalibratedDoctor, Calibration
from alaya_core.models.card import SourceRef
from alaya_core.models.commit import card_created, link_created
from alaya_core.providers.embedding import Background
from alaya_core.services.calibrate import ENOUGH, Ties, choose
from alaya_core.services.embedding import measured_background
from alaya_core.stores.calibration import Calibrations, Measured
from tests.conftest import OpenMemory
from tests.contracts.cli_runner import alaya
from tests.core.services.embedding_service import Words
from tests.core.stores.test_store_graph import card, link

BOILER = "weekly harbour report of the northern pilot station"
TOPICS = ("walrus", "ostrich", "lantern", "anchor", "violin", "pepper", "glacier", "saddle", "kettle", "mirror")


@pytest.fixture
def service(httpserver: HTTPServer) -> Words:
    return Words(httpserver)


@pytest.fixture
def remote(service: Words, home: Path, open_memory: OpenMemory) -> Callable[[str], Memory]:
    """The home, embedded by a service of a test's own."""

    def opened(model: str = "m") -> Memory:
        open_memory().close()
        service.configure(home, model)
        return open_memory()

    return opened


def fill(memory: Memory, count: int, *, chinese: int = 0, scope: str = "global", first: int = 0) -> None:
    """Cards that have nothing in common but their boilerplate."""
    pairs = list(product(TOPICS, TOPICS))
    made = [
        card(
            first + n,
            title=f"What is known of {pairs[n][0]} {pairs[n][1]} {n}",
            content=f"{BOILER}: {pairs[n][1]} and {pairs[n][0]} number {n}.",
            scope=scope,
        )
        for n in range(count)
    ]
    made += [
        card(first + 500 + n, title=f"第{n}号灯塔的事", content=f"北港引航站每周报告：第{n}号灯塔需要检修{n}次。")
        for n in range(chinese)
    ]
    memory._work.commit("test", lambda _: [card_created(each) for each in made])
    memory.rebuild("l1")


def calibrated(memory: Memory) -> Calibration:
    answer = memory.doctor(calibrate=True)
    assert isinstance(answer, CalibratedDoctor)
    assert answer.calibration is not None, answer.checks
    return answer.calibration


def test_the_cards_boilerplate_becomes_the_background(
    remote: Callable[[str], Memory], open_memory: OpenMemory, home: Path
) -> None:
    memory = remote("m")
    fill(memory, 30)
    found = calibrated(memory)
    assert found.stored
    assert found.after.en > found.before.en + 0.1
    assert (found.pairs["zh"], found.pairs["cross"], found.after.zh) == (0, 0, found.before.zh)
    assert found.pairs["en"] >= ENOUGH
    assert found.pairs["related"] >= ENOUGH
    for asking in (memory, open_memory()):
        background = asking._work.embedder.background()
        assert round(background.en, 4) == found.after.en
        assert round(background.related, 4) == found.after.related
    again = calibrated(open_memory())
    assert (again.before, again.after) == (found.after, found.after)


def test_it_counts_for_the_model_it_was_measured_of(
    remote: Callable[[str], Memory], service: Words, home: Path, open_memory: OpenMemory
) -> None:
    memory = remote("m")
    fill(memory, 30)
    measured = calibrated(memory).after
    service.configure(home, "other")
    other = open_memory()
    other.reembed()
    assert round(other._work.embedder.background().en, 4) != measured.en
    service.configure(home, "m")
    back = open_memory()
    assert round(back._work.embedder.background().en, 4) == measured.en


def test_recall_goes_by_it(remote: Callable[[str], Memory], open_memory: OpenMemory) -> None:
    """Boilerplate alone is alike to a model that does not know better; to one that was calibrated it is nothing."""
    memory = remote("m")
    fill(memory, 30)

    def similarity(asking: Memory) -> float:
        embedder = asking._work.embedder
        cosine = float(embedder.query(BOILER) @ embedder.passages([f"{BOILER}: velvet"])[0])
        return float(embedder.rescale(cosine, "en", "en"))

    before = similarity(memory)
    calibrated(memory)
    assert similarity(memory) < before
    assert similarity(open_memory()) == similarity(memory)


def test_both_languages_and_between_them(remote: Callable[[str], Memory]) -> None:
    memory = remote("m")
    fill(memory, 25, chinese=25)
    found = calibrated(memory)
    assert all(found.pairs[name] >= ENOUGH for name in ("zh", "en", "cross", "related"))
    assert found.after.zh > found.before.zh


def test_too_few_cards_measure_nothing_and_are_not_sent(
    remote: Callable[[str], Memory], service: Words, home: Path
) -> None:
    memory = remote("m")
    fill(memory, ENOUGH - 1)
    service.asked.clear()
    answer = memory.doctor(calibrate=True)
    assert answer.ok
    [check] = [check for check in answer.checks if check.name == "calibration"]
    assert check.status == "warn"
    assert isinstance(answer, CalibratedDoctor)
    assert answer.calibration is not None
    assert not answer.calibration.stored
    assert not any(BOILER in text for _, text in service.asked)
    assert not (home / "cache/calibration.json").exists()


def test_it_says_where_text_goes_before_any_is_sent(
    remote: Callable[[str], Memory],
    service: Words,
    home: Path,
    open_memory: OpenMemory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(remote("m"), 30)
    monkeypatch.setenv("HTTP_PROXY", service.server.url_for(""))  # the service, under a name that is not this machine
    service.configure(home, "m", base_url="http://embed.example/v1")
    memory = open_memory()
    service.asked.clear()
    sent_before: list[int] = []
    said: list[str] = []

    def announce(text: str) -> None:
        said.append(text)
        sent_before.append(sum(text != "alaya" for _, text in service.asked))

    answer = memory.doctor(calibrate=True, announce=announce)
    assert sent_before == [0]
    assert "sent to embed.example" in said[0]
    assert "text went to embed.example" in next(check.detail for check in answer.checks if check.name == "calibration")
    assert isinstance(answer, CalibratedDoctor)
    assert answer.calibration is not None
    assert answer.calibration.host == "embed.example"
    assert any(BOILER in text for _, text in service.asked)


def test_nothing_hidden_or_forgotten_is_sent(
    remote: Callable[[str], Memory], service: Words, open_memory: OpenMemory
) -> None:
    memory = remote("m")
    fill(memory, 25)
    fill(memory, 25, scope="agent:other", first=100)
    memory.forget(card(3).id)
    service.asked.clear()
    calibrated(open_memory(agent="main"))
    sent = " ".join(text for _, text in service.asked)
    assert "number 4." in sent
    assert "number 3." not in sent
    titles = {text for _, text in service.asked if text.startswith("What is known")}
    assert len(titles) <= 25


@pytest.mark.parametrize("way", ["refused", "half way"])
def test_an_endpoint_that_fails_leaves_what_was_measured_before(
    remote: Callable[[str], Memory], service: Words, home: Path, way: str
) -> None:
    from werkzeug import Response

    memory = remote("m")
    fill(memory, 30)
    calibrated(memory)
    before = (home / "cache/calibration.json").read_bytes()
    limit = service.requests + (0 if way == "refused" else 2)
    service.before = lambda number: Response(status=401) if number > limit else None
    answer = memory.doctor(calibrate=True)
    assert not answer.ok
    assert isinstance(answer, CalibratedDoctor)
    assert answer.calibration is None
    [check] = [check for check in answer.checks if check.name == "calibration"]
    assert check.status == "fail"
    assert (home / "cache/calibration.json").read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\x00garbage",
        b"[]",
        b'{"models": 7}',
        b'{"models": {"KEY": {"figures": {"zh": 0, "en": 2.5, "cross": 0, "related": 0.5}, "pairs": {}, "model": "m",'
        b' "at": 1}}}',
        b'{"models": {"KEY": {"figures": {"zh": 0, "en": NaN, "cross": 0, "related": 0.5}, "pairs": {}, "model": "m",'
        b' "at": 1}}}',
        b'{"models": {"KEY": {"figures": {"zh": 0}, "pairs": {}, "model": "m", "at": 1}}}',
        b'{"models": {"KEY": {"figures": [], "pairs": {}, "model": "m", "at": 1}}}',
    ],
)
def test_a_spoilt_file_is_as_good_as_none(remote: Callable[[str], Memory], home: Path, text: bytes) -> None:
    memory = remote("m")
    fill(memory, 30)
    estimated = memory._work.embedder.background()
    calibrated(memory)
    path = home / "cache/calibration.json"
    [key] = json.loads(path.read_bytes())["models"]
    path.write_bytes(text.replace(b"KEY", key.encode()))
    memory._work.embedder.forget_background()
    assert memory._work.embedder.background() == estimated
    assert calibrated(memory).stored, "and the next calibration mends it"


def test_the_built_in_model_is_measured_too_and_doctor_tells_of_it_later(memory: Memory) -> None:
    fill(memory, 25)
    found = calibrated(memory)
    assert (found.host, found.stored) == (None, True)
    [check] = [check for check in memory.doctor().checks if check.name == "calibration"]
    assert "2026-11-30" in check.detail
    assert f"en {found.after.en:.2f}" in check.detail


def test_at_the_command_line(remote: Callable[[str], Memory], service: Words, home: Path) -> None:
    fill(remote("m"), 25)
    done = alaya("doctor", "--calibrate", "--json", home=home)
    assert done.status == 0, done.told
    assert "nothing leaves this machine" in done.told
    told = done.data["calibration"]
    assert told["stored"]
    assert told["host"] is None
    assert told["pairs"]["en"] >= ENOUGH
    assert told["before"] != told["after"]
    plain = alaya("doctor", "--calibrate", home=home)
    assert "pairs" in plain.text
    assert " -> " in plain.text
    kept = (home / "cache/calibration.json").read_text()
    assert "harbour" not in kept
    assert "walrus" not in kept
    assert "before" not in alaya("doctor", "--json", home=home).text


# what is chosen


@st.composite
def several(draw: st.DrawFn) -> tuple[list[object], Ties]:
    count = draw(st.integers(0, 60))
    made = [
        card(
            n,
            title=f"title {n}",
            content=draw(st.sampled_from([f"text {n}", f"文字{n}", " "])),
            tags=draw(st.sampled_from([(), ("a",), ("b", "a"), (f"own {n}",)])),
            sources=draw(st.sampled_from([(), (SourceRef("s", (n,)),)])),
        )
        for n in range(count)
    ]
    linked = (
        {(one.id, other.id) for one in made for other in made if draw(st.booleans()) and one.id < other.id}
        if (count < 8)
        else {(made[0].id, made[1].id)}
    )
    return list(made), Ties(linked | {(b, a) for a, b in linked})


@given(several(), st.randoms())
def test_pairs_have_nothing_to_do_with_each_other(made: tuple[list[object], Ties], chance: object) -> None:
    cards, ties = made
    sides, cross = choose(cards, ties)  # type: ignore[arg-type]
    for side in sides.values():
        assert all(not ties.between(side.cards[a], side.cards[b]) and a != b for a, b in side.pairs)
        assert not side.pairs or len(side.pairs) >= ENOUGH
    assert all(not ties.between(sides["zh"].cards[a], sides["en"].cards[b]) for a, b in cross)
    shuffled = list(cards)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(shuffled, ties) == (sides, cross)  # type: ignore[arg-type]


def test_a_title_cut_out_of_its_text_is_no_question() -> None:
    cut = [card(n, title=f"Text number {n}", content=f"text number {n}: and more.") for n in range(30)]
    own = [card(n, title=f"A name for {n}", content=f"text number {n}: and more.") for n in range(30)]
    assert choose(cut, Ties())[0]["en"].titled == ()
    assert len(choose(own, Ties())[0]["en"].titled) == 30


def test_linked_cards_are_no_pair() -> None:
    cards = [card(n) for n in range(30)]
    links = {(one.id, other.id) for one in cards for other in cards if one.id != other.id}
    assert choose(cards, Ties(links))[0]["en"].pairs == ()


def test_figures_survive_the_file(tmp_path: Path) -> None:
    kept = Calibrations(tmp_path / "cache" / "calibration.json")
    figures = {"zh": 0.25, "en": 0.5, "cross": 0.125, "related": 0.5}
    kept.put("a", Measured(figures, {"zh": 3}, "模型", 5))
    kept.put("b", Measured({**figures, "en": 0.75}, {}, "m", 6))
    first, second = kept.get("a"), kept.get("b")
    assert first is not None
    assert second is not None
    assert (first.model, first.pairs, measured_background(first.figures)) == ("模型", {"zh": 3}, Background(
        0.25, 0.5, 0.125, 0.5))  # fmt: skip
    assert second.figures["en"] == 0.75
    assert kept.get("c") is None


def test_links_in_the_graph_are_ties(memory: Memory) -> None:
    fill(memory, 25)
    memory._work.commit("t", lambda _: [link_created(link(a, b)) for a in range(25) for b in range(a + 1, 25)])
    answer = memory.doctor(calibrate=True)
    assert isinstance(answer, CalibratedDoctor)
    assert answer.calibration is not None
    assert answer.calibration.pairs["en"] == 0
