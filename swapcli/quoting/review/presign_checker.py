"""Check a transaction on a node before it is signed: the sender's balances, a simulation, and the fields to be
signed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from swapcli.core.errors import InsufficientBalance, SimulationError, SwapcliError, UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.payload.dialects import has_variants, router_dialect
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.quoting.swap_quote import CheckedSwap, PreparesSwaps, SwapQuote, bind_quote
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.router_findings import RouterFindings
    from swapcli.core.model.signing_figures import NodeFigures
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.payload.checks.presign_checks import CheckOptions, PayloadCheck
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.payload.signing.signing_fields import SigningPlan
    from swapcli.payload.variant_memory import VariantMemory
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.config import Settings
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.review.account_checker import AccountChecker
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.state.agreements_file import AgreementsFile
    from swapcli.state.rpc.node import StateOverride
    from swapcli.state.rpc.rpc_node import RpcNode, SingleRpcNode
    from swapcli.state.rpc.witness_node import WitnessNode

_HINT_OWN_VARIANTS: Final = (
    "only the service's router variant was simulated; quote without a service to try all variants"
)


AnyChecker: TypeAlias = "PayloadChecker | AccountChecker"
"""A checker for any kind of network."""


class PayloadChecker(NamedTuple):
    """The requested checks, and the node that makes them. `second_node` may contradict the first node.

    `separate_nodes` opens public nodes, two of which must get the same result. It yields None if other nodes are used.
    """

    requested: CheckOptions
    node: RpcNode
    network: Network
    memory: VariantMemory
    second_node: RpcNode | None = None
    agreements: AgreementsFile | None = None
    separate_nodes: Callable[[], AbstractContextManager[Iterator[WitnessNode] | None]] = nullcontext

    def check_quoted(
        self, answer: QuoteResult, payload: UnsignedTransaction, variants: RoutePayloads | None
    ) -> PayloadCheck:
        """Check the transaction for a quote. `variants` builds it for other router variants. Raises the same errors as
        `check_payload`."""
        order = answer.order
        tokens = order.token_in, order.token_out
        if isinstance(answer, RemoteQuote):
            return self._check(payload, answer.state_source, tokens, None, wei_usd=_wei_usd(answer))
        gas_wei, wei_usd = answer.quote.gas_wei, answer.quote.wei_usd
        return self._check(payload, answer.state_source, tokens, gas_wei, variants=variants, wei_usd=wei_usd)

    def check_built(
        self,
        fresh_source: QuoteSource,
        result: RouteResult,
        payload: UnsignedTransaction,
        variants: RoutePayloads | None,
    ) -> PayloadCheck:
        """Check the transaction that `fresh_source` built from a route. Raises the same errors as `check_quoted`."""
        from swapcli.payload.transactions_to_send import traded_tokens

        tokens = traded_tokens(result, payload, fresh_source.network)
        wei_usd = self._price_wei(fresh_source)
        return self._check(payload, fresh_source.state_source, tokens, None, variants=variants, wei_usd=wei_usd)

    def _price_wei(self, source: QuoteSource) -> float | None:
        """Return the price of one wei in USD on a source's state; None if unknown, or if no fees are read."""
        from swapcli.quoting.token_prices import price_tokens

        if self.requested.sender is None:
            return None
        with suppress(SwapcliError):
            price = price_tokens(source, [self.network.native]).prices[0].price_usd
            return None if price is None else price / 10**self.network.native.decimals
        return None

    def _check(
        self,
        payload: UnsignedTransaction,
        origin: StateSource,
        tokens: tuple[Token, Token],
        gas_wei: int | None,
        *,
        variants: RoutePayloads | None = None,
        wei_usd: float | None = None,
    ) -> PayloadCheck:
        from swapcli.payload.checks.presign_checks import check_payload
        from swapcli.payload.checks.simulated_variants import TradedTokens

        ends = TradedTokens(*tokens, self.network.native)

        def check(node: SingleRpcNode) -> PayloadCheck:
            return check_payload(
                node,
                self.requested,
                payload,
                origin,
                ends,
                gas_wei,
                is_rounded=payload.rounding is not None,
                variants=variants,
            )

        with closing(self.node), self.separate_nodes() as separate:
            try:
                nodes, checked = ([self.node], check(self.node)) if separate is None else _check_twice(separate, check)
            except SimulationError as error:
                if origin.service_url is not None and has_variants(self.network):
                    error.hint = _HINT_OWN_VARIANTS
                raise
            if variants is not None and self.requested.simulate:
                self.memory.learn(nodes[0], variants, checked, int(SYSTEM_CLOCK.now_s()))
                self._remember_agreement(variants, checked, origin)
            elif variants is not None:
                checked = checked._replace(read_payload=self.memory.without_stale(nodes[0], variants))
            payload = checked.read_payload.payload if checked.read_payload else payload
            return checked._replace(signing=self._plan_signing(nodes, payload, checked, wei_usd))

    def _remember_agreement(self, variants: RoutePayloads, checked: PayloadCheck, origin: StateSource) -> None:
        """Record the protocols of a route that paid exactly its quote, if the simulation has shown it."""
        if not checked.proven or self.agreements is None or origin.block is None or origin.timestamp is None:
            return
        from swapcli.state.agreements_file import Agreement

        pools = (variants.pools.get(key) for key in variants.result.pool_keys)
        swaps = Counter(pool.protocol for pool in pools if pool and not pool.is_wrapper)
        found = {name: Agreement(origin.block, origin.timestamp, count) for name, count in swaps.items()}
        self.agreements.add(self.network.chain_id, found)

    def _plan_signing(
        self, nodes: Sequence[SingleRpcNode], payload: UnsignedTransaction, checked: PayloadCheck, wei_usd: float | None
    ) -> SigningPlan | None:
        """Read the nonce, gas and fees of the transactions; None without a sender. Raises `UnusualFees`.

        If the first node's figures are unusual, the second node's figures are used.
        """
        if self.requested.sender is None:
            return None
        plan = self._read_plan(nodes[0], nodes[1:], payload, checked, wei_usd)
        if plan.excesses and len(nodes) > 1:
            with suppress(UpstreamError):
                plan = self._read_plan(nodes[1], (), payload, checked, wei_usd)
        if not plan.excesses:
            return plan
        from swapcli.payload.checks.settlement import settle
        from swapcli.payload.checks.simulated_variants import check_router

        if not self.requested.allows_fees:
            check_router(nodes[0], payload, nodes[0].read_head(checked.tag).block)
        allowed = (FindingCode.FEES_UNUSUAL,) if self.requested.allows_fees else ()
        details = {"reasons": [each.message for each in plan.excesses]}
        return plan._replace(excesses=settle(plan.excesses, allowed, details=details))

    def _read_plan(
        self,
        node: SingleRpcNode,
        others: Sequence[SingleRpcNode],
        payload: UnsignedTransaction,
        checked: PayloadCheck,
        wei_usd: float | None,
    ) -> SigningPlan:
        from swapcli.core.routing.gas import before_refunds
        from swapcli.payload.signing.signing_fields import SwapGas, read_signing_plan
        from swapcli.payload.signing.signing_limits import FeeLimits

        sender = self.requested.sender
        assert sender is not None
        transactions = router_dialect(self.network).build_transactions(payload, checked.allowances)
        gas = SwapGas(
            checked.simulation.gas_used if checked.simulation else None,
            None if payload.gas_units is None else before_refunds(payload.gas_units),
        )

        def find_grants() -> list[StateOverride] | None:
            from swapcli.state.transfers.token_slots import find_grants

            at = node.read_head(checked.tag).block
            return find_grants(node, at, sender, payload.approvals, checked.allowances)

        return read_signing_plan(
            node,
            sender,
            transactions,
            self.network,
            gas,
            tag=checked.tag,
            find_grants=find_grants,
            limits=FeeLimits(self.requested.max_fee_usd, wei_usd, self.network.gas_price_wei),
            second=self._read_second(sender, others),
        )

    def _read_second(self, sender: str, others: Sequence[SingleRpcNode]) -> NodeFigures:
        """Return the second node's figures; empty if there is no such node, or if it does not respond.

        Public nodes may legitimately have different pending transactions, so only their fees are compared.
        """
        from swapcli.core.model.signing_figures import NodeFigures
        from swapcli.payload.signing.signing_values import read_node_figures

        for node in others:
            with suppress(UpstreamError):
                return read_node_figures(node, sender, self.network.chain_id)._replace(pending_nonce=None)
        if self.second_node is not None:
            with closing(self.second_node), suppress(UpstreamError):
                return read_node_figures(self.second_node, sender, self.network.chain_id)
        return NodeFigures()


