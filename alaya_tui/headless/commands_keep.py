"""`status verify rebuild doctor config`: how the memory is looked after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from alaya_core.errors import ConfigError, DamagedError, NotFoundError, UsageError
from alaya_core.models.answers import Check, DoctorAnswer
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_keep import config_lines, doctor_lines, rebuild_lines, status_lines, verify_lines
from alaya_tui.headless.request import Request


def status_command(request: Request) -> Result:
    """What each layer holds."""
    with request.memory() as memory:
        answer = memory.status()
    return Result(answer, partial(status_lines, answer))


def verify_command(request: Request) -> Result:
    """Checks that the layers agree, and mends what it is told to; exits 1 when something is wrong in the end."""
    fix, yes = request.args.fix, request.args.yes
    if yes and not fix:
        raise UsageError("--yes only goes with --fix", "alaya verify --fix --yes")
    with request.memory() as memory:
        with request.told.progress("verify"):
            answer = memory.verify(fix=fix, yes=yes)
        if answer.plan and not yes and _agreed(request, answer.plan):
            with request.told.progress("verify"):
                answer = memory.verify(fix=True, yes=True)
    return Result(answer, partial(verify_lines, answer, fix=fix), 0 if answer.ok else 1)


def _agreed(request: Request, plan: Sequence[str]) -> bool:
    if not request.person or request.args.json:
        return False
    for step in plan:
        request.told.note(f"would mend: {step}")
    return request.agreed("do this now?")


def rebuild_command(request: Request) -> Result:
    """Builds the databases anew."""
    with request.memory() as memory, request.long_work("rebuild") as (progress, cancel):
        answer = memory.rebuild(request.args.what, progress=progress, cancel=cancel)
    return Result(answer, partial(rebuild_lines, answer))


def doctor_command(request: Request) -> Result:
    """Checks the installation and the home; exits 1 when a check fails."""
    try:
        if request.args.calibrate:
            with request.memory() as memory, request.long_work("doctor") as (_, cancel):
                answer = memory.doctor(calibrate=True, announce=request.told.note, cancel=cancel)
        else:
            with request.memory() as memory, request.told.progress("doctor"):
                answer = memory.doctor()
    except (ConfigError, DamagedError) as error:  # the home does not open: that is the answer
        name = "config" if isinstance(error, ConfigError) else "home"
        answer = DoctorAnswer(ok=False, checks=[Check(name=name, status="fail", detail=error.message, hint=error.hint)])
    return Result(answer, partial(doctor_lines, answer), 0 if answer.ok else 1)


def config_command(request: Request) -> Result:
    """Tells every setting."""
    with request.memory() as memory:
        answer = memory.settings()
    key: str | None = request.args.key
    if key is not None:
        answer.settings = [row for row in answer.settings if row.key == key or row.key.startswith(f"{key}.")]
        if not answer.settings:
            raise NotFoundError(f"there is no setting '{key}'", "alaya config lists them all")
    return Result(answer, partial(config_lines, answer))
