"""Doctor: whether this machine and this home can do the work."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import time
from collections.abc import Callable
from typing import Literal

from alaya_core.clock import iso
from alaya_core.errors import AlayaError
from alaya_core.models.answers import Check, DoctorAnswer
from alaya_core.models.answers.calibration import CalibratedDoctor, Calibration
from alaya_core.progress import CancelToken
from alaya_core.services.embedding_choice import mismatch
from alaya_core.services.index import embedder_of
from alaya_core.services.workspace import Workspace

_LOW_DISK = 1 << 30
Status = Literal["ok", "warn", "fail"]


def doctor(
    workspace: Workspace,
    *,
    calibrating: bool = False,
    announce: Callable[[str], None] = lambda _: None,
    cancel: CancelToken | None = None,
) -> DoctorAnswer:
    """Looks at Python, the home, the engines and the embedding provider; changes nothing, but for what a calibration
    keeps.

    Args:
        calibrating: Whether to measure the embedding in use on the home's own cards (see `calibrate`).
        announce: Told what is sent where before a calibration sends it.
    """
    checks = _checks(workspace)
    if not calibrating:
        checks += _calibrated(workspace)
        return DoctorAnswer(ok=_sound(checks), checks=checks)
    made: list[Calibration] = []
    checks.append(_tried("calibration", lambda: _calibration(workspace, announce, cancel, made)))
    return CalibratedDoctor(ok=_sound(checks), checks=checks, calibration=made[0] if made else None)


def _sound(checks: list[Check]) -> bool:
    return all(check.status != "fail" for check in checks)


def _checks(workspace: Workspace) -> list[Check]:
    checks = [
        Check(name="python", status="ok", detail=f"{platform.python_version()} on {platform.platform(terse=True)}"),
        _home(workspace),
        _disk(workspace),
        _config(workspace),
        *(_engine(name, "the graph engine") for name in dict.fromkeys(_graph_engines(workspace))),
        _engine("lancedb", "the vector engine"),
        _tried("ledger", lambda: _ledger(workspace)),
        _tried("graph", lambda: _graph(workspace)),
        _tried("embedding", lambda: _embedding(workspace)),
        *([_tried("rerank", lambda: _rerank(workspace))] if workspace.config.rerank.named else []),
        _tried("vectors", lambda: _vectors(workspace)),
    ]
    return checks


def _home(workspace: Workspace) -> Check:
    if not workspace.takes_changes:
        why = "read-only" if workspace.read_only else "written by a newer version"
        return Check(name="home", status="warn", detail=f"{workspace.home.root} is {why}", hint="recall works")
    return Check(name="home", status="ok", detail=str(workspace.home.root))


def _disk(workspace: Workspace) -> Check:
    free = shutil.disk_usage(workspace.home.root).free
    status: Status = "ok" if free > _LOW_DISK else "warn"
    hint = "" if status == "ok" else "a rebuild needs room beside the living files"
    return Check(name="disk", status=status, detail=f"{free / 2**30:.1f} GB free", hint=hint)


def _config(workspace: Workspace) -> Check:
    warnings = workspace.config.warnings
    if warnings:
        return Check(name="config", status="warn", detail="; ".join(warnings), hint="`alaya config` lists the settings")
    return Check(name="config", status="ok", detail=str(workspace.home.config_file))


def _graph_engines(workspace: Workspace) -> tuple[str, str]:
    """The living graph's, and the configured one."""
    return workspace.graph.engine, workspace.config.graph.engine


def _engine(package: str, what: str) -> Check:
    try:
        return Check(name=package, status="ok", detail=f"{what} {importlib.metadata.version(package)}")
    except importlib.metadata.PackageNotFoundError:
        hint = "pip install 'alaya-tui[ladybug]'" if package == "ladybug" else "reinstall alaya-tui"
        return Check(name=package, status="fail", detail=f"{what} is not installed", hint=hint)


def _ledger(workspace: Workspace) -> Check:
    faults = workspace.ledger.faults()
    if faults:
        lines = "1 line" if len(faults) == 1 else f"{len(faults)} lines"
        detail = f"{lines} cannot be trusted, the first in {faults[0].segment} line {faults[0].line}"
        return Check(name="ledger", status="fail", detail=detail, hint="run `alaya verify`")
    if not workspace.ledger.folder.is_dir():
        return Check(name="ledger", status="fail", detail="raw/ledger is gone", hint="run `alaya verify --fix`")
    last = workspace.ledger.last_seq()
    return Check(name="ledger", status="ok", detail=f"{last} commit{'s' * (last != 1)}, all sound")


