"""Orders as a user makes them: quoted on the chain's state, signed and mined, with the amounts received."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random
from typing import NamedTuple, Self

from eth_account import Account

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import INTERFACE_DIALECTS
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Quote, Route, Segment, Swap
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult, build_result
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.routing.replay import Replay, replay
from swapcli.payload.dialects import executable_market, execution_of
from swapcli.payload.evm import build_transaction, build_transactions
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.anvil import AnvilChain, Receipt, running_anvil
from tests.chain.contract_fixture import DECIMALS, WETH, ContractFixture
from tests.chain.market_reader import read_market, read_pools
from tests.chain.random_routes import random_route

KEY = "0x" + "5a" * 32
"""A key that exists only on the test node."""
USER = str(Account.from_key(KEY).address).lower()
INTEGRATOR = "0x" + "ca" * 20
GAS_PRICE_WEI = 10**9
_GAS_LIMIT = 12_000_000
_WARMING_CENTS = 30_000_000
_CENTS = {WETH: 250_000, "WBTC": 6_000_000, "TKN": 25}


class Trade(NamedTuple):
    """A route with its payload, before it is sent."""

    result: RouteResult
    payload: UnsignedTransaction
    replay: Replay
    kind: str

    @property
    def amount_due(self) -> int:
        """The amount that the recipient must receive."""
        left = self.result.output_amount_after_fee
        return self.result.output_amount if left is None else left

    @property
    def token_out(self) -> str:
        """The token's address, zero for the native one."""
        route = self.payload.call.route
        return ZERO_ADDRESS if route.swap_type is SwapType.TOKEN_TO_NATIVE else route.token_out


class Outcome(NamedTuple):
    """The result of a trade: amounts received by the recipient and the integrator."""

    received: int
    integrator_fee: int
    receipt: Receipt


