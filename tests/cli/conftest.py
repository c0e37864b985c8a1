from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The working directory of a new user, who has no configuration and no key yet."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    """A scripted provider, shared by the tests of a module; each test sets what it plays."""
    with Background() as background:
        yield background.start(Scripted().start())
