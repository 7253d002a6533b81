"""The arguments of Starknet calls as JSON: field elements in decimal strings, and batches of routes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from swapcli.model.network import Network
from swapcli.model.payload import Payload
from swapcli.wire.fields import checked_digits, entries
from swapcli.wire.result import RouteResult
from swapcli.wire.route import parse, render_v1

if TYPE_CHECKING:
    from swapcli.wire.shapes import RouteV1

MAX_FELT = 2**251 + 17 * 2**192
"""The greatest element of Starknet's field."""

MAX_FELTS = 20_000
MAX_BATCH = 16


def render_felts(felts: Iterable[int]) -> list[str]:
    """The arguments of a call; starknet's answer to V1 and V2 calldata of a found route."""
    return [str(felt) for felt in felts]


def parse_felts(document: object, path: str = "document") -> tuple[int, ...]:
    """The arguments of a call. Raises `InvalidInput` naming the entry."""
    return tuple(checked_digits(felt, at, 0, MAX_FELT) for at, felt in entries(document, path, MAX_FELTS))


def render_batch_routes(results: Sequence[RouteResult], network: Network) -> list[RouteV1]:
    """`routeBatch`: a route for each pair."""
    return [render_v1(result, network) for result in results]


def parse_batch_routes(document: object, network: Network) -> tuple[RouteResult, ...]:
    """`routeBatch`. Raises `NoRoute` where one of them was not found."""
    return tuple(parse(entry, network, at) for at, entry in entries(document, "document", MAX_BATCH))


def render_batch_felts(payloads: Iterable[Payload]) -> list[list[str]]:
    """`executeBatch`: the arguments of a call for each pair."""
    return [render_felts(payload.felts) for payload in payloads]


def parse_batch_felts(document: object) -> tuple[tuple[int, ...], ...]:
    """`executeBatch`."""
    return tuple(parse_felts(entry, at) for at, entry in entries(document, "document", MAX_BATCH))
