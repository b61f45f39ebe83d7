"""`distill` as a process, its model named by the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts.cli_runner import alaya
from tests.core.distill_model.talks import talk
from tests.core.homes import session, write
from tests.core.providers.chat_service import ChatService, card
from tests.core.providers.service import KEY, said


@pytest.mark.slow
def test_statuses_and_answers(tmp_path: Path, service: ChatService) -> None:
    home = tmp_path / "home"
    env = {"OPENAI_BASE_URL": service.url, "MEMORY_LLM_MODEL": "reader-1", "OPENAI_API_KEY": KEY}
    off = {**env, "MEMORY_LLM_ENABLED": "false"}
    alaya("init", home=home, env=off)
    alaya("ingest", write(tmp_path / "s1.json", session("s1", talk())), home=home, env=off)
    service.read = [said(401, "bad key")]
    refused = alaya("distill", "--json", home=home, env=env)
    assert refused.status == 4
    [outcome] = refused.data["sessions"]
    assert (outcome["status"], outcome["cards"]) == ("retry", [])
    assert "OPENAI_API_KEY" in outcome["reason"]
    assert KEY not in refused.text + refused.told
    service.read = [{"cards": [card("Archive on heron", "The archive lives on heron.")]}]
    done = alaya("distill", home=home, env=env)
    assert done.status == 0
    assert "by reader-1" in done.text
    assert "1 request, 100 tokens sent, 20 answered" in done.text
    assert alaya("status", "--json", home=home, env=env).data["distiller"] == "reader-1"
    without = alaya("distill", "--upgrade", "--json", home=home, env=off)
    assert (without.status, without.error["code"]) == (2, "usage")
    broken = alaya("distill", "--json", home=home, env={"MEMORY_LLM_MODEL": "m", "OPENAI_API_KEY": ""})
    assert (broken.status, broken.error["code"]) == (2, "config")
