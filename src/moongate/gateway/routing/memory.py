"""What routing has learned: it outlives a configuration, and the workers of a machine share it."""

from __future__ import annotations

from pathlib import Path

from moongate.gateway.routing.score_table import ScoreTable
from moongate.gateway.routing.session_table import SessionTable


class RoutingMemory:
    """`folder` is shared by the workers; None: there is one worker."""

    __slots__ = ("_folder", "_sessions", "scores")

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._sessions: SessionTable | None = None
        self.scores = ScoreTable(folder)

    @property
    def sessions(self) -> SessionTable:
        """Made when a route is first used: it takes half a megabyte."""
        if self._sessions is None:
            self._sessions = SessionTable(self._folder)
        return self._sessions
