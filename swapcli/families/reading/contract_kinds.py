"""The kinds of contracts from which pools are read, by name, and the kinds that each protocol uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.families import family_names, family_row, is_family, is_kind, kind_names, kind_row
from swapcli.families.reading.starknet_calls import selector
from swapcli.families.row import KindRow

T = TypeVar("T")


class _Kinds(Mapping[str, KindRow]):
    """Imports the rows of a folder on first use of one of them."""

    def __getitem__(self, name: str) -> KindRow:
        return kind_row(name)

    def __iter__(self) -> Iterator[str]:
        return iter(kind_names())

    def __len__(self) -> int:
        return len(kind_names())


KINDS: Final[Mapping[str, KindRow]] = _Kinds()
"""The row of each kind, by its name."""


class KindTable(Mapping[str, T]):
    """A value for each kind, computed from its row on first use: families from packages add kinds when they are
    used."""

    def __init__(self, compute: Callable[[KindRow], T]) -> None:
        self._compute = compute
        self._computed: dict[str, T] = {}

    def __getitem__(self, kind: str) -> T:
        if kind not in self._computed:
            self._computed[kind] = self._compute(KINDS[kind])
        return self._computed[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)


@lru_cache
def kinds_of_family(family: str, network_kind: Kind = Kind.EVM) -> tuple[str, ...]:
    """Return the contract kinds of a pool family on networks of kind `network_kind`. A family that is not read from a
    node has none."""
    if not is_family(family):  # a package's family must be loaded first, so that its kinds are known
        return ()
    of_network = (each for each in KINDS.items() if each[1].network_kind is network_kind)
    return tuple(kind for kind, row in of_network if family in row.families)


def contract_kinds(protocol: ProtocolInfo, network: Network) -> tuple[str, ...]:
    """Return the contract kinds of a protocol's pools; empty if they cannot be read.

    The definition names them (`contracts`) if the family does not determine them. Raises `ConfigError` for an unknown
    name, also of a family.
    """
    if protocol.family is not None and not is_family(protocol.family):
        raise _unknown_name(protocol, "family", protocol.family, family_names())
    for name in protocol.contracts:
        if not is_kind(name):
            raise _unknown_name(protocol, "contract kind", name, kind_names())
    if protocol.contracts or protocol.family is None:
        return tuple(protocol.contracts)
    kinds = kinds_of_family(protocol.family, network.kind)
    if len(kinds) <= 1:
        return kinds
    choose = family_row(protocol.family).kind_of_protocol
    if choose is None:
        return ()
    kind = choose(protocol, network)
    return (kind,) if KINDS[kind].network_kind is network.kind else ()


def _unknown_name(protocol: ProtocolInfo, what: str, name: str, known: Sequence[str]) -> ConfigError:
    return ConfigError(
        f'{protocol.amm_name} has the unknown {what} "{name}"',
        hint=did_you_mean(closest_names(name, known)) or f"it is one of {', '.join(known)}",
        details={"protocol": protocol.amm_name, what.split()[-1]: name},
    )


@lru_cache
def topic_of(signature: str) -> str:
    """Return the first topic of an event: the hash of its signature, in hex; on Starknet its lowest 250 bits."""
    if "(" not in signature:
        return f"0x{selector(signature):064x}"
    return f"0x{keccak256(signature.encode()).hex()}"
