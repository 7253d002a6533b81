"""Ids, addresses and events of pools that do not come from this program, by family and by factory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from swapcli.core.networks.catalogue import all_network_names, find_network
from swapcli.families import FAMILIES
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import swap_shapes
from tests.core.networks.test_pool_addresses import PUBLISHED
from tests.support.outside_ids import topic_of

_FOLDER: Final = Path(__file__).parent
CREATIONS: Final[list[dict[str, Any]]] = json.loads((_FOLDER / "creations.json").read_text())
_NODE_RECORDS: Final = "tests/state/rpc/node_records.json"
EVENT_SOURCES: Final[dict[str, str]] = {
    each["topic"]: each["source"].rpartition(" ")[0] for each in json.loads((_FOLDER / "events.json").read_text())
} | dict.fromkeys(map(topic_of, ("PoolInitialized", "Swapped", "Sync")), _NODE_RECORDS)
"""Where each event is from, by its topic. On Starknet: recorded blocks and receipts."""
_RECORDED_POOLS: Final = {name: f"core/networks/recorded_{name}_pools.json" for name in ("base", "ethereum")}


class SeenPool(NamedTuple):
    """A pool of a chain: the factory's contract if this catalogue has it, the family and where the record is from."""

    network: str
    contract: str
    family: str
    source: str


@cache
def seen_pools() -> tuple[SeenPool, ...]:
    """Return the recorded pools whose id or address the tests derive, or read from the event."""
    return (*_created(), *_derived(), *_published(), *_on_starknet())


def _created() -> Iterator[SeenPool]:
    for each in CREATIONS:
        families = KINDS[each["kind"]].families
        family = families[1] if each.get("stable") else "uniswap_v4_hooked" if each.get("hooks") else families[0]
        yield SeenPool(each["network"], each.get("contract", ""), family, each["source"].partition(" ")[0])


def _derived() -> Iterator[SeenPool]:
    """Yield the recorded pools whose addresses follow from the tokens and the tier."""
    for network_name, file in _RECORDED_POOLS.items():
        document = json.loads((_FOLDER.parent / file).read_text())
        network = find_network(network_name)
        for name in sorted({row[0] for row in document["pools"]}):
            protocol = network.protocol(name)
            factory = next(each for each in find_factories(network, [name])[0])
            assert protocol is not None
            yield SeenPool(network_name, factory.address, protocol.family or "", f"tests/{file}")


def _published() -> Iterator[SeenPool]:
    for name, protocol_name, *_ in PUBLISHED:
        network = find_network(name)
        factory = next(each for each in find_factories(network, [protocol_name])[0])
        protocol = network.protocol(protocol_name)
        assert protocol is not None
        yield SeenPool(name, factory.address, protocol.family or "", "tests/core/networks/test_pool_addresses.py")


def _on_starknet() -> Iterator[SeenPool]:
    (ekubo,) = find_factories(find_network("starknet"), ["Ekubo"])[0]
    yield SeenPool("starknet", ekubo.address, "ekubo", _NODE_RECORDS)


def all_factories() -> Iterator[tuple[str, Factory]]:
    """Yield every factory of the catalogue with the name of its network."""
    for name in all_network_names():
        yield from ((name, factory) for factory in find_factories(find_network(name))[0])


def kinds_of(family: str) -> list[str]:
    """Return the kinds of contracts that a family has on any network."""
    return [kind for kind, traits in KINDS.items() if family in traits.families]


def topics_of(family: str) -> list[str]:
    """Return the topics of a family's pools and factories: of changes, creations and swaps."""
    kinds = kinds_of(family)
    events = (event for kind in kinds for event in (*KINDS[kind].events, *KINDS[kind].created))
    swaps = (topic for topic, shapes in swap_shapes().items() for shape in shapes if {*shape.kinds} & {*kinds})
    return list(dict.fromkeys((*map(topic_of, events), *swaps)))


def all_families() -> tuple[str, ...]:
    """Return all families, in the order of their names."""
    return tuple(sorted(FAMILIES))
