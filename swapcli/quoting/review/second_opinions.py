"""Run a check on several public nodes, so that no single node decides the result.

Two nodes run the check at the same time. If their results differ, more nodes run it until two agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from swapcli.core.errors import NodesDisagree, SwapcliError, UpstreamError
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.state.rpc.rpc_node import SingleRpcNode
    from swapcli.state.rpc.witness_node import Pending, WitnessNode

T = TypeVar("T")

_MAX_CHECK_S: Final = 30.0
_HINT: Final = "try again, or set a trusted node with --rpc-url"


class Opinion(NamedTuple, Generic[T]):
    """The `result` of a check on the node at `host`."""

    host: str
    node: SingleRpcNode
    result: T


class Opinions(NamedTuple, Generic[T]):
    """The results of a check on each node. `agreed` is a result that two nodes share, or the only result, otherwise
    None."""

    all: tuple[Opinion[T], ...]
    agreed: Opinion[T] | None


def find_opinions(
    nodes: Iterator[WitnessNode], check: Callable[[SingleRpcNode], T], combine: Callable[[T, T], T | None]
) -> Opinions[T]:
    """Run `check` on two nodes, and on further nodes if the first two differ or fail.

    `combine` returns the result to keep if two results agree, or None if they differ. A node on which `check` raises an
    error does not count. If `check` fails on all nodes, the first error is raised. The caller must close the nodes.
    """
    found: list[Opinion[T]] = []
    failures: list[SwapcliError] = []
    running: list[tuple[WitnessNode, Pending[T]]] = []
    for witness in nodes:
        running.append((witness, _start(witness, check)))
        if len(found) + len(running) >= 2:
            _collect(running, found, failures)
            if (agreed := _agreed(found, combine)) is not None:
                return Opinions(tuple(found), agreed)
    _collect(running, found, failures)
    if not found:
        raise failures[0] if failures else UpstreamError("no public node has responded")
    return Opinions(tuple(found), found[0] if len(found) == 1 else _agreed(found, combine))


def nodes_disagree(subject: str, opinions: Opinions[T], describe: Callable[[T], str]) -> NodesDisagree:
    """Return the error for results that differ. `subject` is the check, and `describe` turns a result into a
    sentence."""
    results = "; ".join(f"{each.host}: {describe(each.result)}" for each in opinions.all)
    hosts = [each.host for each in opinions.all]
    return NodesDisagree(
        f"nodes disagree on {subject} ({results})", hint=_HINT, details={"nodes": hosts}, is_outvoted=False
    )


def _start(witness: WitnessNode, check: Callable[[SingleRpcNode], T]) -> Pending[T]:
    from swapcli.state.rpc.witness_node import Pending

    node = _single(witness)
    pending = Pending(lambda: check(node), _MAX_CHECK_S)
    Thread(target=pending.run, daemon=True).start()
    return pending


def _single(witness: WitnessNode) -> SingleRpcNode:
    return cast("SingleRpcNode", witness.simulating)


def _collect(
    running: list[tuple[WitnessNode, Pending[T]]], found: list[Opinion[T]], failures: list[SwapcliError]
) -> None:
    """Wait for the checks that run."""
    for witness, pending in running:
        try:
            found.append(Opinion(witness.host, _single(witness), pending.result()))
        except SwapcliError as error:
            failures.append(error)
    running.clear()


def _agreed(found: list[Opinion[T]], combine: Callable[[T, T], T | None]) -> Opinion[T] | None:
    for position, opinion in enumerate(found):
        for earlier in found[:position]:
            result = combine(earlier.result, opinion.result)
            if result is not None:
                return opinion if result is opinion.result else earlier
    return None
