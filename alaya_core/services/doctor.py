"""Doctor: whether this machine and this home can do the work."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import time
from collections.abc import Callable
from typing import Literal

from alaya_core.errors import AlayaError
from alaya_core.models.answers import Check, DoctorAnswer
from alaya_core.services.embedding_choice import mismatch
from alaya_core.services.index import embedder_of
from alaya_core.services.workspace import Workspace

_LOW_DISK = 1 << 30
Status = Literal["ok", "warn", "fail"]


def doctor(workspace: Workspace) -> DoctorAnswer:
    """Looks at Python, the home, the engines and the embedding provider; changes nothing."""
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
        _tried("vectors", lambda: _vectors(workspace)),
    ]
    return DoctorAnswer(ok=all(check.status != "fail" for check in checks), checks=checks)


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


def _vectors(workspace: Workspace) -> Check:
    if not workspace.vectors.exists:
        return Check(name="vectors", status="ok", detail="nothing is indexed yet")
    mark = workspace.vectors.mark()
    if said := mismatch(workspace.config, mark):
        return Check(name="vectors", status="warn", detail=said.partition(": run")[0], hint="run `alaya reembed`")
    embedder_of(workspace, mark)
    return Check(name="vectors", status="ok", detail=f"of {mark.model}, {mark.dimensions} numbers")


def _tried(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except AlayaError as error:
        return Check(name=name, status="fail", detail=error.message, hint=error.hint)
    except OSError as error:
        return Check(name=name, status="fail", detail=f"{error.filename}: {error.strerror}", hint="run `alaya verify`")


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
