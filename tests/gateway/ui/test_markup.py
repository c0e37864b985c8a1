"""HTML as values: what is misleading is shown as code points."""

from __future__ import annotations

import sys

from moongate.gateway.ui.markup import _MISLEADING, render, visible


def test_the_shortcut_lets_nothing_misleading_through() -> None:
    misleading = [chr(code) for code in range(sys.maxunicode + 1) if _MISLEADING.match(chr(code))]
    assert len(misleading) > 100
    assert not any(each.isprintable() for each in misleading)


def test_misleading_characters_become_code_points_and_the_rest_stays() -> None:
    assert visible("a\u202eb\x1b[31m\tc\n") == "a\\u{202e}b\\u{1b}[31m\tc\n"
    assert visible("月 – é") == "月 – é"
    assert render("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#x27;"
