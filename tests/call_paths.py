"""How far a reader has to jump who follows one request through the program: its crossings between modules.

A crossing is a pair of modules of which one calls the other while the request runs, however often. Read in the order in
which they first occur, the crossings are the way that a reader follows from file to file. A folder of `core` counts as
one module: its search is one question with one answer. Calls inside `core` are left out, and calls of what everything
is written in (`WORDS`: records, errors, checks of values, the facts of a network or of a pool).

A crossing goes up if the called module is in a higher layer of `test_layers`, or if it imports the calling module,
itself or through others: it was handed down as a function, so the reader has to find out who handed it down.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import swapcli
from tests.test_layers import folder_of, import_graph, is_in, layer_index

WORDS = (
    "core.records", "core.errors", "core.encoding", "core.validation", "core.model", "core.networks", "families",
    "interface.interface_by_network", "errors",
)  # fmt: skip
_ROOT = Path(swapcli.__file__).parent
_TRANSPARENT = "core.validation.argument_types"
"""Wraps functions of the library, and calls what it wraps."""
_OUTSIDE = ""
"""The caller of the request, and of what libraries call."""


class Crossing(NamedTuple):
    """A call from one module into another, without the program's name."""

    caller: str
    called: str

    @property
    def goes_up(self) -> bool:
        """Whether the caller's layer is below the called module."""
        lower, upper = (layer_index(name.split(".")[0]) for name in self)
        return lower < upper or (self.caller in reachable(self.called) and self.called not in reachable(self.caller))


class CallPath(NamedTuple):
    """The crossings of a request, in the order in which they first occur."""

    crossings: tuple[Crossing, ...]

    @property
    def upward(self) -> tuple[Crossing, ...]:
        """The crossings from a lower into a higher layer."""
        return tuple(each for each in self.crossings if each.goes_up)


def trace(work: Callable[[], object]) -> CallPath:
    """Run `work` twice, first to import what it needs, and return the path of the second run in this thread."""
    work()
    found: dict[Crossing, None] = {}
    stack: list[tuple[FrameType, str]] = []

    def observe(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (name := module_of(frame.f_code)):
            caller = stack[-1][1] if stack else _OUTSIDE
            stack.append((frame, name))
            if caller not in ("", name) and _is_followed(caller, name):
                found[Crossing(caller, name)] = None
        elif event == "return" and stack and stack[-1][0] is frame:
            stack.pop()

    sys.setprofile(observe)
    try:
        work()
    finally:
        sys.setprofile(None)
    return CallPath(tuple(found))


@cache
def module_of(code: CodeType) -> str:
    """Return the module of a function without the program's name, empty for libraries and for the body of a module."""
    file = Path(code.co_filename)
    if code.co_name == "<module>" or not file.is_relative_to(_ROOT):
        return _OUTSIDE
    name = ".".join(file.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
    if name == _TRANSPARENT:
        return _OUTSIDE
    return folder_of(name) if is_in(name, {"core"}) else name


def _is_followed(caller: str, called: str) -> bool:
    return not is_in(called, WORDS) and not (is_in(caller, {"core"}) and is_in(called, {"core"}))


@cache
def reachable(module: str) -> frozenset[str]:
    """Return the modules that a module imports, itself or through others."""
    return frozenset(_walk(module, _graph()))


@cache
def _graph() -> Mapping[str, set[str]]:
    return import_graph()


def _walk(module: str, graph: Mapping[str, set[str]]) -> Iterator[str]:
    seen, waiting = {module}, [module]
    while waiting:
        for target in graph.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
                yield target
