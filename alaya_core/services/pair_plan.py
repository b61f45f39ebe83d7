"""What is to become of cards that are alike, by the settings of the home and what people decided before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from alaya_core.models.card import Card, Link
from alaya_core.models.plan import Decision, Pair
from alaya_core.services.consolidate.judging import JudgingRules, plan_pairs
from alaya_core.services.proposals import read_proposals
from alaya_core.services.workspace import Workspace


def plan_alike(
    workspace: Workspace, cards: Mapping[str, Card], pairs: Iterable[Pair], links: Iterable[Link]
) -> list[Decision]:
    """The decisions about pairs of cards; see `plan_pairs`.

    Args:
        links: Those between the cards: what is linked, or waits for a person, is not linked SIMILAR_TO as well.
    """
    settings = workspace.config.introspect
    known = read_proposals(workspace)
    ends = [(link.from_id, link.to_id) for link in links]
    ends += [(min(each.cards), max(each.cards)) for each in known.open.values() if len(each.cards) > 1]
    return plan_pairs(
        cards,
        pairs,
        {(min(pair), max(pair)) for pair in ends},
        known.rejected | known.open.keys(),
        now=workspace.clock(),
        rules=JudgingRules(
            duplicate=settings.consolidate_threshold,
            related=settings.related_threshold,
            similar_links=settings.similar_links,
        ),
    )
