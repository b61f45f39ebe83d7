"""Where the style sheets are: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path, PurePath

_PACKAGE = Path(__file__).resolve().parent


def style_folder() -> Path:
    """The folder of the `.tcss` files; an editable install has them only at the top of the repository."""
    installed = _PACKAGE / "styles"
    return installed if installed.is_dir() else _PACKAGE.parent / "styles"


def style_paths() -> list[str | PurePath]:
    """Every style sheet, the app's own first: a screen's may then refine it."""
    folder = style_folder()
    app_sheet = folder / "app.tcss"
    return [app_sheet, *sorted(path for path in folder.glob("*.tcss") if path != app_sheet)]
