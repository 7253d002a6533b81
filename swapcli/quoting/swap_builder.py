"""Build and check the transactions for quotes from one market, before the user signs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from swapcli.core.errors import InvalidOption
from swapcli.core.model.swap_terms import HANDOFF_LIFETIME_S
from swapcli.core.records import NamedTuple
from swapcli.interface.slippage import SLIPPAGE_RANGE
from swapcli.payload.transactions_to_send import traded_tokens
from swapcli.quoting.config import override_settings
from swapcli.quoting.live_choice import own_node_hint
from swapcli.quoting.prepared_payload import BuiltPayload, PreparedRoute
from swapcli.quoting.price_policy import PriceUse, check_use
from swapcli.quoting.quote_options import (
    check_allowed_recipient,
    parse_account,
    parse_address_option,
    parse_destination,
    require_swap_terms,
    warning_limits,
)
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.review.presign_checker import (
    BuiltSwap,
    check_swap,
    has_own_router,
    judge_built,
    mark_revocations,
    new_checker,
    route_payloads,
)
from swapcli.quoting.sources.quote_source import payload_impact, payload_network, route_pools
from swapcli.quoting.swap_quote import PreparedSwap, PreparesSwaps, SwapQuote, bind_quote
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.api_version import ApiVersion
    from swapcli.core.model.finding import Finding
    from swapcli.core.model.network import Network
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.config import Settings
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.price_policy import PriceRequest
    from swapcli.quoting.quote_keywords import TransactionKeywords
    from swapcli.quoting.review.presign_checker import AnyChecker
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.swap_check import SwapCheck


class RequestedChecks(NamedTuple):
    """The checks to make on a payload: its checker, if any, and whether to show the approvals. `option_name` returns
    the name of a setting for errors. If `refuses` is true, a verdict that blocks the swap is raised as an error."""

    checker: AnyChecker | None = None
    with_approval: bool = True
    option_name: Callable[[str], str] = str
    refuses: bool = True

    @property
    def sender(self) -> str | None:
        """The sender for whom the payload is checked, if any."""
        return self.checker.requested.sender if self.checker else None


class SwapBuilder:
    """Builds and checks the transactions for quotes that `market` made from `source`."""

    def __init__(
        self,
        source: QuoteSource,
        nodes: NodeOpener,
        routers: RouterMemory,
        price_request: PriceRequest,
        market: PreparesSwaps,
    ) -> None:
        self._source, self._nodes, self._routers = source, nodes, routers
        self._price_request, self._market = price_request, market

    def prepare(self, quote: SwapQuote, options: TransactionKeywords) -> PreparedSwap:
        """Return the transactions of a quote with the warnings to read before signing. Raises the same errors as
        `Market.prepare`."""
        return self._prepare(quote, options)

    def check(self, quote: SwapQuote, options: TransactionKeywords) -> SwapCheck:
        """Return the verdict on a quote's transactions, and the warnings. Raises the same errors as `Market.check`."""
        from swapcli.quoting.swap_check import SwapCheck

        return SwapCheck(self._prepare(quote, options, refuses=False))

    def permit(self, quote: SwapQuote, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the router's approval. Raises the same errors as
        `Market.permit`."""
        from swapcli.payload.signing.deadlines import parse_deadline_s
        from swapcli.quoting.permits import PermittedSwap, permit_message

        address = parse_address_option(owner, quote.network, "owner")
        deadline_s = parse_deadline_s(str(deadline), _now_s(quote), "deadline")
        terms = quote.terms._replace(recipient=address, deadline_s=deadline_s)
        router = self._source.build(quote.answer, terms).to
        swap = PermittedSwap(quote.route, quote.network, router, address, deadline_s)
        return permit_message(self._nodes, swap).document()

    def execute(self, document: Mapping[str, object], options: TransactionKeywords) -> PreparedRoute:
        """Return the transactions for an earlier route on the current state. Raises the same errors as
        `Market.execute`."""
        from swapcli.interface.route import parse_posted_result

        network = self._source.network
        route = parse_posted_result(dict(document), network)
        settings = self._settings(options)
        now_s = self._source.state_source.network_time_s(SYSTEM_CLOCK.now_s())
        terms = self._read_terms(options, settings, (settings.slippage_ppm, route.api_version), now_s)
        if options.get("signature") is not None:
            from swapcli.quoting.permits import permitted_network

            network = permitted_network(self._source, route, terms)
        terms = self._with_sender(route, network, terms, options)
        payload = self._source.build(route, terms)
        if not options.get("simulate"):
            state = self._source.state_source
            check_use(state, PriceUse.PAYLOAD, self._price_request, node_hint=own_node_hint(network))
        checks = self._checks(payload_network(self._source.network, payload), settings, options)
        return self.check_route(route, payload, terms, checks, settings)

    def _prepare(self, quote: SwapQuote, options: TransactionKeywords, *, refuses: bool = True) -> PreparedSwap:
        from swapcli.quoting.warnings import settle_impact

        network, settings = quote.network, self._settings(options)
        slippage_ppm = settings.slippage_ppm if options.get("slippage") is not None else quote.terms.slippage_ppm
        terms = self._read_terms(options, settings, (slippage_ppm, quote.route.api_version), _now_s(quote))
        recipient = terms.required_recipient
        if (slippage_ppm, recipient) != (quote.terms.slippage_ppm, quote.terms.recipient):
            changed = quote.terms._replace(slippage_ppm=slippage_ppm, recipient=recipient)
            quote = bind_quote(quote.answer, changed, self._market)
        if not options.get("simulate"):  # a simulation shows the real output
            check_use(quote.state, PriceUse.PAYLOAD, self._price_request, node_hint=own_node_hint(network))
        settle_impact(quote.price_impact, quote.state, settings, unread_gain_bps=quote.figures.unread_gain_bps)
        terms = self._with_sender(quote.route, network, terms, options)
        payload = self._source.build(quote.answer, terms)
        checks = self._checks(network, settings, options)._replace(refuses=refuses)
        return self.check_swap(quote, payload, terms, checks)

    def _settings(self, options: TransactionKeywords) -> Settings:
        """Return the settings with the options of a transaction. Raises the same errors as
        `check_transaction_keywords`."""
        from swapcli.quoting.quote_keywords import check_transaction_keywords

        check_transaction_keywords(options)
        values = {name: options.get(name) for name in ("slippage", "max_impact", "max_slippage")}
        texts = {name: None if value is None else str(value) for name, value in values.items()}
        return override_settings(self._nodes.setup.settings, texts)

    def _read_terms(
        self, options: TransactionKeywords, settings: Settings, limits: tuple[int, ApiVersion], now_s: float
    ) -> SwapTerms:
        """Return the terms of a swap with a slippage for an API version, without its sender."""
        from swapcli.quoting.warnings import settle_slippage

        slippage_ppm, api_version = limits
        network = self._source.network
        SLIPPAGE_RANGE[api_version].check(slippage_ppm)
        settle_slippage(slippage_ppm, settings)
        terms = require_swap_terms(parse_destination(options.get("destination"), network), slippage_ppm, network)
        allowed = options.get("allow_recipient")
        check_allowed_recipient(self._source, terms.required_recipient, allowed, "allow_recipient")
        handoff = options.get("handoff")
        if handoff is not None:
            _check_handoff(handoff)
            terms = terms._replace(lifetime_s=HANDOFF_LIFETIME_S)
        deadline = options.get("deadline")
        if deadline is None:
            return terms
        from swapcli.payload.signing.deadlines import parse_deadline_s, parse_duration_s

        deadline_s = parse_deadline_s(str(deadline), now_s, "deadline")
        return terms._replace(deadline_s=deadline_s, deadline_in_s=parse_duration_s(str(deadline)))

    def _checks(self, network: Network, settings: Settings, options: TransactionKeywords) -> RequestedChecks:
        sender, simulate = options.get("sender"), options.get("simulate", False)
        if sender is None and not simulate:
            return RequestedChecks()
        allow_fees = options.get("allow_fees", False)
        return RequestedChecks(self._new_checker(network, sender, settings, simulate=simulate, allow_fees=allow_fees))

    def check_swap(
        self, quote: SwapQuote, payload: UnsignedTransaction, terms: SwapTerms, checks: RequestedChecks
    ) -> PreparedSwap:
        """Return a quote and its payload after checking them. Raises the same errors as `Market.transactions`."""
        from swapcli.quoting.warnings import exact_output_warnings

        swap = check_swap(quote, payload, terms, checks.checker, self._nodes, self._routers, self._market)
        quote, payload, answer = swap.quote, swap.payload, swap.quote.answer
        pools = answer.pools if isinstance(answer, LocalQuote) else None
        ends = traded_tokens(quote.route, payload, quote.network)
        judged = BuiltSwap(payload, quote.route, pools, quote.network, ends, quote.state, self._source)
        built = BuiltPayload(payload, quote.network, swap.checked, self._judge(judged, checks))
        on_quote = (*quote.warnings, *exact_output_warnings(answer.order, payload))
        warnings = self._warnings(built, (on_quote, terms, quote.state), swap.variants, checks)
        simulation = swap.checked.simulation if swap.checked else None
        return PreparedSwap(quote, _to_send(built), warnings, simulation, payload, built.verdict, built)

    def check_route(
        self,
        route: RouteResult,
        payload: UnsignedTransaction,
        terms: SwapTerms,
        checks: RequestedChecks,
        settings: Settings | None = None,
    ) -> PreparedRoute:
        """Return a payload that the source has just built for a route, after checking it. Raises the same errors as
        `check_swap`."""
        from swapcli.quoting.quote_figures import compute_payload_figures
        from swapcli.quoting.warnings import settle_impact

        settings, source = settings or self._nodes.setup.settings, self._source
        network = payload_network(source.network, payload)
        terms = terms._replace(**warning_limits(settings))
        state, impact = source.state_source, payload_impact(source, route, payload)
        settle_impact(impact, state, settings, checks.option_name)
        pools, checker = route_pools(source, route), checks.checker
        variants = route_payloads(self._routers.findings, network, route, pools, terms, payload)
        checked = checker._replace(network=network).check_built(source, route, payload, variants) if checker else None
        read = checked.read_payload if checked else None
        if read:
            payload = read.payload._replace(rounding=payload.rounding)
        payload = mark_revocations(payload, state, self._nodes, network, checked)
        built_at_s = int(state.network_time_s(SYSTEM_CLOCK.now_s()))
        figures = compute_payload_figures(route, payload, impact, state, terms, built_at_s)
        network_read = network._replace(router_variant=read.variant) if read else network
        ends = traded_tokens(route, payload, network_read)
        judged = BuiltSwap(payload, route, pools, network_read, ends, state, source)
        built = BuiltPayload(payload, network, checked, self._judge(judged, checks))
        warnings = self._warnings(built, (figures.warnings, terms, state), variants, checks)
        return PreparedRoute(route, figures._replace(warnings=warnings), _to_send(built), built)

    def _warnings(
        self,
        built: BuiltPayload,
        quoted: tuple[tuple[Finding, ...], SwapTerms, StateSource],
        variants: RoutePayloads | None,
        checks: RequestedChecks,
    ) -> tuple[Finding, ...]:
        """Return the warnings about a payload's quote, deadline, router and checks."""
        from swapcli.payload.checks.payload_findings import payload_findings
        from swapcli.quoting.warnings import deadline_warnings

        (on_quote, terms, state), (payload, network, checked, _) = quoted, built
        on_deadline = deadline_warnings(payload, network, terms, state, SYSTEM_CLOCK.now_s())
        return payload_findings(
            (*on_quote, *on_deadline),
            payload,
            network,
            checked,
            variants,
            has_own_router=has_own_router(self._nodes.setup.settings, network),
            with_approval=checks.with_approval,
        )

    def _with_sender(
        self, route: RouteResult, network: Network, terms: SwapTerms, options: TransactionKeywords
    ) -> SwapTerms:
        """Return the terms with the sender, and with the permit signed by the sender."""
        sender, signature = options.get("sender"), options.get("signature")
        if sender is not None:
            terms = terms._replace(sender=parse_account(sender, network, "sender"))
        if signature is None:
            return terms
        from swapcli.quoting.permits import signed_terms

        return signed_terms(self._nodes, network, route, terms, signature)

    def _judge(self, built: BuiltSwap, checks: RequestedChecks) -> Verdict | None:
        """Return the verdict on a swap; None if the settings name no node for it. Raises `VerdictBlocks`."""
        verdict = judge_built(self._nodes, built, checks.sender)
        if verdict is not None and checks.refuses:
            verdict.settle(checks.option_name)
        return verdict

    def _new_checker(
        self, network: Network, sender: str | None, settings: Settings, *, simulate: bool, allow_fees: bool
    ) -> AnyChecker:
        from swapcli.payload.checks.presign_checks import CheckOptions
        from swapcli.quoting.live_choice import missing_node_hint

        address = None if sender is None else parse_address_option(sender, network, "sender")
        options = CheckOptions(simulate, max_fee_usd=settings.max_fee_usd, allows_fees=allow_fees, sender=address)
        if not network.kind.traits.has_eth_nodes:
            from swapcli.quoting.review.account_checker import new_account_checker

            return new_account_checker(self._nodes, network, options, "simulate")
        node = self._nodes.node(network)
        if node is None:
            raise InvalidOption(
                f"sender and simulate need a node of {network.name}, but {self._nodes.rules.why_no_node()}",
                hint=f"open Market.live; {missing_node_hint(network, 'rpc_url')}",
            )
        return new_checker(self._nodes, self._routers, network, node, options)


def _check_handoff(handoff: str) -> None:
    from typing import get_args

    from swapcli.quoting.quote_keywords import Handoff

    if handoff not in get_args(Handoff):
        raise InvalidOption(f'handoff: unknown format "{handoff}"', hint=f"use one of {', '.join(get_args(Handoff))}")


def _now_s(quote: SwapQuote) -> float:
    return quote.state.network_time_s(SYSTEM_CLOCK.now_s())


def _to_send(built: BuiltPayload) -> list[dict[str, Any]]:
    """Return the transactions in the form in which programs send them."""
    return [dict(each.request or each.signed_fields) for each in built.transactions()]
