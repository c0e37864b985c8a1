"""The three-call task for agent frameworks: tools that record what they are asked, against the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.loops import EXPECTED_CALLS
from tests.support.misbehaviours import ANSWERED, FIRST

from moongate.sim import model_name

QUESTION = "Use the tools, then tell me what you saw."


@dataclass
class Recorder:
    """The tools of one run, as functions with the types that frameworks read."""

    seen: list[tuple[str, Any]] = field(default_factory=list)

    def get_weather(self, city: str) -> str:
        """The weather in a city.

        Args:
            city: Where.
        """
        return self._record("get_weather", city=city)

    def get_time(self, zone: str) -> str:
        """The time in a zone.

        Args:
            zone: Where.
        """
        return self._record("get_time", zone=zone)

    def read_page(self, title: str) -> str:
        """A page by its title.

        Args:
            title: Which.
        """
        return self._record("read_page", title=title)

    def _record(self, name: str, **arguments: str) -> str:
        self.seen.append((name, arguments))
        return f"result {len(self.seen) - 1}"

    @property
    def functions(self) -> list[Callable[..., str]]:
        return [self.get_weather, self.get_time, self.read_page]

    def check(self, text: str) -> None:
        """Frameworks may run the calls of one turn in any order."""
        assert sorted(self.seen) == sorted(EXPECTED_CALLS), self.seen
        assert text.startswith("Done, 3 results"), text
        assert "<|" not in text


def run_all(run: Callable[[str, Recorder], str], rows: list[tuple[str, str]] = ANSWERED) -> None:
    """`run(model, recorder)` gives the final text. All misbehaviours, then one report."""
    failed: dict[str, str] = {}
    for family, row in rows:
        recorder = Recorder()
        try:
            recorder.check(run(model_name(FIRST[family], row), recorder))
        except Exception as error:  # whatever a framework raises is a finding
            failed[f"{family} {row}"] = f"{type(error).__name__}: {error}"[:300]
    assert not failed, failed
