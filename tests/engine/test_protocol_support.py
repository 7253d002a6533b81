"""What is said of each protocol of the catalogue follows from its definition."""

from __future__ import annotations

import pytest

from swapcli.engine.protocol_support import QuoteKind, describe_protocols
from swapcli.model.network import Kind, ProtocolInfo
from swapcli.networks.catalogue import find_network, network_names


@pytest.mark.parametrize("name", network_names())
def test_a_protocol_is_quoted_and_synced_or_has_a_reason(name: str) -> None:
    network = find_network(name)
    described = describe_protocols(network)
    assert tuple(support.protocol for support in described) == network.protocols
    for support in described:
        family = support.protocol.family
        assert (support.quotes is QuoteKind.NOT_SUPPORTED) == (family is None)
        assert (support.quotes is QuoteKind.SAMPLED) == (family == "sampled")
        is_whole = support.quotes is not QuoteKind.NOT_SUPPORTED and (support.can_sync or family == "wrapper")
        assert bool(support.reason) != is_whole
        assert not (support.can_sync and family is None)


def test_the_reason_is_that_of_the_definition() -> None:
    secret = ProtocolInfo(62, "secret", "Secret", unsupported="its quotes need a signature")
    unknown = ProtocolInfo(63, "unknown", "Unknown")
    network = find_network("citrea")._replace(protocols=(secret, unknown), kind=Kind.EVM)
    assert [support.reason for support in describe_protocols(network)] == [
        "its quotes need a signature",
        "its pools are not known to this program",
    ]
