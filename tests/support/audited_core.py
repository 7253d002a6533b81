"""Run a program from stdin, and print as JSON everything it does outside the package and Python's library.

It runs in a separate environment that contains only the wheel: `tests/test_pure_core.py`. `sys.addaudithook` reports
the audited events; clocks and the environment, which are not audited, raise an error here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from types import CodeType
from typing import Any, NoReturn

HARMLESS = {
    "import", "compile", "exec", "marshal.loads", "code.__new__", "function.__new__", "sys._getframe", "builtins.id",
    "object.__getattr__", "object.__setattr__", "object.__delattr__",
}  # fmt: skip
READS = {"open", "os.listdir", "os.scandir"}
"""Events that name a file or folder, which must belong to the package or to Python."""
ROOTS = tuple(os.path.realpath(each) + os.sep for each in (sys.prefix, sys.base_prefix))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CLOCKS = (
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
    "process_time_ns", "thread_time", "localtime", "gmtime", "sleep",
)  # fmt: skip


class NoEnvironment(dict[str, str]):
    """An environment that no program may read."""

    def refuse(self, *_: object) -> NoReturn:
        raise AssertionError("the program uses the environment")

    __getitem__ = __contains__ = __setitem__ = __delitem__ = __iter__ = get = refuse


def is_inside(path: object) -> bool:
    """Return whether a path belongs to the package or to Python."""
    return isinstance(path, str | bytes) and os.path.realpath(os.fsdecode(path)).startswith(ROOTS)


def run(program: CodeType) -> list[str]:
    """Run a program, and return everything it did outside."""
    found: list[str] = []

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in HARMLESS:
            return
        is_read = event in READS and is_inside(arguments[0]) and not (event == "open" and arguments[2] & WRITES)
        if not is_read:
            found.append(f"{event} {arguments!r:.200}")

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("the program looks at a clock")

    for name in CLOCKS:
        setattr(time, name, refuse)
    for name, replacement in (("environ", NoEnvironment()), ("urandom", refuse)):
        setattr(os, name, replacement)
    sys.addaudithook(watch)
    exec(program, {"__name__": "program"})
    return found


if __name__ == "__main__":
    before = set(sys.modules)
    outside = run(compile(sys.stdin.read(), "program", "exec"))
    print(json.dumps({"outside": outside, "modules": sorted(set(sys.modules) - before)}))
