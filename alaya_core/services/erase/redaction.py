"""What stays of each event of the ledger once something is erased. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.plan import ErasePlan

RawEvent = dict[str, Any]
_TEXTS = ("title", "overview", "content")


class Redaction:
    """Changes events as their lines hold them, whatever their version; changed again, they stay the same.

    Args:
        plan: What goes.

    Attributes:
        changed: Ids of other cards of which an event changed.
        rehashed: Per sha256 of a text that changed, that of what stays of it.
    """

    def __init__(self, plan: ErasePlan) -> None:
        self._plan = plan
        self._cards = frozenset(plan.cards)
        self._labels = frozenset(plan.labels)
        self._cutters = {
            card: Needles(plan.texts, kept=[own[name] for name in _TEXTS]) for card, own in plan.absorbers.items()
        }
        self._needles = Needles(plan.texts)
        self.changed: set[str] = set()
        self.rehashed = dict(plan.rehashed)

    def __call__(self, event: RawEvent) -> RawEvent | None:
        """What stays of an event; None = nothing."""
        kind = event["kind"]
        if kind.startswith("card."):
            return self._card(event)
        if kind.startswith("link."):
            return self._link(event)
        if kind.startswith("session."):
            return self._session(event)
        if kind == "proposal.made":
            return None if self._cards & set(event["cards"]) else {**event, "why": self._why(event["why"])}
        if kind == "erased" and self._plan.session and self._plan.turn is None:
            kept = [source for source in event["sources"] if source["session_id"] != self._plan.session]
            return {**event, "sources": kept}
        return event

    def _card(self, event: RawEvent) -> RawEvent | None:
        card_id = event["card"]["id"] if event["kind"] == "card.created" else event["id"]
        if card_id in self._cards:
            return None
        after = dict(event)
        for part in ("card", "after", "before"):
            if part in event:
                after[part] = self._fields(card_id, event[part])
        if after != event:
            if after.get("why"):
                after["why"] = ""  # the reason speaks of what goes
            self.changed.add(card_id)
        if after.get("why"):
            after["why"] = self._why(after["why"])
        return after

    def _why(self, reason: str) -> str:
        """A reason, unless it quotes what goes."""
        return "" if self._needles.found_in(reason) else reason

    def _fields(self, card_id: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a card that stays, without what names or quotes what goes."""
        out = dict(values)
        if out.get("successor") in self._cards:
            out["successor"] = ""
        if "merged_from" in out:
            out["merged_from"] = [one for one in out["merged_from"] if one not in self._cards]
        if "sources" in out:
            out["sources"] = [kept for source in out["sources"] if (kept := self._source(source)) is not None]
        own = self._plan.absorbers.get(card_id)
        if own is None:
            return out
        for name in ("tags", "entities"):
            if isinstance(out.get(name), list):
                out[name] = [label for label in out[name] if label not in self._labels or label in own[name]]
        for name in _TEXTS:
            out |= {name: self._text(card_id, out[name])} if name in out else {}
        return out

    def _source(self, source: dict[str, Any]) -> dict[str, Any] | None:
        plan = self._plan
        if not plan.session or source["session_id"] != plan.session:
            return source
        turns = [] if plan.turn is None else [turn for turn in source["turns"] if turn != plan.turn]
        return {**source, "turns": turns} if turns else None

    def _text(self, card_id: str, value: Any) -> Any:
        """A text that an absorber had at some time, or the hash that stands for it."""
        if isinstance(value, dict):
            return {**value, "sha256": self.rehashed.get(value["sha256"], value["sha256"])}
        cutter = self._cutters[card_id]
        if not cutter.found_in(value):
            return value
        kept = cutter.cut(value)
        self.rehashed[_sha256(value)] = _sha256(kept)
        return kept

    def _link(self, event: RawEvent) -> RawEvent | None:
        link = event["link"]
        ends = (link["from_id"], link["to_id"])
        if any(end in self._cards for end in ends):
            return None
        own = next((self._plan.absorbers[end] for end in ends if end in self._plan.absorbers), None)
        if own is not None and link["reason"] in self._plan.reasons and link["reason"] not in own["reasons"]:
            return {**event, "link": {**link, "reason": ""}}
        return event

    def _session(self, event: RawEvent) -> RawEvent | None:
        plan = self._plan
        info = event.get("session", {})
        about = info.get("id") or event.get("id")
        if plan.session and about == plan.session and plan.turn is None:
            return None
        if event["kind"] != "session.ingested":
            return event
        changed = {**info, "source": plan.sources.get(info["source"], info["source"])}
        if plan.session == about and (state := plan.states.get(str(info["turns"]))):
            changed |= {"chain": state[0], "summary": state[1]}
        replaced = plan.sources.get(event["replaced"], event["replaced"])
        return {**event, "session": changed, "replaced": replaced}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
