"""What the use cases of a memory share."""

from __future__ import annotations

from alaya_core.services.workspace import Workspace


class UseCases:
    """Methods over one home.

    Args:
        workspace: Its stores.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace
