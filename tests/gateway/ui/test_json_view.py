from __future__ import annotations

from moongate.gateway.ui.json_markup import block
from moongate.gateway.ui.json_view import MAX_LINES, MAX_PATH, child_path, differences, json_lines


def test_lines_have_the_path_of_their_place() -> None:
    lines = [(line.depth, line.path, line.text) for line in json_lines({"a": [1, {"b": "x"}], "c": {}})]
    assert lines == [
        (0, "", "{"),
        (1, "a", '"a": ['),
        (2, "a[0]", "1,"),
        (2, "a[1]", "{"),
        (3, "a[1].b", '"b": "x"'),
        (2, "a[1]", "}"),
        (1, "a", "],"),
        (1, "c", '"c": {}'),
        (0, "", "}"),
    ]


def test_a_long_name_is_not_in_the_path_of_each_line_below_it() -> None:
    """A client chooses names: a megabyte of name with thousands of values below it would be gigabytes of paths."""
    lines = json_lines({"n" * 500_000: [[index] for index in range(10_000)]})
    assert len(lines) == MAX_LINES + 1
    assert max(len(line.path) for line in lines) < 2 * MAX_PATH
    path = ""
    for _ in range(100):
        path = child_path(path, "n" * 100)
    assert len(path) < 2 * MAX_PATH


def test_what_stands_in_a_marked_place_is_marked() -> None:
    before, after = {"a": 1, "b": {"c": [1, 2]}, "bc": 1}, {"a": 1, "b": {"c": [1, 3]}, "d": {"e": {"f": 1}}, "bc": 1}
    gone, new = differences(before, after)
    assert (gone, new) == ({"b.c[1]"}, {"b.c[1]", "d"})
    marked = [
        line.split("<mark>")[1].split("</mark>")[0] for line in block(after, new).split("</span>") if "<mark>" in line
    ]
    assert marked == ["3", "&quot;d&quot;: {", "&quot;e&quot;: {", "&quot;f&quot;: 1", "}", "},"]
