"""Programs that this project builds for random orders, from quotes on the state that they are executed on."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.trader import INTEGRATOR, USER
from tests.payload.evm.programs.program import Program
from tests.payload.evm.programs.venues import Venues
from tests.payload.evm.programs.world import RECIPIENT, ProgramWorld


class QuotedPlan(NamedTuple):
    """An order with its terms. `fee_bps` is the integrator's, 0 without one; `meant` is None for the sender."""

    order: Order
    slippage_ppm: int
    meant: str | None
    fee_bps: int


class QuotedPrograms:
    """Makes programs for one target."""

    def __init__(self, world: ProgramWorld, target: str) -> None:
        self.target, self._venues = target, Venues(world)
        self._source = InMemorySource(world.target_market(target), SYSTEM_CLOCK)
        self._tokens = (*world.tokens.values(), world.network.native)

    def honest(self, rng: Random) -> QuotedPlan:
        """Return a random order that has a route."""
        while True:
            plan = self._random_plan(rng)
            try:
                self._source.quote(_request(plan))
            except (NoRoute, PoolError):
                continue
            return plan

    def encode(self, plan: QuotedPlan, origin: str) -> Program:
        """Return the payload of an order."""
        terms = SwapTerms(plan.slippage_ppm, plan.meant or USER)
        _, payload = quote_and_build(self._source, _request(plan), terms)
        return Program(self.target, payload.to, payload.value, payload.calldata, origin, plan.meant)

    def _random_plan(self, rng: Random) -> QuotedPlan:
        network = self._source.network
        token_in = token_out = network.native
        while network.to_wrapped_token(token_in) == network.to_wrapped_token(token_out):
            token_in, token_out = rng.sample(self._tokens, 2)
        amount = self._venues.random_amount(rng, token_in.address)
        fee_bps = rng.choice((0, 0, rng.randint(1, 100)))
        order = Order(token_in, token_out, amount)
        return QuotedPlan(order, rng.choice((0, 5_000, 10_000)), rng.choice((None, RECIPIENT)), fee_bps)


def _request(plan: QuotedPlan) -> QuoteRequest:
    integrator = Integrator(INTEGRATOR, plan.fee_bps) if plan.fee_bps else None
    return QuoteRequest(plan.order, ApiVersion.V2, integrator)
