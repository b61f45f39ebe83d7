"""The order of neighbours: hubs flood nothing, second hops repeat nothing, and the order of links does not matter."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from alaya_core.models.recall_parts import NeighbourLink
from alaya_core.services.recall.neighbours import (
    HOP_SHARE,
    HUB_DEGREE,
    Under,
    is_hub,
    leading_on,
    neighbour_score,
    under_hits,
    with_second_hops,
)

CARDS = "abcdefghij"
HITS = 4
"""So many of them may be hits."""


def link(hit: str, other: str, weight: float, degree: int, relation: str = "RELATES_TO") -> NeighbourLink:
    return NeighbourLink(hit, other, relation, "out", weight, degree)


@dataclass(frozen=True)
class Net:
    """Cards and their links, and which of them were found.

    Attributes:
        near: Links as seen from the hits; onward: as seen from every other card.
    """

    hits: tuple[str, ...]
    near: tuple[NeighbourLink, ...]
    onward: tuple[NeighbourLink, ...]


@st.composite
def nets(draw: st.DrawFn) -> Net:
    hits = tuple(draw(st.lists(st.sampled_from(CARDS[:HITS]), unique=True, min_size=1)))
    degrees = {name: draw(st.sampled_from([1, 2, 3, 8, HUB_DEGREE, HUB_DEGREE + 1, 5_000])) for name in CARDS}
    ends = st.tuples(
        st.sampled_from(CARDS),
        st.sampled_from(CARDS),
        st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]),
        st.sampled_from(["RELATES_TO", "DEPENDS_ON"]),
    )
    seen = [
        link(hit, other, weight, degrees[other], relation)
        for one, two, weight, relation in draw(st.lists(ends, max_size=30))
        for hit, other in ((one, two), (two, one))
    ]
    near = tuple(each for each in seen if each.hit_id in hits)
    return Net(hits, near, tuple(each for each in seen if each.hit_id not in hits))


def around(net: Net) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in net.near:
        found.setdefault(each.hit_id, set()).add(each.other_id)
    return found


def both_hops(net: Net, limit: int) -> tuple[Under, Under]:
    first = under_hits(net.hits, net.near, limit)
    return first, with_second_hops(net.hits, first, around(net), net.onward, limit)


def names(under: Under) -> dict[str, list[str]]:
    return {hit: [found.link.other_id for found in several] for hit, several in under.items() if several}


@given(nets(), st.integers(0, 6), st.randoms())
def test_the_order_in_which_links_come_does_not_matter(net: Net, limit: int, chance: object) -> None:
    near, onward = list(net.near), list(net.onward)
    chance.shuffle(near)  # type: ignore[attr-defined]
    chance.shuffle(onward)  # type: ignore[attr-defined]
    assert both_hops(net, limit) == both_hops(Net(net.hits, tuple(near), tuple(onward)), limit)


@given(nets(), st.integers(0, 6))
def test_no_more_than_the_limit_each_once_strongest_first(net: Net, limit: int) -> None:
    for under in both_hops(net, limit):
        for hit, found in under.items():
            ids = [each.link.other_id for each in found]
            assert len(ids) <= limit
            assert len(ids) == len(set(ids))
            assert hit not in ids
            scores = [each.score for each in found]
            assert scores == sorted(scores, reverse=True)


@given(nets(), st.integers(0, 6))
def test_a_hub_stands_under_one_hit_at_most_and_never_beside_itself(net: Net, limit: int) -> None:
    for under in both_hops(net, limit):
        hubs = [found.link.other_id for several in under.values() for found in several if is_hub(found)]
        assert len(hubs) == len(set(hubs))
        assert not set(hubs) & set(net.hits)


@given(nets())
def test_a_hub_stands_where_its_link_is_strongest(net: Net) -> None:
    under = under_hits(net.hits, net.near, len(CARDS))
    for hit, several in under.items():
        for found in several:
            rivals = [
                neighbour_score(each)
                for each in net.near
                if each.other_id == found.link.other_id and each.hit_id != each.other_id
            ]
            assert not is_hub(found) or found.score == max(rivals), hit


@given(nets())
def test_hubs_change_nothing_for_the_others(net: Net) -> None:
    whole = under_hits(net.hits, net.near, len(CARDS))
    plain = under_hits(net.hits, [each for each in net.near if each.degree <= HUB_DEGREE], len(CARDS))
    assert {hit: tuple(f for f in several if not is_hub(f)) for hit, several in whole.items() if hit in plain} == plain


@given(nets(), st.integers(1, 6))
def test_a_second_hop_repeats_nothing_and_stands_behind_what_leads_to_it(net: Net, limit: int) -> None:
    first, both = both_hops(net, limit)
    shown = {name for several in names(first).values() for name in several}
    for hit, several in both.items():
        for place, found in enumerate(several):
            if found.link.hops == 1:
                assert found in first[hit]
                continue
            assert found.link.other_id not in set(net.hits) | shown | around(net)[hit]
            leads = [
                middle
                for middle in first[hit]
                if not is_hub(middle)
                and any((e.hit_id, e.other_id) == (middle.link.other_id, found.link.other_id) for e in net.onward)
            ]
            assert leads
            best = max(leads, key=lambda middle: middle.score)
            assert found.score <= HOP_SHARE * best.score
            assert any(middle in several[:place] for middle in leads)


@given(nets(), st.integers(1, 6))
def test_what_leads_on_is_shown_and_no_hub(net: Net, limit: int) -> None:
    first = under_hits(net.hits, net.near, limit)
    shown = {found.link.other_id: found for several in first.values() for found in several}
    for middle in leading_on(first):
        assert not is_hub(shown[middle])


def test_one_card_linked_to_everything_does_not_fill_an_answer() -> None:
    hits = [f"hit-{number}" for number in range(10)]
    links = [link(hit, "hub", 0.9, 500) for hit in hits] + [link(hit, f"own of {hit}", 0.3, 2) for hit in hits]
    under = names(under_hits(hits, links))
    assert [hit for hit in hits if "hub" in under[hit]] == ["hit-0"]
    assert all(f"own of {hit}" in under[hit] for hit in hits)


def test_a_hit_that_is_a_hub_shows_its_strongest_few() -> None:
    links = [link("hub", f"leaf-{number:03}", number / 500, 1) for number in range(500)]
    assert names(under_hits(["hub"], links, 3)) == {"hub": ["leaf-499", "leaf-498", "leaf-497"]}


def test_nothing_is_reached_through_a_hub() -> None:
    first = under_hits(["hit"], [link("hit", "hub", 1.0, 500), link("hit", "mid", 0.5, 2)])
    assert leading_on(first) == ["mid"]
    onward = [link("hub", "far", 1.0, 1), link("mid", "beyond", 0.8, 1)]
    both = with_second_hops(["hit"], first, {"hit": {"hub", "mid"}}, onward)
    assert names(both) == {"hit": ["mid", "hub", "beyond"]}
    beyond = both["hit"][-1].link
    assert (beyond.relation, beyond.direction, beyond.hops) == ("RELATES_TO > RELATES_TO", "both", 2)
