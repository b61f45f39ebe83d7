"""`python -m alaya_tui` is `alaya-tui`."""

from __future__ import annotations

import sys

from alaya_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
