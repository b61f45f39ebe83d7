"""What `doctor --calibrate` answers."""

from __future__ import annotations

from pydantic import Field

from alaya_core.models.answers.base import Answer
from alaya_core.models.answers.keeping import DoctorAnswer


class Figures(Answer):
    """Where a model's cosines begin to mean something.

    Attributes:
        zh, en, cross: The mean cosine of two texts that have nothing to do with each other: both Chinese, neither, one.
        related: How much of the way from there to 1 related texts have.
    """

    zh: float
    en: float
    cross: float
    related: float


class Calibration(Answer):
    """What was measured on the home's own cards.

    Attributes:
        host: Where text was sent; None = nowhere.
        pairs: Pairs of own texts behind each figure; 0 = too few, the figure is that of the shipped texts.
        stored: Whether it is used from now on.
        note: What a person should know about it; may be empty.
    """

    model: str
    host: str | None
    before: Figures
    after: Figures
    pairs: dict[str, int] = Field(default_factory=dict)
    stored: bool = False
    note: str = ""


class CalibratedDoctor(DoctorAnswer):
    """`doctor --calibrate`; without a calibration where it failed, and a check then says why."""

    calibration: Calibration | None = None