def _graph(workspace: Workspace) -> Check:
    started = time.perf_counter()
    workspace.graph.doubt()
    with workspace.graph.as_it_stands() as reader:
        if reader is None:
            return Check(name="graph", status="ok", detail="it is not built yet; the next command does it")
        cards = sum(reader.counts()["state"].values())
        if reader.mark().seq > workspace.ledger.last_seq():
            detail = "it knows of changes that the ledger does not hold"
            return Check(name="graph", status="fail", detail=detail, hint="run `alaya verify --fix`")
    detail = f"{cards} card{'s' * (cards != 1)} in {workspace.graph.engine_version}, opened in {_ms(started)} ms"
    if said := workspace.graph.other_engine:
        return Check(name="graph", status="warn", detail=f"{detail}; {said}")
    return Check(name="graph", status="ok", detail=detail)


def _embedding(workspace: Workspace) -> Check:
    started = time.perf_counter()
    vector = workspace.embedder.provider.embed_query("alaya")
    provider = workspace.embedder.provider
    where = f"text goes to {provider.host}" if provider.host else "nothing leaves this machine"
    detail = f"{provider.model}, {len(vector)} numbers, first answer in {_ms(started)} ms; {where}"
    return Check(name="embedding", status="ok", detail=detail)


def _rerank(workspace: Workspace) -> Check:
    started = time.perf_counter()
    reranker = workspace.reranker
    if reranker is None:
        return Check(name="rerank", status="ok", detail="switched off by recall.off; it is sent nothing")
    reranker.scores("alaya", ["alaya"])
    where = f"text goes to {reranker.host}" if reranker.host else "nothing leaves this machine"
    model = reranker.model or f"whatever {reranker.name} has"
    return Check(name="rerank", status="ok", detail=f"{model}, first answer in {_ms(started)} ms; {where}")


def _vectors(workspace: Workspace) -> Check:
    if not workspace.vectors.exists:
        return Check(name="vectors", status="ok", detail="nothing is indexed yet")
    mark = workspace.vectors.mark()
    if said := mismatch(workspace.config, mark):
        return Check(name="vectors", status="warn", detail=said.partition(": run")[0], hint="run `alaya reembed`")
    embedder_of(workspace, mark)
    return Check(name="vectors", status="ok", detail=f"of {mark.model}, {mark.dimensions} numbers")


def _calibration(
    workspace: Workspace, announce: Callable[[str], None], cancel: CancelToken | None, made: list[Calibration]
) -> Check:
    from alaya_core.services.calibrate import calibrate

    found = calibrate(workspace, announce, cancel)
    made.append(found)
    where = f"text went to {found.host}" if found.host else "nothing left this machine"
    if not found.stored:
        return Check(name="calibration", status="warn", detail=found.note, hint="until then the shipped texts do")
    before, after = found.before.model_dump(), found.after.model_dump()
    figures = (f"{name} {before[name]:.2f} -> {after[name]:.2f} ({_pairs(found.pairs[name])})" for name in after)
    return Check(name="calibration", status="ok", detail=f"{', '.join(figures)}; {where}")


def _calibrated(workspace: Workspace) -> list[Check]:
    """What an earlier calibration found; nothing where there was none, or where the embedding fails anyway."""
    from alaya_core.services.calibrate import kept_of

    try:
        kept = kept_of(workspace)
    except AlayaError:
        return []
    if kept is None:
        return []
    figures = ", ".join(
        f"{name} {figure:.2f} ({_pairs(kept.pairs.get(name, 0))})" for name, figure in kept.figures.items()
    )
    return [Check(name="calibration", status="ok", detail=f"measured on {iso(kept.at)[:10]}: {figures}")]


def _pairs(count: int) -> str:
    return f"{count:,} pair{'s' * (count != 1)}" if count else "shipped texts"


def _tried(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except AlayaError as error:
        return Check(name=name, status="fail", detail=error.message, hint=error.hint)
    except OSError as error:
        return Check(name=name, status="fail", detail=f"{error.filename}: {error.strerror}", hint="run `alaya verify`")


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