def _check_twice(
    separate: Iterator[WitnessNode], check: Callable[[SingleRpcNode], PayloadCheck]
) -> tuple[Sequence[SingleRpcNode], PayloadCheck]:
    """Return the result on which two public nodes agree, and these nodes. Raises as `check_payload`, and
    `NodesDisagree`.

    If two nodes report the same error, it is raised.
    """
    from swapcli.quoting.review.second_opinions import find_opinions, nodes_disagree

    def outcome(node: SingleRpcNode) -> PayloadCheck | SwapcliError:
        try:
            return check(node)
        except (SimulationError, InsufficientBalance) as error:
            if isinstance(error, SimulationError) and "block" not in error.details:
                raise  # the node cannot simulate the swap, which says nothing about it
            return error

    opinions = find_opinions(separate, outcome, _shared_outcome)
    if opinions.agreed is None:
        raise nodes_disagree("the checks of the swap", opinions, _describe_outcome)
    agreed = opinions.agreed.result
    if isinstance(agreed, SwapcliError):
        raise agreed
    sharing = [each.node for each in opinions.all if _shared_outcome(agreed, each.result) is not None]
    return sharing, agreed


def _shared_outcome(
    one: PayloadCheck | SwapcliError, other: PayloadCheck | SwapcliError
) -> PayloadCheck | SwapcliError | None:
    """Return one of two outcomes of the checks if they match, otherwise None."""
    if isinstance(one, SwapcliError) or isinstance(other, SwapcliError):
        return one if type(one) is type(other) else None
    simulated, again = one.simulation, other.simulation
    if simulated and again and simulated.block == again.block and simulated.received != again.received:
        return None
    return one


