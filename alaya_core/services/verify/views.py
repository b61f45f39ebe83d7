"""The graph and the vector tables, compared with what the ledger says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from alaya_core.errors import AlayaError, ProviderError
from alaya_core.models.card import Card, CardState
from alaya_core.models.commit import Event, link_removed
from alaya_core.services.index import rebuild_vectors, sync
from alaya_core.services.verify.found import FIX, REBUILD_GRAPH, REBUILD_VECTORS, Found, rebuild_mend
from alaya_core.services.workspace import Workspace
from alaya_core.stores.folding import Folded
from alaya_core.stores.graph_read import GraphReader
from alaya_core.stores.vector_state import Inspection, VectorMark
from alaya_core.text import counted

SEARCHED = (CardState.ACTIVE, CardState.SUPERSEDED, CardState.ARCHIVED)


def graph_findings(workspace: Workspace, truth: Folded, seq: int, found: Found) -> bool:
    """Compares the graph with the ledger up to a seq.

    Returns:
        Whether they stood at the same commit, so that they could be compared.
    """
    before = len(found.findings)
    try:
        with workspace.graph.reading() as reader:
            if reader.mark().seq != seq:
                return False
            _compare_graph(truth, reader, found)
    except AlayaError as error:
        found.add_whole("graph_unreadable", REBUILD_GRAPH, error.message)
    if len(found.findings) > before:
        rebuild_mend(workspace, found)
    return True


def graph_unreadable(workspace: Workspace, why: str, found: Found) -> None:
    """Says that the graph does not open."""
    found.add_whole("graph_unreadable", REBUILD_GRAPH, why)
    rebuild_mend(workspace, found)


def _compare_graph(truth: Folded, reader: GraphReader, found: Found) -> None:
    _compare("graph_card", truth.cards, {card.id: card for card in reader.all_cards()}, found)
    links = reader.all_links()
    held = {link.id: link for link in truth.links.values() if link.from_id in truth.cards and link.to_id in truth.cards}
    _compare("graph_link", held, {link.id: link for link in links}, found)
    twice = [key for key, count in Counter(link.id for link in links).items() if count > 1]
    found.add("graph_link_twice", twice, REBUILD_GRAPH, "one link is there more than once")
    _compare("graph_session", truth.sessions, {info.id: info for info in reader.sessions()}, found)
    _compare("graph_erased", truth.erased, reader.all_erased(), found)


def _compare(what: str, truth: Mapping[str, object], view: Mapping[str, object], found: Found) -> None:
    found.add(f"{what}_missing", [key for key in truth if key not in view], REBUILD_GRAPH)
    found.add(f"{what}_unknown", [key for key in view if key not in truth], REBUILD_GRAPH)
    differs = [key for key in truth if key in view and truth[key] != view[key]]
    found.add(f"{what}_differs", differs, REBUILD_GRAPH)


def dangling_links(workspace: Workspace, truth: Folded, found: Found) -> None:
    """Links of the ledger whose ends are no cards."""
    loose = [link for link in truth.links.values() if not {link.from_id, link.to_id} <= truth.cards.keys()]
    if found.add("dangling_link", [link.id for link in loose], FIX, "an end of it is no card"):

        def plan(_: GraphReader) -> list[Event]:
            return [link_removed(link) for link in loose]

        def unlink() -> str:
            workspace.commit("verify", plan, actor="verify")
            return f"removed {counted(len(loose), 'link')} whose ends are no cards"

        plan_said = (
            f"{counted(len(loose), 'link')} whose ends are no cards {'is' if len(loose) == 1 else 'are'} removed"
        )
        found.can("dangling", plan_said, unlink)


def vector_findings(workspace: Workspace, truth: Folded, seq: int, found: Found) -> None:
    """Compares the tables with the ledger up to a seq, after bringing them up to it."""
    before = len(found.findings)
    try:
        _vectors(workspace, truth, seq, found)
    except AlayaError as error:
        found.add_whole("vectors_unreadable", REBUILD_VECTORS, error.message)
    if len(found.findings) > before:

        def rebuild() -> str:
            try:
                rebuild_vectors(workspace)
            except ProviderError:  # what is known is enough to be found by; the rest waits for the service
                rebuild_vectors(workspace, needed_now=False)
            return "built the tables of words and vectors anew"

        plan = "the tables of words and vectors are built anew; texts whose vectors are not kept are embedded again"
        found.can("vectors", plan, rebuild)


def _vectors(workspace: Workspace, truth: Folded, seq: int, found: Found) -> None:
    store = workspace.vectors
    if store.broken:
        found.add_whole("vectors_unreadable", REBUILD_VECTORS, "a table is gone")
        return
    if not store.exists and truth.cards and truth.sessions:
        # A card by hand waits for the next recall; whatever ingests a session indexes it.
        found.add_whole("no_vectors", REBUILD_VECTORS, "nothing is indexed")
        return
    if store.mark().seq > seq:
        detail = f"they hold changes up to {store.mark().seq}, the ledger up to {seq}"
        found.add_whole("vectors_ahead", REBUILD_VECTORS, detail)
        return
    sync(workspace, patient=workspace.takes_changes)
    waiting = seq - store.mark().seq
    if not store.exists or waiting > 0:
        # What nobody could index yet is a backlog, not damage.
        found.checked.update(unindexed=max(0, waiting))
        return
    report, mark = store.inspect(), store.mark()
    found.checked.update(vectors=report.with_vector, passages=report.passages)
    for kind, ids in _compared_rows(truth, report, mark).items():
        found.add(kind, ids, REBUILD_VECTORS)
    found.add("words_broken", report.words_broken, REBUILD_VECTORS, "nothing is found in it by its words")
    if report.passages != mark.passages:
        said = f"{report.passages} passages where {mark.passages} were"
        found.add_whole("passage_count", REBUILD_VECTORS, said)
    if not store.generation.spoken.whole():
        said = "the records beside the table of passages are gone or cannot be read: the logs are not searched"
        found.add_whole("passage_records", REBUILD_VECTORS, said)
    if report.dimensions != mark.dimensions:
        said = f"vectors of {report.dimensions} numbers where {mark.dimensions} are said to be"
        found.add_whole("vector_dimensions", REBUILD_VECTORS, said)


def _compared_rows(truth: Folded, report: Inspection, mark: VectorMark) -> dict[str, Iterable[str]]:
    living: dict[str, Card] = {key: card for key, card in truth.cards.items() if card.state in SEARCHED}
    without = [key for key, card in living.items() if not card.vector_dropped and key not in report.with_vector_ids]
    hashes = report.hashes
    return {
        "vector_missing": without if report.dimensions == mark.dimensions else (),
        "row_missing": [key for key in living if key not in hashes],
        "row_unknown": [key for key in hashes if key not in living],
        "row_duplicate": report.duplicates,
        "row_differs": [k for k, card in living.items() if hashes.get(k, card.content_hash()) != card.content_hash()],
        "vector_bad": report.bad_vectors,
        "passage_duplicate": report.duplicate_passages,
        "passage_unknown": sorted(report.passage_sessions - truth.sessions.keys()),
    }
