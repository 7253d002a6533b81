"""The endpoints: which path and method does what, on which networks, and how it tells errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swapcli.api.network_variants import NetworkCalldata, network_variant
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Kind, Network
from swapcli.service import endpoints
from swapcli.service.error_responses import Style
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.request import EndpointRequest


def all_networks(_network: Network) -> bool:
    """On every network."""
    return True


def has_v2(network: Network) -> bool:
    """Where the second generation exists."""
    return network.has_v2 and network.kind is Kind.EVM


def is_evm(network: Network) -> bool:
    """On EVM networks."""
    return network.kind is Kind.EVM


def is_starknet(network: Network) -> bool:
    """On Starknet."""
    return network.kind is Kind.STARKNET


def takes_order(network: Network) -> bool:
    """Where GET calldata takes an order and tells errors in its own form."""
    return network_variant(network.name).network_calldata is NetworkCalldata.ORDER


def takes_signer(network: Network) -> bool:
    """Where GET calldata takes a found route and a signer."""
    return network_variant(network.name).network_calldata is NetworkCalldata.SIGNER


def gives_felts(network: Network) -> bool:
    """Where GET calldata takes an order and gives felts."""
    return network_variant(network.name).network_calldata is NetworkCalldata.FELTS


class Endpoint(NamedTuple):
    """One operation of a network. `path` is as the interface spells it; letter case does not matter to requests."""

    name: str
    method: str
    path: str
    run: Callable[[MarketRegistry, EndpointRequest], object]
    style: Style = Style.PLAIN
    where: Callable[[Network], bool] = all_networks
    has_body: bool = False

    @property
    def api_version(self) -> ApiVersion:
        """Which one it belongs to."""
        return ApiVersion.V2 if self.path.startswith("/{network}/v2/") else ApiVersion.V1


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("routeV1", "GET", "/{network}/route", endpoints.route_v1),
    Endpoint("executeV1", "POST", "/{network}/execute", endpoints.execute, Style.EXECUTE, has_body=True),
    Endpoint("calldataV1", "POST", "/{network}/calldata", endpoints.calldata_v1, has_body=True),
    Endpoint(
        "orderCalldata", "GET", "/{network}/calldata", endpoints.order_calldata, Style.OWN_CALLDATA, takes_order
    ),
    Endpoint(
        "signerCalldata", "GET", "/{network}/calldata", endpoints.signer_calldata, Style.OWN_CALLDATA, takes_signer,
        has_body=True,
    ),
    Endpoint("feltsCalldata", "GET", "/{network}/calldata", endpoints.order_calldata, where=gives_felts),
    Endpoint(
        "routeAndCalldataV1", "GET", "/{network}/routeAndCalldata", endpoints.route_and_calldata_v1, where=is_evm
    ),
    Endpoint("routeBatch", "GET", "/{network}/routeBatch", endpoints.route_batch, where=is_starknet),
    Endpoint("executeBatch", "GET", "/{network}/executeBatch", endpoints.execute_batch, where=is_starknet),
    Endpoint("routeV2", "GET", "/{network}/v2/route", endpoints.route_v2, where=has_v2),
    Endpoint(
        "calldataV2", "POST", "/{network}/v2/calldata", endpoints.calldata_v2, Style.CALLDATA_V2, has_v2, has_body=True
    ),
    Endpoint(
        "routeAndCalldataV2", "GET", "/{network}/v2/routeAndCalldata", endpoints.route_and_calldata_v2, where=has_v2
    ),
    Endpoint("tokens", "GET", "/{network}/tokens", endpoints.tokens),
    Endpoint("token", "GET", "/{network}/tokens/{address}", endpoints.token, Style.TOKEN),
    Endpoint("protocols", "GET", "/{network}/protocols", endpoints.protocols),
)  # fmt: skip
"""All that run off the event loop."""

HEALTH_V1 = "/{network}/healthcheck"
HEALTH_V2 = "/{network}/v2/healthcheck"
HEALTH_WHERE: dict[str, Callable[[Network], bool]] = {HEALTH_V1: all_networks, HEALTH_V2: has_v2}
"""Health is answered at once, also where orders queue."""
CHAINS = "/supported-chains"
LIVE = "/livez"
READY = "/readyz"
METRICS = "/metrics"
DESCRIPTION = "/openapi.json"
DOCS = "/docs"

PAGES: tuple[str, ...] = (CHAINS, LIVE, READY, METRICS, DESCRIPTION, DOCS)
PATHS: tuple[str, ...] = (*(each.path for each in ENDPOINTS), *HEALTH_WHERE, *PAGES)
"""Every path, as the log and the counters name it."""
