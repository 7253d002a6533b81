"""The transactions of quotes of one market, and the checks before signing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swapcli.core.errors import InvalidOption
from swapcli.interface.slippage import SLIPPAGE_RANGE
from swapcli.payload.checks.recipients import check_recipient
from swapcli.quoting.config import override_settings
from swapcli.quoting.live_choice import own_node_hint
from swapcli.quoting.price_policy import PriceUse, check_use
from swapcli.quoting.quote_options import parse_account, parse_address_option, require_swap_terms
from swapcli.quoting.review.presign_checker import BuiltSwap, check_swap, judge_built, new_checker, traded_tokens
from swapcli.quoting.sources.quote_source import known_contract
from swapcli.quoting.swap_quote import CheckedSwap, PreparedSwap, PreparesSwaps, SwapQuote, bind_quote
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.config import Settings
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.price_policy import PriceRequest
    from swapcli.quoting.quote_keywords import Percentage, TransactionKeywords
    from swapcli.quoting.review.presign_checker import PayloadChecker
    from swapcli.quoting.sources.quote_source import QuoteSource


class SwapBuilder:
    """Build and check the transactions of the quotes of `market` on `source`."""

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
        """Return the transactions of a quote with the warnings to read before signing. Raises as `Market.prepare`."""
        return self._prepare(quote, **options)

    def permit(self, quote: SwapQuote, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the approval of the router. Raises as `Market.permit`."""
        from swapcli.payload.signing.deadlines import parse_deadline_s
        from swapcli.quoting.permits import PermittedSwap, permit_message

        address = parse_address_option(owner, quote.network, "owner")
        deadline_s = parse_deadline_s(str(deadline), _now_s(quote), "deadline")
        terms = quote.terms._replace(recipient=address, deadline_s=deadline_s)
        router = self._source.build(quote.answer, terms).to
        swap = PermittedSwap(quote.route, quote.network, router, address, deadline_s)
        return permit_message(self._nodes, swap).document()

    def _prepare(
        self,
        quote: SwapQuote,
        *,
        destination: str,
        slippage: Percentage | None = None,
        deadline: int | str | None = None,
        max_impact: Percentage | None = None,
        max_slippage: Percentage | None = None,
        allow_recipient: str | None = None,
        sender: str | None = None,
        simulate: bool = False,
        allow_fees: bool = False,
        signature: str | None = None,
    ) -> PreparedSwap:
        from swapcli.payload.signing.deadlines import parse_deadline_s, parse_duration_s
        from swapcli.quoting.warnings import check_impact, check_slippage, check_unread

        network = quote.network
        overrides = {"slippage": slippage, "max_impact": max_impact, "max_slippage": max_slippage}
        settings = override_settings(
            self._nodes.setup.settings,
            {name: None if value is None else str(value) for name, value in overrides.items()},
        )
        slippage_ppm = quote.terms.slippage_ppm if slippage is None else settings.slippage_ppm
        SLIPPAGE_RANGE[quote.route.api_version].check(slippage_ppm)
        check_slippage(slippage_ppm, settings.max_slippage_ppm)
        terms = require_swap_terms(parse_account(destination, network, "destination"), slippage_ppm, network)
        recipient, option = terms.required_recipient, "allow_recipient"
        allowed = () if allow_recipient is None else (parse_address_option(allow_recipient, network, option),)
        check_recipient(recipient, known_contract(self._source, recipient), network, allowed, option)
        if (slippage_ppm, recipient) != (quote.terms.slippage_ppm, quote.terms.recipient):
            changed = quote.terms._replace(slippage_ppm=slippage_ppm, recipient=recipient)
            quote = bind_quote(quote.answer, changed, self._market)
        if deadline is not None:
            terms = terms._replace(
                deadline_s=parse_deadline_s(str(deadline), _now_s(quote), "deadline"),
                deadline_in_s=parse_duration_s(str(deadline)),
            )
        if not simulate:  # a simulation shows the real output
            check_use(quote.state, PriceUse.PAYLOAD, self._price_request, node_hint=own_node_hint(network))
        check_impact(quote.price_impact, quote.state, settings.max_impact_ppm)
        check_unread(quote.figures.unread_gain_bps, settings.max_impact_ppm)
        if sender is not None:
            terms = terms._replace(sender=parse_account(sender, network, "sender"))
        if signature is not None:
            terms = self._with_signature(quote, terms, signature)
        payload = self._source.build(quote.answer, terms)
        checker = None
        if sender is not None or simulate:
            checker = self._new_checker(network, sender, settings, simulate=simulate, allow_fees=allow_fees)
        swap = check_swap(quote, payload, terms, checker, self._nodes, self._routers, self._market)
        return _prepared(swap, terms, settings, self._judge(swap, checker))

    def _with_signature(self, quote: SwapQuote, terms: SwapTerms, signature: str) -> SwapTerms:
        """Return the terms with a signed permit of the input, whose owner is the sender, else the recipient."""
        from swapcli.quoting.permits import PermittedSwap, check_permit

        network, owner = quote.network, terms.sender or terms.required_recipient
        if terms.deadline_s is None:
            raise InvalidOption("signature needs deadline: the end of the permit", hint="give the deadline of permit")
        if network.router is None:
            return terms  # the payload is refused for the same reason
        swap = PermittedSwap(quote.route, network, network.router, owner, terms.deadline_s)
        return terms._replace(permit=check_permit(self._nodes, swap, signature), deadline_in_s=None)

    def _judge(self, swap: CheckedSwap, checker: PayloadChecker | None) -> Verdict | None:
        """Return the verdict on a swap, None if the settings name no node for it. Raises `VerdictBlocks`."""
        from swapcli.quoting.quote_results import LocalQuote

        answer, network = swap.quote.answer, swap.quote.network
        pools = answer.pools if isinstance(answer, LocalQuote) else None
        ends = traded_tokens(answer.result, swap.payload, network)
        built = BuiltSwap(swap.payload, answer.result, pools, network, ends, swap.quote.state, self._source)
        verdict = judge_built(self._nodes, built, checker.requested.sender if checker else None)
        if verdict is not None:
            from swapcli.payload.verdict.verdict_outcomes import check_verdict

            check_verdict(verdict)
        return verdict

    def _new_checker(
        self, network: Network, sender: str | None, settings: Settings, *, simulate: bool, allow_fees: bool
    ) -> PayloadChecker:
        from swapcli.payload.checks.presign_checks import CheckOptions
        from swapcli.quoting.live_choice import missing_node_hint

        if not network.kind.traits.has_eth_nodes:
            raise InvalidOption(f"transactions are checked on EVM networks only, not on {network.name}")
        address = None if sender is None else parse_address_option(sender, network, "sender")
        node = self._nodes.node(network)
        if node is None:
            raise InvalidOption(
                f"sender and simulate need a node of {network.name}, but {self._nodes.rules.why_no_node()}",
                hint=f"open Market.live; {missing_node_hint(network, 'rpc_url')}",
            )
        options = CheckOptions(simulate, max_fee_usd=settings.max_fee_usd, allows_fees=allow_fees, sender=address)
        return new_checker(self._nodes, self._routers, network, node, options)


def _now_s(quote: SwapQuote) -> int:
    return quote.state.network_time_s(SYSTEM_CLOCK.now_s())


def _prepared(swap: CheckedSwap, terms: SwapTerms, settings: Settings, verdict: Verdict | None) -> PreparedSwap:
    """Return a checked swap as programs send it, with all warnings about it."""
    from swapcli.payload.transactions_to_send import render_transactions
    from swapcli.quoting.swap_warnings import swap_warnings
    from swapcli.quoting.warnings import deadline_warnings, exact_output_warnings

    quote, payload, checked, variants = swap
    network = quote.network
    on_deadline = deadline_warnings(network, terms, quote.state, SYSTEM_CLOCK.now_s())
    on_quote = (*quote.warnings, *exact_output_warnings(quote.answer.order, payload), *on_deadline)
    return PreparedSwap(
        quote,
        [dict(each.request or each.signed_fields) for each in render_transactions(payload, network, checked)],
        swap_warnings(on_quote, payload, network, settings, checked, variants, with_approval=True),
        checked.simulation if checked else None,
        payload,
        verdict,
    )
