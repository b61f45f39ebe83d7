"""Upkeep: what gathers while a memory is used is folded, compacted and let go; nothing that a person kept is."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from alaya_core.errors import AlayaError, BusyError, ConfigError, ProviderError
from alaya_core.models.answers import UpkeepAnswer
from alaya_core.progress import Progress, ProgressSink
from alaya_core.safe_json import load_json
from alaya_core.services.every_card import every_card
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import folder_bytes, write_file
from alaya_core.text import counted

_STEPS = 7
_SPARE = 256 << 10
_SPARE_UNASKED = 16 << 20
_FACTOR = 1.1
_FACTOR_UNASKED = 2.0
_UNKNOWN = 8 << 20
"""A graph file of this size is made anew when nobody wrote down how large it was when it was made."""


_Stays = Callable[[str], None]
"""Takes a sentence about what could not be done yet."""


@dataclass(slots=True)
class _Told:
    """What was done, and what stays as it is."""

    did: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)


def upkeep(workspace: Workspace, *, progress: ProgressSink) -> UpkeepAnswer:
    """Folds the access log, removes what killed builds left, makes the vectors that are owed, compacts the vector
    tables, makes an overgrown graph anew.

    Raises:
        BusyError, ReadOnlyHomeError, NewerHomeError: The home takes no changes now.
    """
    workspace.require_writable()
    started = time.perf_counter()
    before = sizes(workspace)
    told = _Told()
    for done, (name, step) in enumerate(
        (
            ("access log", _accesses),
            ("left-overs", _leftovers),
            ("index", _index),
            ("passages", _passages),
            ("vector tables", _tables),
            ("graph", _graph),
            ("embedding cache", _cache),
        )
    ):
        progress(Progress("upkeep", done, _STEPS, name))
        if said := step(workspace, told.stays.append):
            told.did.append(said)
    progress(Progress("upkeep", _STEPS, _STEPS))
    return UpkeepAnswer(
        did=told.did,
        stays=told.stays,
        before=before,
        after=sizes(workspace),
        took_ms=round((time.perf_counter() - started) * 1000),
    )


def tend(workspace: Workspace) -> None:
    """What whoever has the time does unasked: makes a graph anew that has grown far beyond its content."""
    if overgrown(workspace, _FACTOR_UNASKED, _SPARE_UNASKED):
        with contextlib.suppress(AlayaError):  # it can wait, and whoever ingests has nothing to do with it
            workspace.graph.rebuild()
            remember_graph_size(workspace)


def sizes(workspace: Workspace) -> dict[str, int]:
    """Bytes by part of the home."""
    home = workspace.home
    parts = {"raw": home.raw, "kuzu": home.graphs, "lancedb": home.vectors, "cache": home.cache}
    return {name: folder_bytes(path) for name, path in parts.items()}


def backlog(workspace: Workspace) -> dict[str, int]:
    """What waits for upkeep; opens no engine."""
    mark = workspace.vectors.mark()
    return {
        "access_bytes_unfolded": workspace.vitals.unfolded_bytes(),
        "table_versions": workspace.vectors.versions(),
        "rows_unindexed": mark.unindexed,
        "leftover_bytes": workspace.vectors.leftovers(),
        "ledger_segments": len(workspace.ledger.segments()),
        "cache_bytes": folder_bytes(workspace.home.cache),
    }


def overgrown(workspace: Workspace, factor: float, spare: int) -> bool:
    """Whether the graph file is so many times as large as it was when it was made.

    Measured: a new card makes it 5 KB longer, a link 45 KB, the new text of a card 200 KB.

    Args:
        spare: Bytes that do not matter.
    """
    path = workspace.graph.path
    if not path.exists():
        return False
    size = path.stat().st_size
    try:
        raw = load_json((workspace.home.graphs / "made.json").read_bytes())
        made = int(raw["bytes"]) if raw["name"] == path.name else 0
    except (OSError, ValueError, KeyError, TypeError):
        made = 0
    return size > (factor * made + spare if made else max(_UNKNOWN, spare))


def _accesses(workspace: Workspace, stays: _Stays) -> str:
    folded = workspace.vitals.fold(workspace.clock(), lambda: workspace.locks.writing("upkeep"))
    if left := workspace.vitals.unfolded_bytes():
        stays(f"{left:,} bytes of the access log stay: they are of the hour that still runs, and an hour counts once")
    return f"folded {folded:,} bytes of the access log" if folded else ""


def _leftovers(workspace: Workspace, _: _Stays) -> str:
    left = workspace.vectors.leftovers()
    if not left:
        return ""
    with contextlib.suppress(BusyError), workspace.locks.building(timeout_s=0):
        workspace.vectors.remove_leftovers()
        return f"removed {left:,} bytes that a build left when it was cut off"
    return ""


def _index(workspace: Workspace, stays: _Stays) -> str:
    """Indexes what waits, and makes the vectors that could not be made when their cards came."""
    from alaya_core.services.index import sync

    mark = workspace.vectors.mark()
    owed, waiting = mark.pending, workspace.ledger.last_seq() - mark.seq
    if not (owed or waiting):
        return ""
    try:
        outcome = sync(workspace, patient=True)
        why = "; ".join(outcome.notes)
    except (ProviderError, ConfigError) as error:
        why = f"no vectors: {error.message}"
    left = workspace.vectors.mark().pending
    if left:
        stays(f"{counted(left, 'card')} without a vector" + (f" ({why})" if why else ""))
    made = f"made the vectors of {counted(owed - left, 'card')}" if left < owed else ""
    return made or ("indexed the changes that waited" if waiting else "")


def _passages(workspace: Workspace, stays: _Stays) -> str:
    """Makes the vectors that passages lack."""
    from alaya_core.services.index import embed_passages

    if not workspace.vectors.exists:
        return ""
    done = embed_passages(workspace)
    if done.left:
        stays(f"{done.left:,} passages without a vector" + (f" ({done.note})" if done.note else ""))
    return f"made the vectors of {counted(done.made, 'passage')}" if done.made else ""


def _tables(workspace: Workspace, stays: _Stays) -> str:
    store = workspace.vectors
    if not store.exists:
        return ""
    # Nobody else writes the tables under this lock; captures go on, they need the other.
    with workspace.locks.indexing():
        versions = store.versions()
        compacted = store.upkeep(now=True)
        store.generation.close_to_others()
    left = store.versions()
    if (young := left - store.tables()) > 0:
        stays(f"{young} versions of the tables younger than {store.keep_s / 60:.0f} minutes stay, for their readers")
    if not compacted:
        return ""
    gone = f", {versions - left} old versions removed" if left < versions else ""
    return f"compacted the table{'s' * (len(compacted) > 1)} of {' and '.join(compacted)}{gone}"


def _graph(workspace: Workspace, _: _Stays) -> str:
    if not overgrown(workspace, _FACTOR, _SPARE):
        return ""
    before = folder_bytes(workspace.home.graphs)
    workspace.graph.rebuild()
    remember_graph_size(workspace)
    return f"made the graph anew: {before:,} bytes became {folder_bytes(workspace.home.graphs):,}"


def remember_graph_size(workspace: Workspace) -> None:
    """Writes down how large the graph file is, now that it was made anew; takes the writer lock."""
    path = workspace.graph.path
    with workspace.locks.writing("upkeep"):
        raw = {"name": path.name, "bytes": path.stat().st_size}
        write_file(workspace.home.graphs / "made.json", json.dumps(raw).encode(), durable=False)


def _cache(workspace: Workspace, _: _Stays) -> str:
    """Lets go of vectors of texts that no card has any more; those of other models stay, they were paid for."""
    from alaya_core.services.background_texts import ANSWERED, CHINESE, ENGLISH
    from alaya_core.stores.embedding_cache import EmbeddingCache, content_hash

    path = workspace.home.cache / "embeddings.sqlite"
    if not path.exists():
        return ""
    texts = [card.text_to_embed() for card in every_card(workspace)]
    cache = EmbeddingCache(path)
    known = [*texts, *CHINESE, *ENGLISH, *(text for pair in ANSWERED for text in pair)]
    dropped = cache.keep_only({content_hash(text) for text in known})
    cache.close()
    return f"let go of {dropped:,} vectors of texts that are gone" if dropped else ""
