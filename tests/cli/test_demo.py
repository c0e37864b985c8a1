"""`moongate demo` as a new user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.demo_picture import FILE, output, picture
from tests.cli.sample import run

from moongate.cli.demo import loop, scenes

TITLES = [
    "Ids of another provider in the history",
    "A tool call written into the text",
    "The wrong finish reason",
    "A call split over many chunks",
    "Reasoning that the client did not send back",
]


def test_five_misbehaviours_come_broken_and_leave_repaired() -> None:
    found = list(scenes())
    assert [scene.title for scene in found] == TITLES
    ids, markers, finish, split, reasoning = found
    assert "toolu_01A9" in ids.came
    assert "toolu_01A9" not in ids.left
    assert ids.left.count('"functions.weather:0"') == 2
    assert "<|tool_call_begin|>" in markers.came
    assert "<|" not in markers.left + split.left
    assert 'call weather({"city":"Beijing"})' in markers.left
    assert finish.came.endswith('finish_reason "stop"')
    assert finish.left.endswith('finish_reason "tool_calls"')
    assert split.came.startswith('155 chunks: "<" "|"')
    assert 'call weather({"city":"Beijing"})' in split.left
    assert reasoning.came.startswith("400 thinking is enabled but reasoning_content is missing")
    assert reasoning.left.startswith("200, with reasoning_content")


def test_the_loop_fails_without_the_chain_and_works_with_it() -> None:
    lines, works = loop(repaired=False)
    assert not works
    assert lines[1].startswith("turn 2: 400 messages[1].tool_calls[0].id")
    lines, works = loop(repaired=True)
    assert works
    assert lines[1] == 'turn 2: Done, 1 result: weather({"city":"Beijing"}) -> 21 °C, clear'


def test_it_is_plain_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "\033" not in shown
    assert [line[3:] for line in shown.split("\n") if line[:1].isdigit()] == [*TITLES, "A tool loop of two turns"]
    assert "serve   (prints a link to the inspector: " in shown
    assert shown.count("   came  ") == shown.count("   left  ") == shown.count("   why   ") == 5


def test_it_takes_less_than_ten_seconds_and_needs_nothing(tmp_path: Path) -> None:
    """Not even a home folder; sockets are not opened."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LANG": "C.UTF-8"}
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('a socket')\n"
        "socket.socket.connect = socket.socket.bind = refuse\n"
        "from moongate.cli import main\n"
        "sys.exit(main(['demo']))\n"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 10
    assert list(tmp_path.iterdir()) == []


def test_the_picture_shows_the_output_of_a_real_run() -> None:
    text = output()
    assert "\033[31mcame" in text
    assert FILE.read_text(encoding="utf-8") == picture(text), "run: python -m docs.generate"
    ElementTree.fromstring(picture(text))


def test_moongate_alone_names_it_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    first = capsys.readouterr().out.split("\n", 1)[0]
    assert first.endswith("moongate demo shows in a second what moongate repairs, without a key or a network.")
