"""What a payload says, beside what is known: tokens, pools, routers, and a fresh quote of the same order.

Each thing that is not as a payload of a fresh quote has it gives a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput, ModelledState, NoRoute, PoolError, SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.decoded_call import (
    SENDER,
    DecodedApproval,
    DecodedCall,
    DecodedOrder,
    DecodedSwap,
    PoolHint,
)
from swapcli.core.model.network import (
    INTERFACE_DIALECTS,
    SETTLER,
    UNIVERSAL_ROUTER,
    DialectRouter,
    Kind,
    Network,
)
from swapcli.core.model.number_format import format_percentage, format_time
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import BPS, Integrator, after_fee, min_received
from swapcli.core.model.token import Token, in_tokens, whole_tokens
from swapcli.core.model.units import PPM
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.core.networks.address import display_address
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.core.records import NamedTuple
from swapcli.core.wrap import wrapper_pool
from swapcli.interface.timestamps import find_unit
from swapcli.payload.checks.dangers import dangers_of
from swapcli.payload.checks.payments import describe_payment, find_integrator_payment, find_strangers
from swapcli.payload.checks.recipients import describe_contract, recipient_warnings
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.dialects import execution_of
from swapcli.payload.evm.permit2_allowance import TIME_BITS
from swapcli.quoting.live_choice import check_modelled_is_meant
from swapcli.quoting.review.decoded_replay import ReviewedSwap, replay_decoded
from swapcli.quoting.warnings import live_warnings

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource

_NEVER_EXPIRES = (1 << TIME_BITS) - 1
_MAX_ROUTE_GAP_PPM = 10_000
"""A percent: fresh quotes of the same pools differ by less, in other orders of the search and other roundings."""


class Signing(NamedTuple):
    """What is to be signed beside the calldata, as far as it is known; addresses canonical, `value` in wei.

    `recipient` is who shall receive the output, by default the sender. `integrator` may earn on the swap.
    """

    to: str | None = None
    value: int | None = None
    sender: str | None = None
    recipient: str | None = None
    integrator: Integrator | None = None


class SlippageLimits(NamedTuple):
    """How far the minimum may be below a fresh quote before it gives a warning, and before it is dangerous."""

    slippage_ppm: int
    max_slippage_ppm: int


class ReviewedTransaction(NamedTuple):
    """A transaction of a document, with its address canonical, and its decoded call."""

    given: GivenTransaction
    call: DecodedCall


class PayloadReview(NamedTuple):
    """A call with what is known of it. `tokens` are those that are known, by address; the zero address is native.

    `transactions` are all of the document that the call is of, if it lists them.
    `fresh_amount_out` is what a fresh quote of the order pays, on the state of `state`, after the fee of the integrator
    that is meant, but before what strangers take; None without one.
    """

    call: DecodedCall
    network: Network | None
    signing: Signing
    tokens: Mapping[str, Token]
    swaps: tuple[ReviewedSwap, ...]
    fresh_amount_out: int | None
    state: StateSource | None
    warnings: tuple[QuoteWarning, ...]
    transactions: tuple[ReviewedTransaction, ...] = ()

    @property
    def dangers(self) -> tuple[str, ...]:
        """The codes of the warnings that make the payload dangerous to sign, each once."""
        return tuple(dict.fromkeys(warning.code for warning in dangers_of(self.warnings)))

    @property
    def minimum_gap(self) -> float | None:
        """How far the minimum is below the fresh quote, as a fraction of it; None without a fresh quote."""
        if self.call.order is None or not self.fresh_amount_out:
            return None
        return 1 - self.call.order.min_received / self.fresh_amount_out


def review_payload(
    call: DecodedCall,
    source: QuoteSource | None,
    signing: Signing,
    now_s: float,
    limits: SlippageLimits,
    *,
    is_modelled_meant: bool = True,
) -> PayloadReview:
    """Compare a call with what `source` knows and quotes. Without a source only the call itself is judged.

    Modelled prices are compared only if the user means them (`is_modelled_meant`). Raises `UpstreamError`.
    """
    reviewer = _Reviewer(call, source, signing, now_s, limits, is_modelled_meant=is_modelled_meant)
    return reviewer.review()


class _Reviewer:
    def __init__(
        self,
        call: DecodedCall,
        source: QuoteSource | None,
        signing: Signing,
        now_s: float,
        limits: SlippageLimits,
        *,
        is_modelled_meant: bool,
    ) -> None:
        self._is_modelled_meant = is_modelled_meant
        self._call, self._source, self._signing = call, source, signing
        self._now_s, self._limits = now_s, limits
        self._network = source.network if source else None
        self._tokens: dict[str, Token] = {}

    def review(self) -> PayloadReview:
        call, order = self._call, self._call.order
        self._find_tokens()
        swaps = tuple(self._find_pools())
        gross, problem = self._quote(order) if order else (None, None)
        fresh = None if gross is None else self._after_fee(gross)
        review = PayloadReview(
            call, self._network, self._signing, self._tokens, swaps, fresh, None if fresh is None else self._state(), ()
        )
        state = self._state()
        of_state = live_warnings(state) if state else ()
        warnings = [*of_state, *self._of_call(), *self._of_tokens(swaps), *self._of_route(swaps)]
        if order:
            warnings += [*self._of_order(order), *self._of_payments(order), *self._of_minimum(order, fresh, problem)]
        if order and gross is not None:
            warnings += self._of_output(order, swaps, gross)
        warnings += self._of_approvals()
        return review._replace(warnings=tuple(warnings))

    # --- what is known

    def _wrapped(self, address: str) -> str:
        return self._network.to_wrapped(address) if self._network else address

    def _find_tokens(self) -> None:
        for address in self._addresses_of_tokens():
            if self._source is not None:
                with suppress(InvalidInput):
                    self._tokens[address] = self._source.token(address)

    def _addresses_of_tokens(self) -> Iterator[str]:
        call = self._call
        yield from self._ends()
        yield from (payment.token for payment in call.payments)
        yield from (self._wrapped(token) for swap in call.swaps for token in swap[:2] if token)
        for approval in filter(None, (call.approval, call.permit)):
            allowed = approval.token or self._signing.to
            if allowed is not None:
                yield allowed

    def _ends(self) -> tuple[str, ...]:
        order = self._call.order
        return (order.token_in, order.token_out) if order else ()

    def _find_pools(self) -> Iterator[ReviewedSwap]:
        left: dict[str, int] = {}
        for swap in self._call.swaps:
            pool = self._find_pool(swap)
            token_in = self._wrapped(swap.token_in)
            token_out = None if swap.token_out is None else self._wrapped(swap.token_out)
            if token_out is None and pool is not None and swap.pool.coin_out is not None:
                token_out = dict(enumerate(pool.tokens)).get(swap.pool.coin_out)
            if token_out is not None and token_out not in self._tokens and self._source is not None:
                with suppress(InvalidInput):
                    self._tokens[token_out] = self._source.token(token_out)
            share = None
            if swap.share_ppm is not None:
                before = left.get(token_in, PPM)
                share = before * swap.share_ppm // PPM
                left[token_in] = before - share
            yield ReviewedSwap(swap, token_in, token_out, pool, share)

    def _find_pool(self, swap: DecodedSwap) -> Pool | None:
        if self._source is None:
            return None
        network = self._source.network
        wrapped = network.wrapped_native
        if wrapped is not None and swap.pool.key == wrapped.address:
            return wrapper_pool(wrapped)
        tokens = [self._wrapped(each) for each in swap[:2] if each is not None]
        known = self._source.known_pools(tokens) or {}
        return next((pool for pool in known.values() if is_pool(swap.pool, pool, network, self._call.dialect)), None)

    def _quote(self, order: DecodedOrder) -> tuple[int | None, SwapcliError | None]:
        """Return what a fresh quote of the order pays before any fee, or the reason why there is none."""
        if self._source is None:
            return None, None
        if order.amount_in == 0:
            return None, InvalidInput("the call does not say how much it sells; give the value of the transaction")
        network = self._source.network
        try:
            token_in = network.native if order.is_native_in else self._source.token(order.token_in)
            token_out = network.native if order.is_native_out else self._source.token(order.token_out)
            requested = Order(token_in, token_out, order.amount_in)
            answer = self._source.quote(QuoteRequest(requested, ApiVersion.V1))
            check_modelled_is_meant(answer.state_source, network, is_meant=self._is_modelled_meant)
        except ModelledState as error:
            return None, error
        except (NoRoute, PoolError, InvalidInput) as error:
            return None, error
        return answer.result.output_amount, None

    def _after_fee(self, amount_out: int) -> int:
        """Return an output after the fee of the integrator that is meant: what strangers take is no part of a quote."""
        fee = self._call.fee if find_integrator_payment(self._call, self._signing.integrator) else None
        return after_fee(amount_out, min(ceil(fee.fee_bps), BPS) if fee else 0)

    def _state(self) -> StateSource | None:
        return self._source.state_source if self._source else None

    # --- warnings

    def _of_call(self) -> Iterator[QuoteWarning]:
        call, signing = self._call, self._signing
        if self._source is None and call.function:
            yield QuoteWarning(
                WarningCode.NETWORK_UNKNOWN,
                "the network is unknown, so tokens, pools and prices are not checked; name it with --network",
            )
        if not call.function:
            yield QuoteWarning(
                WarningCode.FUNCTION_UNKNOWN,
                f"the function {call.selector} is unknown: what the call does cannot be said"
                if call.selector
                else "the transaction calls no function: it only sends its value",
            )
        for oddity in call.oddities:
            yield QuoteWarning(WarningCode.CALL_UNUSUAL, oddity)
        if call.trailing_bytes > 0:
            unit = "felts" if self._network and self._network.kind.traits.has_felts else "bytes"
            yield QuoteWarning(
                WarningCode.TRAILING_BYTES,
                f"{call.trailing_bytes} {unit} follow the end of the call, which no quote adds",
            )
        if self._network is None:
            return
        if call.wraps and signing.to != self._network.wrapped_native_address:
            yield QuoteWarning(
                WarningCode.ROUTER_UNKNOWN,
                f"{call.function} is a call of the wrapped native token, and the transaction goes to"
                f" {self._shown(signing.to) if signing.to else 'an unknown contract'}",
            )
        if call.dialect and signing.to is not None and signing.to not in self._routers(call):
            yield QuoteWarning(
                WarningCode.ROUTER_UNKNOWN,
                f"the call goes to {self._shown(signing.to)}, which is no router of {self._network.name} known here",
            )
        if call.dialect == UNIVERSAL_ROUTER:
            known_router = _dialect_router(self._network, UNIVERSAL_ROUTER)
            version = known_router.version
            if signing.to == known_router.address and version is not None and version not in call.releases:
                yield QuoteWarning(
                    WarningCode.CALL_UNUSUAL,
                    f"the V4 swaps are not encoded for release {version} of the router, which reads other amounts",
                )
        known = self._network.for_dialect(SETTLER).router
        if call.dialect == SETTLER and call.router and call.router != known:
            what = "is not the known Settler" if known else "may be no Settler: networks.NAME.router has its address"
            yield QuoteWarning(WarningCode.ROUTER_UNKNOWN, f"the swap is by {self._shown(call.router)}, which {what}")

    def _routers(self, call: DecodedCall) -> set[str]:
        """Return the known contracts that a call of its dialect goes to."""
        network = self._network
        assert network is not None
        dialects = INTERFACE_DIALECTS if call.dialect in INTERFACE_DIALECTS else (call.dialect,)
        routers = [_dialect_router(network, dialect or "") for dialect in dialects]
        if call.dialect != SETTLER:
            return {each.address for each in routers if each.address}
        (settler,) = routers
        if call.function == "exec":
            return {settler.spender} if settler.spender else set()
        return {settler.address} if settler.address else set()

    def _of_tokens(self, swaps: tuple[ReviewedSwap, ...]) -> Iterator[QuoteWarning]:
        if self._source is None:
            return
        network = self._source.network
        for address in dict.fromkeys(self._addresses_of_tokens()):
            if address not in self._tokens:
                yield QuoteWarning(
                    WarningCode.TOKEN_UNKNOWN,
                    f"the token {self._shown(address)} is unknown on {network.name}; anybody can deploy one",
                )
        if self._source.known_pools(()) is None:
            return
        for number, reviewed in enumerate(swaps, start=1):
            if reviewed.pool is None:
                named = f" {self._shown(reviewed.swap.pool.key)}" if reviewed.swap.pool.key else ""
                yield QuoteWarning(
                    WarningCode.POOL_UNKNOWN, f"the pool{named} of swap {number} is unknown, or trades other tokens"
                )

    def _of_route(self, swaps: tuple[ReviewedSwap, ...]) -> Iterator[QuoteWarning]:
        order = self._call.order
        if order is None or not swaps:
            return
        token_in, token_out = (self._wrapped(token) for token in self._ends())
        reached, left = {token_in}, dict[str, int]()
        for number, reviewed in enumerate(swaps, start=1):
            if reviewed.token_in not in reached:
                yield QuoteWarning(
                    WarningCode.ROUTE_BROKEN,
                    f"swap {number} sells {self._symbol(reviewed.token_in)}, which nothing before it has bought",
                )
            if reviewed.token_out == reviewed.token_in and not (reviewed.pool and reviewed.pool.is_wrapper):
                yield QuoteWarning(
                    WarningCode.ROUTE_BROKEN,
                    f"swap {number} sells {self._symbol(reviewed.token_in)} for {self._symbol(reviewed.token_in)}",
                )
            if reviewed.token_out is not None:
                reached.add(reviewed.token_out)
            if reviewed.share_ppm is not None:
                left[reviewed.token_in] = left.get(reviewed.token_in, PPM) - reviewed.share_ppm
        if token_out not in reached and all(reviewed.token_out for reviewed in swaps):
            yield QuoteWarning(WarningCode.ROUTE_BROKEN, f"no swap buys {self._symbol(token_out)}")
        unknown = {each.token_in for each in swaps if each.share_ppm is None}
        for token, part in left.items():
            if (
                part > 0
                and token not in unknown
                and token != token_out
                and self._call.dialect in (*INTERFACE_DIALECTS, SETTLER)
            ):
                yield QuoteWarning(
                    WarningCode.ROUTE_BROKEN,
                    f"{format_percentage(part / PPM)} of the {self._symbol(token)} is not swapped",
                )

    def _of_order(self, order: DecodedOrder) -> Iterator[QuoteWarning]:
        signing = self._signing
        expected = signing.recipient or signing.sender
        recipient = signing.sender or SENDER if order.recipient == SENDER else order.recipient
        if order.recipient == ZERO_ADDRESS:
            yield QuoteWarning(WarningCode.RECIPIENT_DIFFERS, "the output goes to the zero address, where it is lost")
        elif recipient == signing.to:
            yield QuoteWarning(
                WarningCode.RECIPIENT_DIFFERS, "the output stays in the router, where anybody can take it"
            )
        elif expected is not None and recipient != expected and recipient != SENDER:
            whose = "--destination" if signing.recipient else "the sender"
            yield QuoteWarning(
                WarningCode.RECIPIENT_DIFFERS,
                f"the output goes to {self._shown(recipient)}, and not to {whose} {self._shown(expected)}",
            )
        elif (contract := self._contract(recipient)) is not None:
            yield QuoteWarning(
                WarningCode.RECIPIENT_DIFFERS,
                f"the recipient {self._shown(recipient)} is {contract}: what it receives would be lost",
            )
        yield from recipient_warnings(recipient)
        if order.deadline_s is not None and order.deadline_s < self._now_s:
            yield QuoteWarning(
                WarningCode.DEADLINE_PASSED, f"the deadline {format_time(order.deadline_s)} has passed: it will fail"
            )
        elif order.deadline_s is not None and (found := find_unit(order.deadline_s, self._now_s)):
            message = f"the deadline looks like {found[0]} and is read as seconds: the swap practically never expires"
            yield QuoteWarning(WarningCode.DEADLINE_NONE, message)
        elif order.has_deadline and order.deadline_s is None:
            yield QuoteWarning(WarningCode.DEADLINE_NONE, "the swap has no deadline: it can be executed at any time")
        due = order.amount_in if order.is_native_in else 0
        if signing.value is not None and signing.value != due:
            native = self._network.native if self._network else None
            shown = [in_tokens(each, native) if native else f"{each} wei" for each in (signing.value, due)]
            yield QuoteWarning(
                WarningCode.VALUE_DIFFERS, f"the value of the transaction is {shown[0]}, and the swap needs {shown[1]}"
            )

    def _contract(self, address: str) -> str | None:
        """Return what loses what it receives at an address, in words; None if nothing is known to."""
        if self._source is None or address == SENDER:
            return None
        return self._source.known_contract(address) or describe_contract(address, self._source.network)

    def _of_payments(self, order: DecodedOrder) -> Iterator[QuoteWarning]:
        signing = self._signing
        integrator = signing.integrator
        own = {SENDER, signing.sender, signing.recipient, order.recipient}
        for payment in find_strangers(self._call, integrator, own):
            if integrator and payment.recipient == integrator.address:
                whose = "which is more than the integrator of the settings may take"
            else:
                whose = "which is neither the recipient nor the integrator of the settings"
            amount = describe_payment(payment, self._tokens.get(payment.token), self._symbol(payment.token))
            yield QuoteWarning(
                WarningCode.PAYMENT_UNKNOWN, f"{amount} goes to {self._shown(payment.recipient)}, {whose}"
            )

    def _of_minimum(
        self, order: DecodedOrder, fresh: int | None, problem: SwapcliError | None
    ) -> Iterator[QuoteWarning]:
        if order.min_received == 0:
            yield QuoteWarning(WarningCode.MINIMUM_ZERO, "the minimum is zero: the swap may pay nothing at all")
        if fresh is None:
            if problem is not None:
                yield QuoteWarning(
                    WarningCode.QUOTE_UNKNOWN, f"the minimum is not compared with a fresh quote: {problem.message}"
                )
            return
        gap, limits = 1 - order.min_received / fresh if fresh else 0.0, self._limits
        if 0 < order.min_received < min_received(fresh, limits.slippage_ppm):
            is_danger = order.min_received < min_received(fresh, max(limits))
            yield QuoteWarning(
                WarningCode.MINIMUM_TOO_LOW if is_danger else WarningCode.MINIMUM_LOW,
                f"the minimum is {format_percentage(gap)} below a fresh quote, {self._amount(fresh, order.token_out)}",
            )
        elif order.min_received > fresh:
            yield QuoteWarning(
                WarningCode.MINIMUM_TOO_HIGH,
                f"the minimum is above a fresh quote of {self._amount(fresh, order.token_out)}: the swap will fail",
            )

    def _of_output(self, order: DecodedOrder, swaps: tuple[ReviewedSwap, ...], gross: int) -> Iterator[QuoteWarning]:
        """Compare what the swaps of the call pay now with a fresh quote. The input of an exact output is a maximum."""
        network = self._network
        if network is None or order.is_exact_out or self._call.wraps:
            return
        token_in, token_out = (self._wrapped(token) for token in self._ends())
        dialect = network.for_dialect(self._call.dialect or network.router_dialect)
        try:
            paid = replay_decoded(swaps, token_in, token_out, order.amount_in, execution_of(dialect))
        except PoolError as error:
            yield QuoteWarning(WarningCode.ROUTE_WORSE, f"the swaps would fail now: {error.message}")
            return
        if paid is not None and (gross - paid) * PPM > _MAX_ROUTE_GAP_PPM * gross:
            yield QuoteWarning(
                WarningCode.ROUTE_WORSE,
                f"the swaps pay {format_percentage(1 - paid / gross)} less than a fresh quote,"
                f" {self._amount(gross, order.token_out)}",
            )

    def _of_approvals(self) -> Iterator[QuoteWarning]:
        call = self._call
        for approval in filter(None, (call.approval, call.permit)):
            yield from self._of_approval(approval)

    def _of_approval(self, approval: DecodedApproval) -> Iterator[QuoteWarning]:
        name = self._symbol(approval.token or self._signing.to or "")
        if approval.is_unlimited:
            yield QuoteWarning(
                WarningCode.ALLOWANCE_UNLIMITED,
                f"the approval has no limit: the spender may take all {name or 'tokens'} at any time",
            )
        network = self._network
        if network is not None and approval.spender is not None and approval.spender not in _spenders(network):
            yield QuoteWarning(
                WarningCode.SPENDER_UNKNOWN,
                f"the spender {self._shown(approval.spender)} is no router of {network.name} known here",
            )
        is_permit2 = approval.expiration_s is not None and approval is self._call.approval
        if is_permit2 and self._signing.to not in (None, PERMIT2):
            yield QuoteWarning(
                WarningCode.ROUTER_UNKNOWN, f"the call goes to {self._shown(self._signing.to)}, not Permit2"
            )
        order = call_order = self._call.order
        if call_order is None and self._signing.value:
            yield QuoteWarning(WarningCode.VALUE_DIFFERS, "an approval needs no value, and what is sent may be lost")
        if order is not None and approval.amount > order.amount_in and not approval.is_unlimited:
            yield QuoteWarning(WarningCode.CALL_UNUSUAL, "the permit allows more than the swap sells")
        if order is not None and approval.token is not None and approval.token != order.token_in:
            yield QuoteWarning(WarningCode.CALL_UNUSUAL, "the permit is for another token than the swap sells")
        for end_s in dict.fromkeys(filter(None, (approval.expiration_s, approval.deadline_s))):
            if end_s < self._now_s and (order is None or order.deadline_s != end_s):
                yield QuoteWarning(WarningCode.DEADLINE_PASSED, f"the approval ended at {format_time(end_s)}")
        if approval.expiration_s == _NEVER_EXPIRES:
            yield QuoteWarning(WarningCode.DEADLINE_NONE, "the approval never expires")

    # --- words

    def _shown(self, address: str | None) -> str:
        return display_address(address or "", self._network.kind if self._network else Kind.EVM)

    def _symbol(self, address: str) -> str:
        token = self._tokens.get(address)
        return token.symbol if token else self._shown(address) if address else ""

    def _amount(self, amount: int, address: str) -> str:
        token = self._tokens.get(address)
        return f"{whole_tokens(amount, token.decimals)} {token.symbol}" if token else str(amount)


def is_pool(hint: PoolHint, pool: Pool, network: Network, dialect: str | None) -> bool:
    """Return whether a call that names a pool by `hint` means this pool, one of the right tokens."""
    protocol = network.protocol(pool.protocol)
    if hint.protocol_id is not None and protocol is not None and protocol.id != hint.protocol_id:
        return False
    if hint.key is not None:
        return hint.key in (pool.key, pool.pool_id) or hint.key == pool.address != pool.key
    names = _dialect_router(network, dialect or "").protocols.get(pool.protocol, "").split()
    if not names or names[0] != hint.kind or (hint.fork is not None and str(hint.fork) not in names[1:]):
        return False
    traits = pool.api_extra_data()
    return hint.tier is None or hint.tier in (traits.get("fee"), traits.get("tickSpacing"))


def _dialect_router(network: Network, dialect: str) -> DialectRouter:
    return network.for_dialect(dialect).dialect_router


def known_contracts(network: Network) -> set[str]:
    """Return the routers and spenders of all dialects that are known on a network."""
    routers = [network.dialect_router, *network.routers.values()]
    return {address for each in routers for address in (each.address, each.spender) if address}


def _spenders(network: Network) -> set[str]:
    return known_contracts(network) | {PERMIT2}
