"""Declarative adapters for aggregator APIs: build the request for an order and locate the quote in the response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple

FIRST: Final = "first"
"""The name of the response to the first of two requests, in templates and paths."""
KEY: Final = "key"
"""The placeholder of the API key, allowed only in headers: URLs are logged along the way."""

PLACEHOLDERS: Final = (
    "chain", "chain_id", "token_in", "token_out", "decimals_in", "decimals_out", "amount_in", "amount_in_tokens",
    "sender", "slippage_percent", "slippage_fraction", "slippage_bps", "gas_price_wei", "gas_price_gwei",
)  # fmt: skip
"""The names that a template may contain in braces, besides the key and fields of the first response."""


class RequestTemplate(NamedTuple):
    """A template for an HTTP request. The path, query and headers are text, and the JSON body is any value. All may
    contain placeholders."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: object = None


class AnswerPaths(NamedTuple):
    """The location of each value in a response, as a path such as `data.routes.0.amountOut`; None for a value that the
    response does not have.

    `output` is the expected output in base units, after all fees and before any slippage. `target`, `data` and `value`
    are the transaction; `spender` is the contract to approve if it is not the target. `problem` is the explanation of
    an error.
    """

    output: str
    gas: str | None = None
    target: str | None = None
    data: str | None = None
    value: str | None = None
    spender: str | None = None
    problem: str | None = None


class AggregatorAdapter(NamedTuple):
    """An adapter for an aggregator. Requests go to `address`. If there are two, the second may use the response to the
    first.

    `chains` are the names of its networks by chain id; None if it supports every network by chain id. `native_token` is
    the address that stands for native currency. `checks` are the values that fields of the response must have if they
    are present. `source` and `checked_on` say where these facts come from, and when they were checked. `package` is the
    installed package, with its version, that describes the aggregator; empty for aggregators from swapcli or the
    settings.
    """

    name: str
    title: str
    address: str
    chains: Mapping[int, str] | None
    native_token: str
    needs_key: bool
    requests: tuple[RequestTemplate, ...]
    answer: AnswerPaths
    checks: Mapping[str, str]
    source: str = ""
    checked_on: str = ""
    package: str = ""

    @property
    def host(self) -> str:
        """The host that is queried, with its port unless it is the default."""
        return self.address.partition("://")[2].partition("/")[0]

    @property
    def takes_key(self) -> bool:
        """Whether a request has a header for an API key."""
        return any(f"{{{KEY}}}" in value for request in self.requests for value in request.headers.values())

    def knows(self, network: Network) -> bool:
        """Return whether the aggregator can be queried for swaps on a network."""
        is_known = self.chains is None or network.chain_id in self.chains
        return is_known and network.kind.traits.has_eth_nodes
