"""Types of arguments that argparse checks, with errors in words."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    return _whole(text, 1)


def natural(text: str) -> int:
    return _whole(text, 0)


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:  # nan is not, either
        raise argparse.ArgumentTypeError("a number of seconds above 0 is wanted")
    return number


def _whole(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"a whole number from {least} is wanted")
    return int(text)
