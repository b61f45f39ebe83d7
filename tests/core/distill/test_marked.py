"""Hand-marked turns and real sessions: how much of what is worth keeping is kept, and how little else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.distill.subjects import is_bare
from tests.core.distill.helpers import HERE, check_cards, distilled, rows, said, turn_of

PI = HERE.parents[3] / "shared" / "data" / "sessions" / "pi"

# Floors of recall and precision. `marked` was written before any rule. The others were written later, each of other
# themes than those before it; on its first run, before a rule was changed for it, each gave: `held_out` .60 and 1.0,
# `fresh` .79 and 1.0, `probe` .75 and .94, `last` .80 and 1.0, `varied` .90 and .93, `after` .80 and 1.0 (then a plain
# statement was let in more easily), `blind` .95 and .95, `second` .55 and .85 (half of it is assistants' findings, for
# which a count of points was written then), `third` .71 and 1.0 (again half assistants; the count was loosened then).
NAMES = ("marked", "held_out", "fresh", "probe", "last", "varied", "after", "blind", "second", "third")
SETS = dict.fromkeys(NAMES, (0.8, 0.7))


@pytest.mark.parametrize("name", SETS)
def test_marked_turns(name: str) -> None:
    missed, wrong, right = [], [], 0
    for row in rows(name):
        kept = bool(distilled(turn_of(row)).cards)
        right += kept and row["keep"]
        if kept and not row["keep"]:
            wrong.append(row["text"])
        if row["keep"] and not kept:
            missed.append(row["text"])
    recall, precision = SETS[name]
    assert right / (right + len(missed)) >= recall, missed
    assert right / (right + len(wrong)) >= precision, wrong


@pytest.mark.parametrize("name", SETS)
def test_cards_of_marked_turns(name: str) -> None:
    for row in rows(name):
        proposal = distilled(turn_of(row))
        check_cards(proposal)
        text = "\n".join(f"{card.title}\n{card.content}" for card in proposal.cards)
        for card in proposal.cards:
            assert not is_bare(card.title), card.title
            assert not is_bare(card.content), card.content
            own = re.sub(r"^(?:User|用户)[:：].*", "", card.title)  # `User: we moved` is the speaker's own words
            assert not re.search(r"\b(?:I|my)\b|我(?!们)", own), card.title
        if proposal.cards:
            assert all(held in text for held in row.get("holds", ())), (row["text"], text)
        assert not any(lacked in text for lacked in row.get("lacks", ())), text


def test_marked_turns_in_one_session_keep_their_own_turns() -> None:
    turns = [turn_of(row) for row in rows("marked")]
    proposal = distilled(*turns, max_cards=200)
    check_cards(proposal)
    for card in proposal.cards:
        numbers = card.sources[0].turns
        said_there = " ".join("\n".join(turns[number].text for number in numbers).split())
        quoted = re.search(r'said: "(.*)"$|说：“(.*)”$', card.content)
        words = (quoted[1] or quoted[2]) if quoted else card.content
        assert all(part in said_there for part in re.split(r"(?<=[.!?。！？])\s*", words)), (words, said_there)
    kept = {number for card in proposal.cards for number in card.sources[0].turns}
    wanted = {number for number, row in enumerate(rows("marked")) if row["keep"]}
    assert len(kept & wanted) >= 0.8 * len(wanted)
    assert len(kept & wanted) >= 0.7 * len(kept)


def local_turns(path: Path) -> list[Turn]:
    """The turns of an OpenClaw v1 log, as far as these tests need them."""
    turns = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry.get("type") != "message":
            continue
        message = entry["message"]
        content = message.get("content", "")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "\n".join(block.get("text", "") for block in blocks if block.get("type") == "text")
        kind = TurnKind.MESSAGE if message["role"] in ("user", "assistant") else TurnKind.TOOL
        if message.get("stopReason") in ("error", "aborted"):
            kind = TurnKind.FAILED
        turns.append(said(text, message["role"], kind=kind))
    return turns


@pytest.mark.parametrize("name", ["before-compaction", "large-session"])
def test_real_coding_sessions(name: str) -> None:
    path = PI / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    turns = local_turns(path)
    proposal = distilled(*turns)
    check_cards(proposal)
    assert 1 <= len(proposal.cards) <= 10
    for card in proposal.cards:
        assert all(turns[number].kind is TurnKind.MESSAGE for number in card.sources[0].turns)
        assert not is_bare(card.title), card.title
    assert proposal == distilled(*turns)
