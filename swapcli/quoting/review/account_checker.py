"""Complete a Starknet account's transaction on a node: its nonce and resource bounds."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, cast

from swapcli.core.errors import InvalidOption
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.records import NamedTuple
from swapcli.payload.checks.presign_checks import CheckOptions, PayloadCheck
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.payload.dialects import router_dialect
from swapcli.payload.signing.account_fee import EstimatesFees, read_invoke
from swapcli.payload.transactions_to_send import traded_tokens

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.quote_results import QuoteResult
    from swapcli.quoting.sources.quote_source import QuoteSource


class AccountChecker(NamedTuple):
    """The sender, and a node on which the sender's account exists. Its methods are the same as in `PayloadChecker`."""

    requested: CheckOptions
    node: EstimatesFees
    network: Network

    def check_quoted(
        self, answer: QuoteResult, payload: UnsignedTransaction, variants: RoutePayloads | None
    ) -> PayloadCheck:
        """Complete the transaction for a quote. Raises `SimulationError` and `UpstreamError`."""
        del variants
        return self._complete(payload, answer.state_source, (answer.order.token_in, answer.order.token_out))

    def check_built(
        self,
        fresh_source: QuoteSource,
        result: RouteResult,
        payload: UnsignedTransaction,
        variants: RoutePayloads | None,
    ) -> PayloadCheck:
        """Complete the transaction for an earlier route. Raises the same errors as `check_quoted`."""
        del variants
        tokens = traded_tokens(result, payload, fresh_source.network)
        return self._complete(payload, fresh_source.state_source, tokens)

    def _complete(self, payload: UnsignedTransaction, origin: StateSource, tokens: tuple[Token, Token]) -> PayloadCheck:
        sender = self.requested.sender
        assert sender is not None
        calls = router_dialect(self.network).build_transactions(payload)
        with closing(self.node):
            tag = BlockTag.PENDING if origin.tag is BlockTag.PENDING else BlockTag.LATEST
            invoke = read_invoke(self.node, sender, calls, self.node.read_head(tag).block)
        ends = TradedTokens(*tokens, self.network.native)
        return PayloadCheck(ends, None, None, invoke.fee, sender=sender, invoke=invoke)


def new_account_checker(
    nodes: NodeOpener, network: Network, requested: CheckOptions, simulate_name: str
) -> AccountChecker:
    """Return the checker of an account's transactions, which uses the node from which quotes are read.

    Raises `InvalidOption` if a simulation is requested (`simulate_name` is that option), or if there is no node.
    """
    if requested.simulate:
        raise InvalidOption(
            f"{simulate_name} works on EVM networks only, not on {network.name}",
            hint="give only the sender: estimating the fee already simulates the swap",
        )
    node = nodes.require_quoted_node(network)
    return AccountChecker(requested, cast("EstimatesFees", node), network)
