"""Erase: what a person wants gone is gone, to the last byte, and everything else is as it was."""

from __future__ import annotations

from alaya_core.services.erase.run import erase, finish_erase

__all__ = ["erase", "finish_erase"]