@dataclass
class Trader:
    """A user with a key and plenty of everything, in a world on a node; `market` is what was read of it last."""

    world: ContractFixture
    chain: AnvilChain
    market: MarketState
    nonce: int = 0

    def copy(self) -> Self:
        """Return the same trader; its contracts and market can be changed."""
        return replace(self, world=self.world.copy())

    def fund_user(self) -> None:
        """Give the user a large balance of every token."""
        for symbol, places in DECIMALS.items():
            self.world.give(symbol, USER, 10**9 * 10**places)
        self.chain.fund(USER, 10**27)

    def quote_trade(self, order: Order, integrator: Integrator | None = None, recipient: str = USER) -> Trade:
        """What the core finds best, in the newer generation, without slippage."""
        ask, terms = QuoteRequest(order, ApiVersion.V2, integrator), SwapTerms(0, recipient)
        answer, payload = quote_and_build(self._source(), ask, terms)
        return self.build_trade(answer.result, payload, answer.pools, "quoted")

    def warm_up(self) -> None:
        """Use every pool, and its ticks, in every direction, as those of a real network have been: a first use writes
        more."""
        for pool in tuple(executable_market(self.market).pools.values()):
            for sold, bought in permutations(pool.tokens, 2):
                self.execute(self.trade_in_pool(pool, sold, bought, _WARMING_CENTS))

    def trade_in_pool(self, pool: Pool, sold: str, bought: str, cents: float) -> Trade:
        """Return a trade of so much in one pool."""
        route = Route((Segment(SHARES_PER_ROUTE, ((Swap(pool.key, sold, bought, SHARES_PER_HOP),),)),))
        token_in, token_out = (self.world.tokens[self.world.symbol(each)] for each in (sold, bought))
        order = Order(token_in, token_out, _units_of(token_in, cents))
        return self._build_trade_of_route(route, order, None, USER)

    def trades(self, rng: Random, count: int) -> Iterator[Trade]:
        """Yield random trades; execute each before requesting the next."""
        makers = (self._random_quoted, self._random_posted, self._random_reverse_quoted, self._random_posted)
        made = 0
        while made < count:
            try:
                trade = makers[made % len(makers)](rng)
            except (NoRoute, PoolError):
                continue
            made += 1
            yield trade

    def execute(self, trade: Trade) -> Outcome:
        """Approve, sign and send; then read the affected pools again."""
        owner = trade.payload.call.route.recipient
        before = self.world.balance(trade.token_out, owner), self.world.balance(trade.token_out, INTEGRATOR)
        receipts = [self.send(each) for each in build_transactions(trade.payload)]
        after = self.world.balance(trade.token_out, owner), self.world.balance(trade.token_out, INTEGRATOR)
        self.refresh(trade)
        gas_paid = sum(receipt.gas_used for receipt in receipts) * GAS_PRICE_WEI
        received = after[0] - before[0] + (gas_paid if (trade.token_out, owner) == (ZERO_ADDRESS, USER) else 0)
        return Outcome(received, after[1] - before[1], receipts[-1])

    def refresh(self, trade: Trade) -> None:
        """Replace the trade's pools by their state on the chain."""
        places = [place for place in self.world.places if place.key in trade.replay.pools_after]
        pools = {pool.key: pool for pool in read_pools(self.world, places)}
        self.market = self.market._replace(pools={**self.market.pools, **pools})

    def pools_of(self, trade: Trade) -> dict[str, Pool]:
        """The trade's pools as they were read last."""
        return {key: self.market.pools[key] for key in trade.replay.pools_after}

    def send(self, transaction_: Transaction) -> Receipt:
        """Sign, send and return the receipt."""
        fields = {
            "nonce": self.nonce,
            "gasPrice": GAS_PRICE_WEI,
            "gas": _GAS_LIMIT,
            "to": bytes.fromhex(transaction_.to[2:]),
            "value": transaction_.value,
            "data": transaction_.calldata,
            "chainId": self.market.network.chain_id,
        }
        self.nonce += 1
        return self.chain.send_raw(Account.sign_transaction(fields, KEY).raw_transaction)

    def _random_quoted(self, rng: Random) -> Trade:
        token_in, token_out = self._random_tokens(rng)
        order = Order(token_in, token_out, random_amount(rng, token_in))
        return self.quote_trade(order, self._random_integrator(rng), random_recipient(rng))

    def _random_reverse_quoted(self, rng: Random) -> Trade:
        """Quote a random exact-output order."""
        token_in, token_out = self._random_tokens(rng)
        order = Order(token_in, token_out, random_amount(rng, token_out), reverse=True)
        ask, terms = QuoteRequest(order, ApiVersion.V1), SwapTerms(0, random_recipient(rng))
        answer, payload = quote_and_build(self._source(), ask, terms)
        assert answer.result.output_amount >= order.amount
        return self.build_trade(answer.result, payload, answer.pools, "reverse")

    def _random_posted(self, rng: Random) -> Trade:
        """A route that no solver would find, posted for its payload."""
        token_in, token_out = self._random_tokens(rng)
        ends = [self._erc20_address(token) for token in (token_in, token_out)]
        order = Order(token_in, token_out, random_amount(rng, token_in))
        route = random_route(rng, executable_market(self.market).pools, *ends)
        return self._build_trade_of_route(route, order, self._random_integrator(rng), random_recipient(rng))

    def _build_trade_of_route(self, route: Route, order: Order, integrator: Integrator | None, recipient: str) -> Trade:
        market = self.market
        done = replay(market.pools, route, order.amount, execution_of(market.network))
        amounts = done.steps, order.amount, done.amount_out
        quote = Quote(order, route, *amounts, 0, 0, None, None, None, None, None, 0.0)
        result = build_result(
            quote,
            order,
            market.network,
            market.pools,
            ApiVersion.V2,
            timestamp_ms=int(SYSTEM_CLOCK.now_s() * 1000),
            integrator=integrator,
        )
        payload = self._source().build(result, SwapTerms(0, recipient))
        return self.build_trade(result, payload, market.pools, "posted")

    def build_trade(
        self, result: RouteResult, payload: UnsignedTransaction, pools: Mapping[str, Pool], kind: str
    ) -> Trade:
        execution = execution_of(self.market.network)
        return Trade(result, payload, replay(pools, result.route, result.input_amount, execution), kind)

    def _source(self) -> InMemorySource:
        return InMemorySource(self.market, SYSTEM_CLOCK)

    def _random_integrator(self, rng: Random) -> Integrator | None:
        """Return a random integrator, without a share of the surplus if the router pays none."""
        integrator = random_integrator(rng)
        pays_surplus = self.market.network.router_dialect in INTERFACE_DIALECTS
        return integrator if pays_surplus or integrator is None or not integrator.surplus_bps else None

    def _random_tokens(self, rng: Random) -> tuple[Token, Token]:
        """Two tokens; the native one in half of the cases where it could be."""
        a, b = rng.sample(sorted(DECIMALS), 2)
        return self._token(rng, a), self._token(rng, b)

    def _token(self, rng: Random, symbol: str) -> Token:
        return self.market.network.native if symbol == WETH and rng.random() < 0.7 else self.world.tokens[symbol]

    def _erc20_address(self, token: Token) -> str:
        return self.world.address(WETH) if token.address == ZERO_ADDRESS else token.address


