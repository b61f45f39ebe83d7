"""How well recall finds, through the whole of it: `python -m tests.benchmarks.recall [SET...]`.

Log files are taken in, cards captured, and questions asked as anybody asks them; what comes is compared with what
should have come. The data are other people's and stay where they are: a set whose data are absent is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.benchmarks.recall import run as ranked
from tests.benchmarks.recall.asking import VARIANTS
from tests.benchmarks.recall.homes import core_digest
from tests.benchmarks.recall.sets import (
    cmrc,
    locomo_observations,
    locomo_sessions,
    locomo_turns,
    memorybank,
    off_topic,
    operations,
)
from tests.benchmarks.support import RESULTS, keep, say, workplace

VARIABLE = "ALAYA_BENCH_DATA"
BESIDE = Path(__file__).parents[4] / "shared" / "data"
"""Beside the checkout."""


def _ranked(experiments: Callable[[Path], list[Any]]) -> Callable[[ranked.Plan], list[dict[str, Any]]]:
    return lambda plan: [ranked.run(experiment, plan) for experiment in experiments(plan.data)]


SETS: dict[str, Callable[[ranked.Plan], list[dict[str, Any]]]] = {
    "locomo-turns": _ranked(locomo_turns.experiments),
    "locomo-sessions": _ranked(locomo_sessions.experiments),
    "locomo-observations": _ranked(locomo_observations.experiments),
    "cmrc": _ranked(cmrc.experiments),
    "memorybank": _ranked(memorybank.experiments),
    "operations": _ranked(operations.experiments),
    "off-topic": lambda plan: [off_topic.run(experiment, plan) for experiment in off_topic.experiments(plan.data)],
}


def data_folder() -> Path:
    """Where the data are looked for if nobody says."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else BESIDE


def main() -> int:
    """Runs the sets that were named, or all."""
    args = _arguments()
    unknown = sorted(set(args.sets) - SETS.keys())
    if unknown:
        say(f"no set is called {unknown[0]}; there are {', '.join(SETS)}")
        return 2
    with ExitStack() as stack:
        work = args.work / "recall-homes" if args.work else stack.enter_context(workplace(None))
        work.mkdir(parents=True, exist_ok=True)
        settings = dict(_setting(text) for text in args.set)
        variants = {"ours": VARIANTS["ours"]} if args.ours else VARIANTS
        plan = ranked.Plan(args.data, work, settings, args.off_one, args.sample, args.fresh, variants)
        for name in args.sets or SETS:
            say(f"\n== {name}")
            before = core_digest()
            try:
                results = SETS[name](plan)
            except FileNotFoundError as error:
                say(f"skipped: {error.filename} is not there (--data, or {VARIABLE}, names the folder)")
                continue
            core = {"core": before, "core_afterwards": core_digest()}
            if before != core["core_afterwards"]:
                say("the core was changed while this ran: the figures belong to no one version of it")
            keep(
                args.out / f"recall_{name.replace('-', '_')}.json", {**plan.describe(), **core, "experiments": results}
            )
    return 0


def _setting(text: str) -> tuple[str, Any]:
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _arguments() -> argparse.Namespace:
    made = argparse.ArgumentParser(prog="python -m tests.benchmarks.recall", description=__doc__)
    made.add_argument("sets", nargs="*", metavar="SET", help=f"any of {', '.join(SETS)} (default: all)")
    made.add_argument("--data", type=Path, default=data_folder(), help=f"other people's data (default: {VARIABLE})")
    made.add_argument("--work", type=Path, default=None, help="keep the homes here and use them again next time")
    made.add_argument("--out", type=Path, default=RESULTS, help="folder for the JSON, a file for each set")
    made.add_argument("--ours", action="store_true", help="neither words alone nor vectors alone")
    made.add_argument("--off-one", action="store_true", help="also without each stage, one at a time")
    made.add_argument("--sample", type=int, default=None, help="ask a fixed draw of so many questions only")
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the homes")
    made.add_argument("--fresh", action="store_true", help="build the homes anew")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(main())
