"""The homes that are asked: built by the real way in, kept, and opened again with other settings."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import alaya_core
from alaya_core.memory import Memory
from tests.benchmarks.recall.model import CardText, Recipe, Session
from tests.benchmarks.support import say
from tests.conftest import Clock

_NOTE = "built.json"
_MAKE_THE_INDEX = (
    "words*.py",
    "text.py",
    "secret*.py",
    "services/passages.py",
    "services/index/**/*.py",
    "stores/vector*.py",
    "stores/matrix.py",
    "providers/*.py",
)
"""The code that decides what stands in the index: another version of it needs the index made anew."""


@dataclass(frozen=True, slots=True)
class Built:
    """A home that is there.

    Attributes:
        cards: What the set calls a card, by the id it has in the home.
        config: Its settings as they were when it was made.
    """

    path: Path
    cards: Mapping[str, str]
    config: Mapping[str, Any]

    def open(self, settings: Mapping[str, Any], off: Sequence[str] = ()) -> Memory:
        """Opens it with some settings (by dotted key), some stages switched off, and nobody having asked before.

        Its clock stands still, so that an answer depends neither on today's date nor on what was asked before.
        """
        chosen = {section: dict(values) for section, values in self.config.items()}
        for key, value in {**settings, **({"recall.off": list(off)} if off else {})}.items():
            section, _, name = key.partition(".")
            chosen.setdefault(section, {})[name] = value
        (self.path / "config.json").write_text(json.dumps(chosen, indent=1), encoding="utf-8")
        for log in (self.path / "raw" / "accesses").glob("*.jsonl"):
            log.unlink()
        return _open(self.path)


def built(recipe: Recipe, work: Path, settings: Mapping[str, Any], *, fresh: bool = False) -> Built:
    """The home of a recipe: the one kept in `work`, or a new one.

    Args:
        settings: By dotted key; those that decide what is stored must hold while it is built.
        fresh: Whether to build it anyway.
    """
    folder = work / recipe.name
    digest = _digest([recipe.digest(), json.dumps(_stored(settings))])
    note = _read(folder / _NOTE)
    if fresh or note.get("digest") != digest:
        note = _build(recipe, work, settings) | {"digest": digest, "code": _INDEX_CODE}
    elif note.get("code") != _INDEX_CODE:
        say(f"{recipe.name}: the code that makes the index has changed, the index is made anew ...")
        with Built(folder / "home", note["cards"], note["config"]).open(settings) as memory:
            memory.rebuild("l1")
            _finish(memory)
        note["code"] = _INDEX_CODE
    (folder / _NOTE).write_text(json.dumps(note, ensure_ascii=False), encoding="utf-8")
    return Built(folder / "home", note["cards"], note["config"])


def _stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide what is stored."""
    return {key: value for key, value in sorted(settings.items()) if key.startswith(("embedding.", "passages."))}


def _build(recipe: Recipe, work: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    started, folder = time.perf_counter(), work / recipe.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cards: dict[str, str] = {}
    if recipe.base:
        before = built(recipe.base, work, settings)
        shutil.copytree(before.path, folder / "home")
        cards.update(before.cards)
    say(f"{recipe.name}: {len(recipe.sessions):,} sessions and {len(recipe.cards):,} cards are taken in ...")
    with _open(folder / "home") as memory:
        config = json.loads((folder / "home" / "config.json").read_text(encoding="utf-8"))
    with Built(folder / "home", {}, config).open(settings) as memory:
        if recipe.sessions:
            _ingest(memory, recipe.sessions, folder / "logs")
        cards.update(_capture(memory, recipe.cards))
        _finish(memory)
    say(f"{recipe.name}: built in {time.perf_counter() - started:.0f} s")
    return {"cards": cards, "config": config}


def _open(path: Path) -> Memory:
    return Memory.open(path, environ={}, create=True, clock=Clock())


def _ingest(memory: Memory, sessions: Iterable[Session], folder: Path) -> None:
    """Takes sessions in from files, and checks that each came in with all its turns and under its own name."""
    folder.mkdir()
    turns = {}
    for session in sessions:
        turns[session["id"]] = len(session["turns"])
        (folder / f"{session['id']}.json").write_text(json.dumps(session, ensure_ascii=False), encoding="utf-8")
    report = memory.ingest([folder])
    came = {outcome.session_id: outcome.turns for outcome in report.sessions if outcome.status == "new"}
    if came != turns:
        wrong = sorted(name for name in turns.keys() | came.keys() if turns.get(name) != came.get(name))
        raise RuntimeError(f"{len(wrong)} sessions did not come in as they are, {wrong[:3]} first")


def _capture(memory: Memory, cards: Iterable[CardText]) -> dict[str, str]:
    names: dict[str, str] = {}
    for card in cards:
        answer = memory.capture(card.content, title=card.title, type=card.type, scope=card.scope)
        identifier = answer.card.card_id
        if identifier in names:
            raise RuntimeError(f"{card.id} and {names[identifier]} became one card: a set must not hold a text twice")
        names[identifier] = card.id
    return names


def _finish(memory: Memory) -> None:
    """Makes the vectors that are not there yet, so that no question is asked of half a home."""
    embed = getattr(memory, "embed_passages", None)  # passages have vectors only where the memory makes them
    if embed is not None and (left := embed()).left:
        say(f"{left.left:,} passages have no vectors yet: {left.note}")
    memory.upkeep()


def _index_code() -> str:
    root = Path(alaya_core.__file__).parent
    files = sorted(path for pattern in _MAKE_THE_INDEX for path in root.glob(pattern))
    return _digest(path.read_text(encoding="utf-8") for path in files)


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def core_digest() -> str:
    """Which version of the core stands in the files now, in short."""
    root = Path(alaya_core.__file__).parent
    return _digest(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")))[:12]


_INDEX_CODE = _index_code()
"""Read once, when the code is: somebody may be at work on it while the benchmark runs."""
