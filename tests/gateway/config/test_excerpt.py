from __future__ import annotations

import pytest

from moongate.gateway.config.excerpt import WIDTH, excerpt


@pytest.mark.parametrize(
    ("line", "column", "shown", "under"),
    [
        ('  "port": 3000', 15, '"port": …', 9),
        ('  "api_key": "sk-canary" // canary', 25, '"api_key": "…" …', 14),
        ('"api_key": sk-canary,', 12, '"api_key": …,', 11),
        ('"api_key": "sk-canary', 12, '"api_key": …', 11),
        ('"api_key": "sk-\\"canary\\', 12, '"api_key": …', 11),
        ("'api_key': 'canary'", 1, "…: …", 0),
        ('{"sk-canary-1": true, "a": null}', 2, '{"…": true, "a": null}', 1),
        ('["canary" "canary"]', 10, '["…" "…"]', 4),
        ('canary */ "a": {"b": [1 2]}', 24, '… … "a": {"b": [… …]}', 17),
        ('\t{"a": 1}}', 10, '{"a": …}}', 8),
    ],
)
def test_names_and_punctuation_are_shown_and_values_hidden(line: str, column: int, shown: str, under: int) -> None:
    head = "  12 | "
    assert excerpt(line, 12, column) == f"\n{head}{shown}\n{' ' * (len(head) + under)}^"
    assert "canary" not in excerpt(line, 12, column)


def test_a_blank_line_is_not_shown() -> None:
    assert excerpt(" \r", 1, 2) == ""


def test_a_long_line_is_cut_around_the_arrow() -> None:
    line = "[" + '"x",' * 200 + "] }"
    _, shown, arrow = excerpt(line, 1, len(line)).split("\n")
    assert len(shown) <= len("  1 | ") + WIDTH
    assert shown[arrow.index("^")] == "}"
