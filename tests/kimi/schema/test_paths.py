from __future__ import annotations

from moongate.kimi.schema.paths import written


def test_a_path_is_written_as_moonshot_writes_it() -> None:
    assert written(None) == "root"
    assert written(None, "required") == "required"
    assert written((((None, "properties"), "a"), "items")) == "properties.a.items"
    assert written((None, "$defs"), "A") == "$defs.A"
