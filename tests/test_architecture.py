"""The shape of the code: which way imports point, what is pure, how large a file may be.

cli, gateway → net, fast → pipeline → kimi, transformers, dialects → chat → wire → errors, payload
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "moongate"

BASE = {"errors", "payload"}
MAY_IMPORT = {
    "errors": set[str](),
    "payload": set[str](),
    "wire": BASE,
    "switches": set[str](),
    "aio": {"switches"},
    "chat": BASE | {"wire"},
    "kimi": BASE | {"wire", "chat"},
    "dialects": BASE | {"wire", "chat"},
    "transformers": BASE | {"wire", "chat"},
    "pipeline": BASE | {"wire", "chat", "kimi", "transformers", "dialects"},
    "fast": BASE | {"wire", "chat", "kimi", "dialects", "pipeline"},  # only the gateway and `moongate` itself import it
    "native": BASE | {"wire", "chat", "kimi", "dialects"},
    "prices": BASE | {"wire", "chat", "kimi"},
    "net": BASE | {"wire", "aio", "switches"},
    "httpx": BASE | {"wire", "chat", "kimi", "dialects", "pipeline", "KimiTransformer", "Session"},
    "litellm": {"chat", "errors", "KimiTransformer"},
    "sim": BASE | {"wire", "chat", "kimi", "dialects", "pipeline", "net"},
    "verify": BASE | {"wire", "chat", "kimi", "transformers", "native", "pipeline", "net", "prices", "gateway"},
    "gateway": BASE
    | {"wire", "chat", "fast", "transformers", "dialects", "native", "pipeline", "net", "aio", "switches", "prices"}
    | {"__version__"},
}
PURE = {"errors", "payload", "wire", "chat", "fast", "kimi", "transformers", "dialects", "native", "pipeline", "prices"}
IMPURE_MODULES = {
    *("asyncio", "concurrent", "ctypes", "datetime", "getpass", "glob", "http", "importlib", "io", "locale", "logging"),
    *("multiprocessing", "os", "pathlib", "platform", "queue", "random", "secrets", "select", "selectors", "shutil"),
    *("signal", "socket", "socketserver", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "uuid"),
    *("urllib.request", "urllib.error", "warnings", "httptools", "uvicorn", "uvloop", "anyio", "httpx"),
}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint", "__import__"}
JSON_LIBRARIES = {"json", "orjson", "msgspec", "ujson", "simplejson"}
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler", "process"}
MAX_FILE_LINES = 250
MAX_FUNCTION_LINES = 40

MODULES = sorted(ROOT.rglob("*.py"))


def offenders(find: Callable[[Path], Collection[object]], *packages: str) -> dict[str, Collection[object]]:
    """What a rule finds wrong, by file. One test looks at all files, because a test for each would take far longer."""
    chosen = [path for path in MODULES if not packages or part_of(path) in packages]
    found = {str(path.relative_to(ROOT)): find(path) for path in chosen}
    return {name: wrong for name, wrong in found.items() if wrong}


def part_of(path: Path) -> str:
    """The package or the top module that a file belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def imported_by(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """The full name of each module that is imported; for `from a import b` both `a` and `a.b`."""
    left_out = set[int]()
    if not for_types:
        guards = [
            node for node in nodes_of(path) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        left_out = {id(each) for guard in guards for node in guard.body for each in ast.walk(node)}
    for node in nodes_of(path):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in {path}"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def docstrings_of(tree: ast.Module) -> set[int]:
    """The ids of the nodes that are docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def test_imports_point_one_way() -> None:
    def wrong_imports(path: Path) -> set[str]:
        own = part_of(path)
        parts = {name.split(".")[1] for name in imported_by(path) if name.startswith("moongate.")}
        return parts - MAY_IMPORT[own] - {own}

    assert offenders(wrong_imports, *MAY_IMPORT) == {}


def test_class_names_are_unique() -> None:
    names: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                names.setdefault(node.name.lstrip("_"), []).append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in names.items() if len(places) > 1} == {}


def contract_members() -> set[str]:
    """What the protocols of `chat/contracts.py` and `native/exchange.py` declare."""
    files = [tree_of(ROOT / name) for name in ("chat/contracts.py", "native/exchange.py")]
    classes = [node for tree in files for node in tree.body if isinstance(node, ast.ClassDef)]
    members = [node for each in classes for node in each.body]
    functions = {node.name for node in members if isinstance(node, ast.FunctionDef)}
    return functions | {
        node.target.id for node in members if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


OPTIMISATION_WORDS = {"plain", "gate", "verbatim", "writer", "fast", "shortcut", "raw_text"}
# These look at what somebody else wrote, which may be anything.
BORDERS = {"gateway/transformers.py"}


def test_contracts_have_no_members_for_speed() -> None:
    assert contract_members() & OPTIMISATION_WORDS == set()


# mypyc puts an underscore before the name of an attribute, and gcc takes these for its own words then.
NO_ATTRIBUTES = {
    "_asm",
    "_attribute",
    "_const",
    "_imag",
    "_inline",
    "_real",
    "_restrict",
    "_signed",
    "_thread",
}


def test_attributes_can_be_compiled() -> None:
    def wrong_attributes(path: Path) -> set[str]:
        return {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)} & NO_ATTRIBUTES

    assert offenders(wrong_attributes) == {}


def test_no_member_of_a_contract_is_found_by_getattr() -> None:
    members = contract_members()

    def wrong_names(path: Path) -> list[object]:
        if str(path.relative_to(ROOT)) in BORDERS:
            return []
        asked = [
            call.args[1].value
            for call in nodes_of(path)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in ("getattr", "hasattr", "setattr")
            and len(call.args) > 1
            and isinstance(call.args[1], ast.Constant)
        ]
        return [name for name in asked if name in members]

    assert offenders(wrong_names) == {}


def test_every_part_of_the_package_has_its_place() -> None:
    parts = {part_of(path) for path in MODULES}
    assert parts - set(MAY_IMPORT) - {"__init__", "__main__", "cli"} == set()


def test_the_core_cannot_wait_log_or_read_a_clock() -> None:
    def impurities(path: Path) -> set[str]:
        imported = set(imported_by(path))
        roots = {name.split(".")[0] for name in imported} | imported
        nodes = nodes_of(path)
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        awaited = {"await" for node in nodes if isinstance(node, ast.AsyncFunctionDef | ast.Await)}
        return roots & IMPURE_MODULES | called & IMPURE_CALLS | awaited

    assert offenders(impurities, *PURE) == {}


def test_only_payload_knows_a_json_library() -> None:
    assert set(offenders(lambda path: set(imported_by(path)) & JSON_LIBRARIES)) == {"payload.py"}


def test_only_the_core_and_the_commands_know_kimi() -> None:
    def words_of_kimi(path: Path) -> list[str]:
        docstrings = docstrings_of(tree_of(path))
        nodes = nodes_of(path)
        words = [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        ]
        words += [node.id for node in nodes if isinstance(node, ast.Name)]
        words += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
        return [text for text in words if "kimi" in text.lower()]

    assert offenders(words_of_kimi, "gateway", "net", "wire", "chat", "dialects") == {}


def test_files_and_functions_are_small_and_have_names() -> None:
    def too_large(path: Path) -> list[str]:
        functions = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        large = [each.name for each in functions if (each.end_lineno or 0) - each.lineno >= MAX_FUNCTION_LINES]
        if len(path.read_text(encoding="utf-8").splitlines()) > MAX_FILE_LINES:
            large.append("the file")
        return [*large, "the name of the file"] if path.stem in EMPTY_NAMES else large

    assert offenders(too_large) == {}


def test_no_module_is_imported_in_a_circle() -> None:
    names = {".".join(("moongate", *path.relative_to(ROOT).with_suffix("").parts)): path for path in MODULES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    del names["moongate"]  # every import of a module runs it; who asks it for a name is found by the test above
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail, name))
        if name not in done:
            for each in sorted(set(imported_by(names[name], for_types=False)) & set(names) - {name}):
                visit(each, (*trail, name))
            done.add(name)

    for name in names:
        visit(name, ())
