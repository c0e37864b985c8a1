"""The page of the library's names, made of their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import moongate
import moongate.httpx

LIBRARY_PAGE = Path(__file__).parent / "library.md"
# A type that the source has without quotes: 'None', "Literal['a']", ForwardRef('str').
_QUOTED_TYPE = re.compile(
    r"""(?P<before>: |-> )(?P<call>ForwardRef\()?(?P<quote>['"])(?P<type>(?:(?!(?P=quote)).)*)(?P=quote)(?(call)\))"""
    r"""(?=$|,|\)| =)"""
)
HEAD = """# The library's names

Made of the code by `make docs`. [Embedding](embedding.md) shows how they are used; what is not listed here may change.
"""


def library_page() -> str:
    parts = [HEAD]
    for module, names in ((moongate, moongate.__all__), (moongate.httpx, moongate.httpx.__all__)):
        parts.append(f"## {module.__name__}\n")
        parts += [_entry(f"{module.__name__}.{name}", getattr(module, name)) for name in names if name != "__version__"]
    return "\n".join(parts)


def _entry(name: str, value: object) -> str:
    lines = [f"### {name}\n"]
    if inspect.isclass(value) or inspect.isfunction(value):
        lines.append(f"`{name.rpartition('.')[2]}{_signature(value)}`\n")
        lines.append(f"{_text(value)}\n")
    else:
        lines.append("A type: one of the items of an answer.\n")
    if inspect.isclass(value):
        for member, found in sorted(vars(value).items()):
            is_method = inspect.isfunction(found) or isinstance(found, classmethod | staticmethod | property)
            if is_method and not member.startswith("_") and _text(found):
                lines.append(f"- `{member}`: {_text(found)}")
        lines.append("")
    return "\n".join(lines)


def _signature(value: object) -> str:
    try:
        signature = str(inspect.signature(value))  # type: ignore[arg-type]
    except ValueError:
        return "(…)"
    return _QUOTED_TYPE.sub(lambda match: match["before"] + match["type"], signature)


def _text(value: object) -> str:
    """The first paragraph of a docstring."""
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("<", "&lt;")
