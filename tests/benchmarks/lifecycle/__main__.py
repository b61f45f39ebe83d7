"""What each temperature model makes of 400 days of use: `python -m tests.benchmarks.lifecycle`.

Cards arrive, are recalled by Zipf's law and by how lately they were, rest over a holiday; some are needed once, long
after. All that is drawn beforehand and is the same for every model. Each recall stands for the one card it was meant
for: what else an answer shows is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from alaya_core.models.card import CardState, Tier
from alaya_core.services.lifecycle.temperature import MODELS
from tests.benchmarks.lifecycle.living import PLACES_ONE_IN, Outcome, live_through
from tests.benchmarks.lifecycle.world import Kind, Size, World, make_world
from tests.benchmarks.support import Cell, keep, parser, say, seconds, table

_ARCHIVED, _FORGOTTEN = CardState.ARCHIVED, CardState.FORGOTTEN
Figures = dict[str, int | float]


def main() -> int:
    """Runs it; 1 if a model forgot what is important, or no trifle at all."""
    made = parser("lifecycle", "What each temperature model keeps, cools and forgets.")
    made.add_argument("--seeds", type=int, nargs="+", default=[1], help="one world each (default: 1)")
    made.add_argument("--cards", type=int, default=Size().cards)
    made.add_argument("--days", type=int, default=Size().days)
    made.add_argument("--every", type=int, default=1, help="days from one tidying to the next (default: 1)")
    args = made.parse_args()
    size = Size(cards=args.cards, days=args.days)
    worlds = [_one_world(seed, size, args.every) for seed in args.seeds]
    if len(worlds) > 1:
        _spread(worlds)
    keep(args.out, {"worlds": worlds})
    figures = [figures for world in worlds for figures in world["models"].values()]
    return int(any(one["important forgotten"] > 0 or one["trifles forgotten"] == 0 for one in figures))


def _one_world(seed: int, size: Size, every: int) -> dict[str, Any]:
    world = make_world(seed, size)
    outcomes: list[Outcome] = []
    took = seconds(lambda: outcomes.extend(live_through(world, model, every) for model in MODELS))
    models = {outcome.model: _figures(outcome) for outcome in outcomes}
    heads = list(models[outcomes[0].model])
    table(
        f"seed {seed}: {len(world.cards):,} cards, {len(world.recalls):,} recalls, {size.days} days; "
        f"tidied every {every} d, all models in {took:.0f} s",
        ("", *models),
        [(head, *(models[model][head] for model in models)) for head in heads],
    )
    _by_kind(world, outcomes)
    return {"seed": seed, "s": took, "models": models}


def _figures(outcome: Outcome) -> Figures:
    recalls = outcome.recalls
    asked = recalls.total()
    living = sum(outcome.ended(tier) for tier in Tier)
    return {
        "HOT hit rate %": _percent(recalls[Tier.HOT], asked),
        "HOT cards %, mean": 100 * sum(outcome.hot_shares) / len(outcome.hot_shares),
        f"HOT hit rate % if 1 in {PLACES_ONE_IN} may be HOT": _percent(outcome.narrow, asked),
        "recalls of a COLD card %": _percent(recalls[Tier.COLD], asked),
        "recalls of a card that is gone %": _percent(recalls[_ARCHIVED] + recalls[_FORGOTTEN], asked),
        "needed later": outcome.needed(),
        "needed later, forgotten": outcome.needed(_FORGOTTEN),
        "needed later, archived": outcome.needed(_ARCHIVED),
        "needed later, COLD": outcome.needed(Tier.COLD),
        "important forgotten": outcome.ended(_FORGOTTEN, Kind.IMPORTANT),
        "trifles forgotten": outcome.ended(_FORGOTTEN, Kind.TRIFLE),
        "dated archived or forgotten": sum(outcome.ended(state, Kind.DATED) for state in (_ARCHIVED, _FORGOTTEN)),
        "forgotten in all": outcome.ended(_FORGOTTEN),
        "archived in all": outcome.ended(_ARCHIVED),
        "living at the end": living,
        "COLD at the end, % of the living": _percent(outcome.ended(Tier.COLD), living),
        "most forgotten in one night": max(outcome.forgotten),
        "nights that would have asked": outcome.asked,
    }


def _by_kind(world: World, outcomes: Sequence[Outcome]) -> None:
    """Forgotten of all, and of those needed later, for each kind of card."""
    rows: list[list[Cell]] = []
    for kind in Kind:
        row: list[Cell] = [str(kind), sum(of is kind for of in world.kinds.values()), outcomes[0].needed(kind=kind)]
        for outcome in outcomes:
            row += [outcome.ended(_FORGOTTEN, kind), outcome.needed(_FORGOTTEN, kind)]
        rows.append(row)
    heads = [head for outcome in outcomes for head in (outcome.model, "needed")]
    table("forgotten by kind of card, and of those needed later", ("kind", "cards", "needed later", *heads), rows)


def _spread(worlds: Sequence[dict[str, Any]]) -> None:
    """Lowest to highest over the seeds."""
    first = worlds[0]["models"]
    rows: list[list[Cell]] = []
    for head in next(iter(first.values())):
        row: list[Cell] = [head]
        for model in first:
            values = [world["models"][model][head] for world in worlds]
            low, high = min(values), max(values)
            row.append(f"{low:,.0f}-{high:,.0f}" if isinstance(low, int) else f"{low:.1f}-{high:.1f}")
        rows.append(row)
    table(f"lowest to highest over {len(worlds)} seeds", ("", *first), rows)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


if __name__ == "__main__":
    status = main()
    if status:
        say("a model forgot what is important, or forgot no trifle")
    sys.exit(status)
