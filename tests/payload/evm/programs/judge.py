"""Judge programs: is one called free of danger, and does it then keep the promise that is shown?"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import SENDER, WHOLE_E18, DecodedCall, DecodedOrder
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.units import BPS, PPM
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.documents import parse_payload
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing, SlippageLimits
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.trader import INTEGRATOR, USER
from tests.payload.evm.programs.program import ExecutedProgram, Program
from tests.payload.evm.programs.world import ProgramWorld, State

FEE_BPS: Final = 100
"""The most that the integrator of the settings may take."""
_ANY_SLIPPAGE: Final = SlippageLimits(5_000, PPM)
"""A minimum far below a fresh quote is no danger here: the promise is kept or broken at any minimum."""
_DUST: Final = 10**6
"""Base units that may be left in a router. Shares of balances are rounded down."""

Decode = Callable[[GivenTransaction, str | None], DecodedCall]


class Verdict(NamedTuple):
    """What is said of a program: nothing but `error` if it could not be read.

    An internal error is any exception other than `InvalidInput`.
    """

    review: PayloadReview | None = None
    error: str = ""
    is_internal_error: bool = False

    @property
    def passes(self) -> bool:
        """Whether no danger was found."""
        return self.review is not None and not self.review.dangers and self.review.call.order is not None


class Shown(NamedTuple):
    """The promise of a program that passes; tokens are zero for the native one."""

    token_in: str
    amount_in: int
    token_out: str
    minimum: int
    recipient: str


class _RememberedQuotes(InMemorySource):
    """Quotes each order once."""

    def __init__(self, world: ProgramWorld, target: str) -> None:
        super().__init__(world.target_market(target), SYSTEM_CLOCK)
        self._quotes: dict[QuoteRequest, LocalQuote | Exception] = {}

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None, **options: object) -> LocalQuote:
        """Return the remembered quote, or raise the remembered error."""
        del terms, options
        if request not in self._quotes:
            try:
                self._quotes[request] = super().quote(request)
            except Exception as error:
                self._quotes[request] = error
        found = self._quotes[request]
        if isinstance(found, Exception):
            raise found
        return found


class Judge:
    """Reads programs as `swapcli decode` does, and compares the outcome of those that pass with what was shown."""

    def __init__(self, world: ProgramWorld, decode: Decode = decode_payload) -> None:
        """`decode` reads a transaction; another reading shows that the judge notices a wrong one."""
        self._world, self._decode = world, decode
        self._sources = {target: _RememberedQuotes(world, target) for target in world.networks}

    def read(self, program: Program) -> Verdict:
        """Decode and review a program."""
        document = {"to": program.to, "data": program.calldata, "value": hex(program.value), "from": USER}
        source = self._sources[program.target]
        try:
            given = parse_payload(json.dumps(document)).payload
            call = self._decode(given, source.network.wrapped_native_address)
            signing = Signing(program.to, program.value, USER, program.recipient, Integrator(INTEGRATOR, FEE_BPS))
            return Verdict(review_payload(call, source, signing, self._world.now_s, _ANY_SLIPPAGE))
        except InvalidInput as error:
            return Verdict(error=error.message)
        except Exception:  # the point of the search
            return Verdict(error=traceback.format_exc(), is_internal_error=True)

    def shown(self, review: PayloadReview) -> Shown:
        """Return the promise of a review."""
        order = review.call.order
        assert order is not None
        return Shown(
            ZERO_ADDRESS if order.is_native_in else order.token_in,
            order.amount_in,
            ZERO_ADDRESS if order.is_native_out else order.token_out,
            order.min_received,
            USER if order.recipient == SENDER else order.recipient,
        )

    def states(self, review: PayloadReview) -> Iterator[State]:
        """Yield the states on which a program is executed: that of the quotes, and where the output is dear."""
        order = review.call.order
        assert order is not None
        return (each for each in self._world.states if each.dear in (None, order.token_out))

    def broken(self, program: Program, review: PayloadReview, done: ExecutedProgram) -> Iterator[str]:
        """Yield how an executed program breaks what was shown. One that reverts keeps it."""
        if not done.succeeded:
            return
        shown, call = self.shown(review), review.call
        # A pool with too little liquidity leaves input in the router: that its swap would fail, or no quote exists, is
        # a warning.
        codes = {warning.code for warning in review.warnings}
        warns_of_failure = bool(codes & {FindingCode.ROUTE_WORSE, FindingCode.QUOTE_UNKNOWN})
        received = done.change(shown.recipient, shown.token_out)
        due = shown.minimum
        if (shown.recipient, shown.token_out) == (USER, shown.token_in):
            due -= shown.amount_in
        if received < due:
            yield f"the recipient received {received}, at least {due} was shown"
        for (owner, token), change in done.changes.items():
            if owner == USER:
                limit = shown.amount_in if token == shown.token_in else 0
                if -change > limit:
                    yield f"the sender paid {-change} of {token}, at most {limit} was shown"
            elif owner == shown.recipient:
                continue
            elif owner == self._world.router_of(program.target) or change <= 0:
                if change > _DUST and not warns_of_failure:
                    yield f"{change} of {token} stay in the router"
            elif change > self._shown_payment(call, owner, token, done):
                yield f"{change} of {token} went to {owner}, which was not shown"

    def _shown_payment(self, call: DecodedCall, owner: str, token: str, done: ExecutedProgram) -> int:
        """Return the most that the shown payments give to an owner."""
        payments = [each for each in call.payments if (each.recipient, each.token) == (owner, token)]
        whole = sum(max(0, change) for (_, asset), change in done.changes.items() if asset == token)
        most = 0
        for each in payments:
            if each.amount is not None:
                most += each.amount
            elif each.share_e18 is not None:
                most += whole * each.share_e18 // WHOLE_E18 + 1
            if each.surplus_bps:
                most += whole * each.surplus_bps // BPS + 1
        return most


def describe_order(order: DecodedOrder) -> str:
    """Say in words what is shown of an order."""
    return (
        f"sells at most {order.amount_in} of {order.token_in} for at least {order.min_received} of {order.token_out}"
        f" to {order.recipient}"
    )
