"""Makes the picture of the README: `python -m tests.tui.readme_picture` writes tests/tui/readme.svg."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

PICTURE = Path(__file__).with_name("readme.svg")
QUERY = "why did notes-api move to Postgres"
_PATIENCE_S = 30.0


async def draw(home: Path) -> None:
    """Opens the screen on the sample memory, asks one question, and saves what it shows."""
    from alaya_core import Memory
    from alaya_tui.app import AlayaApp

    app = AlayaApp(lambda: Memory.open(home))
    app.animation_level = "none"
    async with app.run_test(size=(120, 26)) as pilot:
        await pilot.press(*(" " if key == " " else key for key in QUERY))
        waited = 0.0
        while waited < _PATIENCE_S and "moves from SQLite" not in app.export_screenshot().replace("&#160;", " "):
            await pilot.pause(0.25)
            waited += 0.25
        await pilot.pause(1.0)
        await pilot.press("down")
        await pilot.pause(0.5)
        PICTURE.write_text(app.export_screenshot(title="Alaya"), encoding="utf-8")


def main() -> None:
    """Loads the samples into a throw-away home and draws."""
    from alaya_core import Memory
    from alaya_core.samples import sample_root

    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        home = Path(folder) / ".alaya"
        Memory.init(home)
        with Memory.open(home) as memory:
            memory.ingest([sample_root()], distill=True)
        asyncio.run(draw(home))


if __name__ == "__main__":
    main()
