"""Whether the records of passages can be what was written: nothing they point at may lie outside of what there is."""

from __future__ import annotations

from alaya_core.stores.passage_columns import LIVE, PassageColumns

_SAMPLE = 64


def sound(columns: PassageColumns) -> bool:
    """Whether every record that is there can be followed; random bytes cannot.

    Vectors that are cut short are no fault here (see `PassageColumns.whole`): the rest is found by its words.
    """
    import numpy as np

    records, count = columns.records, len(columns)
    living = records[records["flags"] & LIVE > 0]
    for field, lowest, end in (
        ("session", 0, len(columns.sessions)),
        ("name", -1, len(columns.names)),
        ("before", -1, count),
        ("after", -1, count),
    ):
        if len(living) and (living[field].min() < lowest or living[field].max() >= end):
            return False
    ends = living["tokens_at"] + living["tokens"]
    if (living["tokens_at"] < 0).any() or (living["tokens"] < 0).any() or (ends > len(columns.tokens)).any():
        return False
    if (records["flags"] >= 1 << 16).any() or not (np.isfinite(records["scale"]) & (records["scale"] >= 0)).all():
        return False
    stretches = columns.stretches
    last = stretches["first"].astype(np.int64) + stretches["rows"]
    if (stretches["first"] < 0).any() or (stretches["rows"] < 0).any() or (last > count).any():
        return False
    if len(stretches) and (stretches["session"].min() < 0 or stretches["session"].max() >= len(columns.sessions)):
        return False
    chosen = columns.means[:: max(1, len(columns.means) // _SAMPLE)]
    with np.errstate(all="ignore"):
        lengths = (chosen * chosen).sum(axis=1)
    return bool(((lengths < 1e-6) | (np.abs(lengths - 1) < 0.02)).all())
