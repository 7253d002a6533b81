"""What is said of each protocol of the catalogue follows from its definition."""

from __future__ import annotations

import pytest

from swapcli.core.model.network import Kind, ProtocolInfo
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.networks.definition_files import packaged_networks
from swapcli.core.networks.quoter_definitions import parse_quoters
from swapcli.quoting.protocol_list import QuoteKind, describe_protocols
from swapcli.state.discovery.pool_discovery import find_factories


@pytest.mark.parametrize("name", network_names())
def test_a_protocol_is_quoted_and_synced_or_has_a_reason(name: str) -> None:
    network = find_network(name)
    described = describe_protocols(network)
    assert tuple(support.protocol for support in described) == network.protocols
    for support in described:
        family, unsupported = support.protocol.family, support.protocol.unsupported
        assert (support.quotes is QuoteKind.NOT_SUPPORTED) == (family is None or unsupported is not None)
        assert (support.quotes is QuoteKind.SAMPLED) == (family == "sampled")
        is_whole = support.quotes is not QuoteKind.NOT_SUPPORTED and (support.can_sync or family == "wrapper")
        assert bool(support.reason) != is_whole
        assert not (support.can_sync and family is None)


LEAST_QUOTED = {"base": (48, 63), "hyperevm": (30, 43), "monad": (20, 22), "citrea": (5, 6), "starknet": (10, 18)}
"""The least number of protocols that a node's pools are quoted of, and that of all protocols of the interface."""


@pytest.mark.parametrize("name", network_names())
def test_most_protocols_are_quoted_and_others_lack_a_named_fact(name: str) -> None:
    described = [each for each in describe_protocols(find_network(name)) if not each.protocol.is_extended]
    quoted = [
        support
        for support in described
        if support.quotes is not QuoteKind.NOT_SUPPORTED and (support.can_sync or support.protocol.family == "wrapper")
    ]
    least, whole = LEAST_QUOTED[name]
    assert len(quoted) >= least
    assert len(described) == whole
    for support in described:
        named = support.protocol.unsupported
        assert support in quoted or (named is not None and support.reason == named), support.protocol.amm_name


def test_ekubos_plain_pools_are_quoted_exactly_and_synced() -> None:
    described = {support.protocol.amm_name: support for support in describe_protocols(find_network("starknet"))}
    assert (described["Ekubo"].quotes, described["Ekubo"].can_sync) == (QuoteKind.EXACT, True)


def test_the_reason_is_that_of_the_definition() -> None:
    secret = ProtocolInfo(62, "secret", "Secret", unsupported="its quotes need a signature")
    unknown = ProtocolInfo(63, "unknown", "Unknown")
    network = find_network("citrea")._replace(protocols=(secret, unknown), kind=Kind.EVM)
    assert [support.reason for support in describe_protocols(network)] == [
        "its quotes need a signature",
        "swapcli has no maths for its pools",
    ]


@pytest.mark.parametrize(
    ("network", "amm_name", "dialects"),
    [
        ("base", "uniswapV2", ("fibrous", "own", "universal-router", "settler")),
        ("base", "izumiV3", ("fibrous", "settler")),
        ("base", "cloberV2", ("settler",)),
        ("base", "hanji", ("fibrous",)),
        ("base", "aerodromeV2Stable", ("fibrous", "own")),
        ("base", "wrapper", ("fibrous", "own", "universal-router", "settler")),
        ("monad", "kuru", ("settler",)),
        ("starknet", "Ekubo", ("fibrous",)),
        ("base", "kipseli", ()),
    ],
)
def test_the_routers_that_execute_a_protocol_are_named(network: str, amm_name: str, dialects: tuple[str, ...]) -> None:
    described = {support.protocol.amm_name: support for support in describe_protocols(find_network(network))}
    assert described[amm_name].dialects == dialects


@pytest.mark.parametrize("name", sorted(packaged_networks()))
def test_an_exact_protocol_has_a_factory_a_list_or_pools(name: str) -> None:
    """A protocol that is called exact, but whose pools nothing names, could never be part of a route."""
    network = find_network(name)
    factories, _ = find_factories(network)
    found = {each.amm_name for factory in factories for each in factory.all_protocols}
    quoters = parse_quoters(network)
    for support in describe_protocols(network):
        protocol = support.protocol
        if support.quotes is not QuoteKind.EXACT or protocol.is_wrapper:
            continue
        quoter = quoters.get(protocol.amm_name)
        is_listed = quoter is not None and bool(quoter.enumeration or quoter.pools or quoter.created)
        assert protocol.amm_name in found or is_listed, protocol.amm_name


def test_no_exact_protocol_of_base_lacks_a_factory() -> None:
    """Ids 15, 16, 18 and 19 had none; the only reason left is that of a protocol without its maths."""
    without = {each.protocol.id for each in describe_protocols(find_network("base")) if each.protocol.unsupported}
    assert without == {39, 62}