def _describe_outcome(outcome: PayloadCheck | SwapcliError) -> str:
    return outcome.message if isinstance(outcome, SwapcliError) else "it passes"


def has_own_router(settings: Settings, network: Network) -> bool:
    """Return whether the settings name a router for a network."""
    own = settings.networks.get(network.name)
    return own is not None and own.router is not None and own.router == network.router


def mark_revocations(
    payload: UnsignedTransaction,
    state: StateSource,
    nodes: NodeOpener,
    network: Network,
    checked: PayloadCheck | None = None,
) -> UnsignedTransaction:
    """Return the payload, with its approval marked if the token rejects changing one nonzero allowance to another.

    A node is queried if the state is live and the sender's allowance is unknown. Otherwise, and if the node fails, the
    network's definition decides. Raises `ConfigError`.
    """
    is_known = checked is not None and checked.holdings is not None
    asked = [each for each in payload.approvals if each.expiration_s is None and not each.is_revoked_first]
    if is_known or not asked or not state.is_live or state.service_url is not None:
        return payload
    from swapcli.payload.simulation.allowance_probe import must_be_revoked_first

    with suppress(UpstreamError):
        node = nodes.node(network)
        if node is None:
            return payload
        with closing(node):
            at = state.block if state.block is not None else node.read_head(BlockTag.LATEST).block
            if must_be_revoked_first(node, at, asked[0].token):
                marked = [each._replace(is_revoked_first=each in asked) for each in payload.approvals]
                return payload._replace(approvals=tuple(marked))
    return payload


def new_checker(
    nodes: NodeOpener, routers: RouterMemory, network: Network, node: RpcNode, requested: CheckOptions
) -> PayloadChecker:
    """Return the checker of transactions on a node. It saves the router variants that it finds in a file next to the
    stores."""
    from swapcli.payload.variant_memory import VariantMemory

    second_node = nodes.second_node(network) if requested.sender else None
    separate = nullcontext if nodes.is_named(node) else partial(nodes.separate_nodes, network)
    return PayloadChecker(
        requested, node, network, VariantMemory(routers.file()), second_node, routers.agreements(), separate
    )


