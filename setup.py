"""Compiles what a request runs through, where `MOONGATE_COMPILED=1` asks for it (`make compiled`). Else: pure Python.

mypyc makes machine code of the same sources, by the types that mypy has checked. It needs mypy and a C compiler.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tokenize
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

SOURCE = Path("src/moongate")
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIMISATION = os.environ.get("MOONGATE_OPTIMISATION", "2")
COMPILED = (
    *(
        "payload.py",
        "wire/*.py",
        "chat/*.py",
        "kimi/*.py",
        "kimi/request/*.py",
        "kimi/answer/*.py",
        "kimi/markers/*.py",
        # Of the guard what each chunk runs through; its checks follow their input as deep as it goes.
        *(f"kimi/guard/{name}.py" for name in ("answer", "exchange", "held_calls", "stream")),
    ),
    *("dialects/**/*.py", "pipeline/*.py", "fast/*.py", "aio/*.py", "net/*.py"),
    *("prices/*.py", "gateway/limits/*.py"),
    # Of the store and the shared state what every request runs through.
    *(f"gateway/store/{name}.py" for name in ("record", "row_ids", "reservations", "segment", "journal", "errors")),
    *(f"gateway/store/{name}.py" for name in ("accounting", "worker_store")),
    *(f"gateway/shared/{name}.py" for name in ("connection", "resp", "script", "shared_limits", "shared_request")),
    *("gateway/*.py", "gateway/server/*.py", "gateway/http/*.py", "gateway/routing/*.py", "gateway/record/*.py"),
)
INTERPRETED = {
    # What people derive classes from, and what derives from a class of C's, must be ordinary classes.
    *(
        "chat/contracts.py",
        "chat/base.py",
        "chat/fast.py",
        "kimi/options.py",
        "kimi/tool_tokens.py",
        "kimi/config_fields.py",
    ),
    "gateway/http/pass_through.py",  # an asynchronous generator, which mypyc cannot compile
    # Compiled code has no recursion limit: this follows its input as deep as it goes.
    "kimi/answer/seen_calls.py",
    "wire/threads.py",  # it is there to run in the interpreter
    # These run once, or seldom.
    *(
        "gateway/server/run.py",
        "gateway/server/workers.py",
        "gateway/server/shared_listener.py",
        "gateway/transformers.py",
        "gateway/http/client_key.py",
    ),
    *("gateway/http/pages.py", "gateway/server/resources.py", "gateway/server/connection_limits.py"),
    *("gateway/server/response_writer.py", "pipeline/registry.py"),
    *(f"gateway/server/{name}.py" for name in ("activity", "listening", "observer", "service_manager", "stall_watch")),
    *("gateway/server/uvicorn_server.py", "gateway/server/worker_reports.py"),
}


def compiled() -> list[str]:
    """The modules that become machine code. A package's own file only names what is in it."""
    found = {path.relative_to(SOURCE).as_posix() for pattern in COMPILED for path in SOURCE.glob(pattern)}
    unknown = INTERPRETED - found
    if unknown:
        sys.exit(f"setup.py names modules that do not exist: {sorted(unknown)}")
    return [str(SOURCE / name) for name in sorted(found - INTERPRETED) if not name.endswith("__init__.py")]


def extensions() -> list[object]:
    if os.environ.get("MOONGATE_COMPILED") != "1" or "egg_info" in sys.argv:  # the latter only asks for metadata
        return []
    from mypyc.build import mypycify

    return list(mypycify(compiled(), opt_level=OPTIMISATION, debug_level="0", multi_file=True, group_name="moongate"))


class InParallel(build_ext):
    """Compiles the files of an extension on all cores. Where the compiler is gcc, it optimises across files.

    `MOONGATE_OPTIMISATION=0` leaves that out too: for tests the same C code is compiled in a tenth of the time.
    """

    def build_extensions(self) -> None:
        self.parallel = None  # the extensions share object files
        compiler: Any = self.compiler
        if OPTIMISATION == "0":
            for extension in self.extensions:
                extension.sources = together(extension.sources)
        if OPTIMISATION != "0" and "gcc" in Path(compiler.compiler_so[0]).name:
            for extension in self.extensions:
                if extension.name.endswith("__mypyc"):  # the one with all the code; the others only name its modules
                    more = ["-flto=auto", "-fno-plt", "-fno-semantic-interposition"]
                    extension.extra_compile_args = [*extension.extra_compile_args, *more]
                    extension.extra_link_args = [*extension.extra_link_args, "-flto=auto"]
        compile_one, link = compiler._compile, compiler.link_shared_object
        begun: list[Future[None]] = []

        def link_when_all_is_done(*args: Any, **named: Any) -> None:
            while begun:
                begun.pop(0).result()
            link(*args, **named)

        pool = ThreadPoolExecutor(os.cpu_count())
        compiler._compile = lambda *args: begun.append(pool.submit(compile_one, *args))
        compiler.link_shared_object = link_when_all_is_done
        try:
            super().build_extensions()
        finally:
            pool.shutdown(cancel_futures=True)  # after a mistake or Ctrl-C nothing more is begun


def together(sources: list[str]) -> list[str]:
    """Files that include these C files, one for each core: the headers are a megabyte, and are read once in each."""
    cores = os.cpu_count() or 1
    if len(sources) <= cores:
        return sources
    made = []
    for number in range(cores):
        path = Path(sources[0]).parent / f"__together_{number}.c"
        path.write_text("".join(f'#include "{Path(each).resolve()}"\n' for each in sources[number::cores]))
        made.append(str(path))
    return made


class WithoutComments(build_py):
    """Copies modules into a wheel without their comments, line for line: a wheel stays below a megabyte so."""

    def build_module(self, module: str, module_file: str, package: str) -> Any:
        result = super().build_module(module, module_file, package)
        copy = Path(result[0])
        copy.write_bytes(without_comments(copy.read_bytes().decode("utf-8")).encode("utf-8"))
        return result


def without_comments(source: str) -> str:
    """Each line with what stands before its comment."""
    lines = io.StringIO(source).readlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines)


def long_description() -> str:
    """The README for package indexes, where links into the repository lead nowhere unless they are absolute."""
    (version,) = re.findall(
        r'^__version__: Final = "(.+)"$', (SOURCE / "__init__.py").read_text(encoding="utf-8"), re.M
    )
    tree = f"{PROJECT['urls']['Source']}/{{}}/v{version}/"
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^]]*\]\()(?!\w+:|#)", rf"\g<1>{tree.format('raw')}", text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!\w+:|#)", rf"\g<1>{tree.format('blob')}", text)


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": InParallel, "build_py": WithoutComments},
    long_description=long_description(),
    long_description_content_type="text/markdown",
)