@contextmanager
def open_trader() -> Iterator[Trader]:
    """On a fresh node, which ends with the block."""
    with running_anvil() as chain:
        world = ContractFixture(chain)
        trader = Trader(world, chain, read_market(world))
        trader.fund_user()
        yield trader


def check_outcome(trade: Trade, outcome: Outcome) -> None:
    """Assert that a trade paid to the unit what its quote says, which is also the minimum of its payload."""
    assert outcome.receipt.succeeded
    assert outcome.received == trade.amount_due == trade.payload.call.route.min_received
    assert outcome.integrator_fee == trade.result.output_amount - trade.amount_due


V4_FEATURES = ("native v4", "hook", "dynamic fee", "protocol fee")


def features(trade: Trade) -> set[str]:
    """Return what a trade has, for counting: protocols, the type of the swap, kinds of Uniswap V4 pools, a fee."""
    pools = trade.replay.pools_after.values()
    found = {pool.protocol for pool in pools} | {trade.payload.call.route.swap_type.name}
    return found.union(*map(v4_features, pools)) | ({"fee"} if trade.result.integrator else set())


def v4_features(pool: Pool) -> set[str]:
    """Return those of `V4_FEATURES` that a pool has."""
    state = pool.state()
    present = (
        "native" in state,
        state.get("hooks", ZERO_ADDRESS) != ZERO_ADDRESS,
        "dynamic_fee" in state,
        "protocol_fees_ppm" in state,
    )
    return {feature for feature, is_present in zip(V4_FEATURES, present, strict=True) if is_present}


def with_unreachable_minimum(trade: Trade) -> UnsignedTransaction:
    """Return the same call with a minimum one unit above the amount due."""
    call = trade.payload.call
    greedy = call._replace(route=call.route._replace(min_received=trade.amount_due + 1))
    return trade.payload._replace(call=greedy)


def with_calldata(payload: UnsignedTransaction, world: ContractFixture) -> UnsignedTransaction:
    """With the calldata of its call."""
    return build_transaction(payload.router_call, world.network, payload.to)


def random_amount(rng: Random, token: Token) -> int:
    """A cent to a million dollars."""
    return _units_of(token, 10 ** rng.uniform(0, 8))


def _units_of(token: Token, cents: float) -> int:
    symbol = WETH if token.address == ZERO_ADDRESS else token.symbol
    return max(1, int(cents / _CENTS.get(symbol, 100) * 10**token.decimals))


def random_recipient(rng: Random) -> str:
    """Often new to the token, as many are; sometimes the user."""
    return USER if rng.random() < 0.3 else f"0x{rng.getrandbits(152):038x}cc"


def random_integrator(rng: Random) -> Integrator | None:
    shares = rng.choice(((0, 0), (0, 0), (rng.randint(1, 500), 0), (0, rng.randint(1, 5_000))))
    return Integrator(INTEGRATOR, *shares) if any(shares) else None