def _wei_usd(answer: RemoteQuote) -> float | None:
    """Return the price of one wei in USD that a service uses for its quote's gas; None if it reports none."""
    result = answer.result
    return result.gas_usd / result.gas_cost_wei if result.gas_usd and result.gas_cost_wei else None


def route_payloads(
    findings: Callable[[Network], RouterFindings],
    network: Network,
    result: RouteResult,
    pools: Mapping[str, Pool] | None,
    terms: SwapTerms,
    built: UnsignedTransaction,
) -> RoutePayloads | None:
    """Return a route's payload for each router variant, or None for another dialect, or if the pools are unknown.

    `findings` returns what is known about a network's router. `built` is the payload for the assumed variant.
    """
    if pools is None or not has_variants(network):
        return None
    from swapcli.payload.payloads_by_variant import RoutePayloads

    return RoutePayloads(
        result, pools, network, terms, findings(network), built.gas_units, built.witnesses, built.unconfirmed
    )


def in_variant(
    answer: QuoteResult, payloads: RoutePayloads | None, checked: PayloadCheck | None, payload: UnsignedTransaction
) -> tuple[QuoteResult, UnsignedTransaction]:
    """Return the quote and its payload for the router variant that the checks found, with amounts recomputed for it."""
    read = checked.read_payload if checked else None
    if read is None or payloads is None or not isinstance(answer, LocalQuote) or read.payload == payload:
        return answer, payload
    done = payloads.replay(read.variant)
    return answer._replace(
        network=answer.network._replace(router_variant=read.variant),
        quote=answer.quote._replace(steps=done.steps, amount_out=done.amount_out),
        result=answer.result._replace(output_amount=done.amount_out),
    ), read.payload


def check_swap(
    quote: SwapQuote,
    payload: UnsignedTransaction,
    terms: SwapTerms,
    checker: AnyChecker | None,
    nodes: NodeOpener,
    routers: RouterMemory,
    market: PreparesSwaps,
) -> CheckedSwap:
    """Return a quote of `market` and its payload after the checks of `checker`. Raises the same errors as
    `check_quoted`."""
    answer = quote.answer
    pools = answer.pools if isinstance(answer, LocalQuote) else None
    variants = route_payloads(routers.findings, answer.network, answer.result, pools, terms, payload)
    checked = checker._replace(network=answer.network).check_quoted(answer, payload, variants) if checker else None
    answer, payload = in_variant(answer, variants, checked, payload)
    payload = mark_revocations(payload, answer.state_source, nodes, answer.network, checked)
    return CheckedSwap(
        quote if answer is quote.answer else bind_quote(answer, quote.terms, market), payload, checked, variants
    )


class BuiltSwap(NamedTuple):
    """A payload with its route on `pools` (by key, or None if unknown), the tokens it trades, and the source of its
    quote.

    `network` has the router variant for which the payload was built.
    """

    payload: UnsignedTransaction
    result: RouteResult
    pools: Mapping[str, Pool] | None
    network: Network
    ends: tuple[Token, Token]
    origin: StateSource
    source: QuoteSource


def judge_built(nodes: NodeOpener, built: BuiltSwap, sender: str | None) -> Verdict | None:
    """Return the verdict on a payload, or None if the settings name no node for it. Raises `InvalidOption`."""
    if not nodes.checks_swaps(built.network):
        return None
    from swapcli.payload.checks.simulated_variants import TradedTokens
    from swapcli.payload.verdict.swap_rehearsal import JudgedSwap
    from swapcli.quoting.review.verdict import judge
    from swapcli.quoting.sources.quote_source import known_market

    payload, result, pools, network, ends, origin, source = built
    tokens = TradedTokens(*ends, network.native)
    known = known_market(source)
    pair = {payload.call.route.token_in, payload.call.route.token_out}
    comparable = known.trading(pair) if known else {}
    return judge(nodes, JudgedSwap(payload, result, pools, network, tokens, origin), sender, comparable)
