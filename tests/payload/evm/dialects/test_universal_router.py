"""What a quote says is what the real Universal Router pays out, to the unit, on a local chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data

from swapcli.core.errors import InvalidOption
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.router_dialect import PermitKind, ReplayedSwap
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator, SignedPermit
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.checks.presign_checks import CheckOptions, check_payload
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.dialects import router_dialect
from swapcli.payload.evm import build_transactions
from swapcli.payload.evm.permit import PermitTerms, Signature, parse_signature, permit2_message
from swapcli.payload.evm.typed_data import TypedData
from swapcli.payload.permits import check_signer, read_message
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.testing.evm import selector
from tests.chain.contract_fixture import WETH
from tests.chain.gas import measure, share_within
from tests.chain.trader import INTEGRATOR, KEY, USER, V4_FEATURES, Trade, Trader, check_outcome, features
from tests.chain.universal_fixture import (
    CHAIN_ID,
    UniversalFixture,
    leftovers,
    open_universal_trader,
    permit2_allowance,
)
from tests.examples import examples, seeds
from tests.payload.signing.test_signing_values import check_gas_after_approvals
from tests.quoting.review.test_payload_rehearsal import check_decoded, warnings_of
from tests.support.chain import connected, restored

DEADLINE_S = 1_900_000_000
ROUTES_A_SEED = 40
SEEDS = 13


@pytest.fixture(scope="module")
def universal_trader() -> Iterator[Trader]:
    with open_universal_trader() as trader:
        yield trader


@pytest.fixture
def trader(universal_trader: Trader) -> Iterator[Trader]:
    with restored(universal_trader) as trader:
        yield trader


@pytest.mark.parametrize("seed", seeds(1, full=SEEDS))
def test_what_is_received_is_what_was_quoted(trader: Trader, seed: int) -> None:
    rng = Random(f"universal router {seed}")
    seen: Counter[str] = Counter()
    for trade in trader.trades(rng, ROUTES_A_SEED):
        outcome = trader.execute(trade)
        check_outcome(trade, outcome)
        assert trader.pools_of(trade) == trade.replay.pools_after
        assert leftovers(trader) == {}
        seen.update(features(trade))
    kinds = ["uniswapV2", "uniswapV3", "uniswapV4", "fee", *V4_FEATURES, *(each.name for each in SwapType)]
    assert [kind for kind in kinds if not seen[kind]] == []


@pytest.mark.parametrize("seed", seeds(1, full=4))
def test_release_2_1_0_pays_what_was_quoted_too(trader: Trader, seed: int) -> None:
    assert isinstance(trader.world, UniversalFixture)
    trader.world.use_release("2.1.0")
    trader.market = trader.market._replace(network=trader.world.network)
    seen: Counter[str] = Counter()
    for trade in trader.trades(Random(f"release 2.1.0 {seed}"), 20):
        check_outcome(trade, trader.execute(trade))
        assert trader.pools_of(trade) == trade.replay.pools_after
        assert leftovers(trader) == {}
        seen.update(features(trade))
        seen["v4 path"] += _has_v4_path(trade)
    assert [kind for kind in ("uniswapV2", "uniswapV3", "uniswapV4", "native v4", "v4 path") if not seen[kind]] == []


def test_a_decoded_payload_that_is_simulated_has_no_warning(trader: Trader) -> None:
    with connected(trader.chain, CHAIN_ID) as node:
        check_decoded(trader, node, Random("decoded"))


def test_the_simulation_of_a_v4_cycle_pays_less_than_it_shows(trader: Trader) -> None:
    """Each swap keeps its own minimum, but a later one gives the output back."""
    dai, usdt = (trader.world.tokens[each].address for each in ("DAI", "USDT"))
    amount, minimum = 1_000 * 10**18, 900 * 10**6
    key = (*sorted((dai, usdt)), 100, 1, ZERO_ADDRESS)

    def swap(sold: str, sold_amount: int, least: int) -> bytes:
        words = "((address,address,uint24,int24,address),bool,uint128,uint128,bytes)"
        return encode([words], [(key, sold == key[0], sold_amount, least, b"")])

    def cycle(steps: Sequence[bytes]) -> str:
        ends = [encode(["address", "uint256"], each) for each in ((dai, 2**255), (usdt, 0), (dai, 0))]
        actions = bytes([6] * len(steps) + [0x0C, 0x0F, *([0x0F] * (len(steps) > 1))])
        plan = encode(["bytes", "bytes[]"], [actions, [*steps, *ends[: len(actions) - len(steps)]]])
        body = encode(["bytes", "bytes[]", "uint256"], [b"\x10", [plan], DEADLINE_S])
        return f"0x{selector('execute(bytes,bytes[],uint256)').hex()}{body.hex()}"

    honest = cycle([swap(dai, amount, minimum)])
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDT"], amount), recipient=USER)
    given = GivenTransaction(honest, to=trade.payload.to, value=0)
    call = decode_payload(given, trader.world.network.wrapped_native_address)
    assert call.order is not None
    assert call.order.min_received == minimum
    with connected(trader.chain, CHAIN_ID) as node:
        assert warnings_of(trader, node, trade.payload._replace(calldata=honest), call) == ()
        cycled = cycle([swap(dai, amount, minimum), swap(usdt, minimum - 1, 0)])
        (found,) = warnings_of(trader, node, trade.payload._replace(calldata=cycled), call)
    assert found.code == FindingCode.SIMULATION_BELOW_MINIMUM


@pytest.mark.slow
def test_the_gas_of_most_routes_is_within_ten_percent(trader: Trader) -> None:
    """Of routes that the figures were not fitted to. Of 24, the share has a standard error of 5%."""
    samples = list(measure(trader, 1_000, examples(24, full=200)))
    assert share_within(samples) >= examples(80, full=90) / 100


def _has_v4_path(trade: Trade) -> bool:
    """Return whether the action of paths (0x07) swaps through V4 pools: its encoding is what the releases differ in."""
    pools = trade.replay.pools_after
    steps = [(step.token_in, step.token_out, pools[step.pool].protocol) for step in trade.replay.steps]
    return any(before[1] == after[0] and before[2] == after[2] == "uniswapV4" for before, after in pairwise(steps))


def test_the_routes_are_enough() -> None:
    assert SEEDS * ROUTES_A_SEED >= 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1, full=4))
def test_a_minimum_one_unit_too_high_reverts(trader: Trader, seed: int) -> None:
    rng = Random(f"a unit more {seed}")
    for trade in trader.trades(rng, 20):
        *approvals, swap = build_transactions(trade.payload)
        for each in approvals:
            assert trader.send(each).succeeded
        for missing in (1, 0):
            payload = rebuilt(trader, trade, minimum=trade.amount_due + missing)
            with trader.chain.revert_after():
                sent = trader.send(Transaction(payload.to, payload.calldata, payload.value)).succeeded
            trader.nonce -= 1
            assert sent == (missing == 0)
        assert trader.send(swap).succeeded
        trader.refresh(trade)


def test_a_swap_after_its_deadline_reverts(trader: Trader) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(trader.market.network.native, tokens["USDC"], 10**18))
    now_s = int(trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    for deadline_s, succeeds in ((now_s, False), (now_s + 600, True)):
        payload = rebuilt(trader, trade, deadline_s=deadline_s)
        assert trader.send(Transaction(payload.to, payload.calldata, payload.value)).succeeded == succeeds


def test_by_default_a_swap_expires_with_its_route(trader: Trader) -> None:
    trade = trader.quote_trade(Order(trader.market.network.native, trader.world.tokens["USDC"], 10**18))
    ahead_s = int(trade.payload.calldata[2 + 8 + 2 * 64 : 2 + 8 + 3 * 64], 16) - SYSTEM_CLOCK.now_s()
    assert 50 < ahead_s <= 60


@pytest.mark.parametrize("unwraps", [False, True])
@pytest.mark.parametrize("fee_bps", [0, 30])
def test_wrapping_and_unwrapping_are_mined_too(trader: Trader, unwraps: bool, fee_bps: int) -> None:
    tokens = trader.market.network.native, trader.world.tokens[WETH]
    integrator = Integrator(INTEGRATOR, fee_bps) if fee_bps else None
    trade = trader.quote_trade(Order(*(tokens[::-1] if unwraps else tokens), 12_345), integrator)
    check_outcome(trade, trader.execute(trade))
    assert trade.amount_due == 12_345 - 12_345 * fee_bps // 10_000
    assert leftovers(trader) == {}


def test_a_route_that_only_other_routers_execute_is_not_found(trader: Trader) -> None:
    order = Order(trader.world.tokens[WETH], trader.world.tokens["USDC"], 10**20)
    answer = InMemorySource(trader.market, SYSTEM_CLOCK).quote(QuoteRequest(order, ApiVersion.V2))
    protocols = {trader.market.pools[step.pool].protocol for step in answer.quote.steps}
    assert protocols <= {"uniswapV2", "uniswapV3", "uniswapV4"}
    assert any(pool.protocol == "pancakeSwapV3" for pool in trader.market.pools.values())


@pytest.mark.parametrize("symbol", ["USDC", "USDT", WETH])
def test_gas_after_both_approvals_is_enough(trader: Trader, symbol: str) -> None:
    token = trader.world.tokens[symbol]
    payload = trader.quote_trade(Order(token, trader.world.tokens["DAI"], 10**token.decimals)).payload
    assert len(payload.approvals) == 2
    with connected(trader.chain, CHAIN_ID) as node:
        check_gas_after_approvals(trader, node, payload)


def rebuilt(
    trader: Trader,
    trade: Trade,
    *,
    minimum: int | None = None,
    deadline_s: int | None = None,
    permit: SignedPermit | None = None,
) -> UnsignedTransaction:
    """Return the payload of a trade with another minimum or deadline, or with a permit."""
    route = trade.payload.call.route
    route = route if minimum is None else route._replace(min_received=minimum)
    swap = ReplayedSwap(route, trade.replay.steps, trader.market.pools, trade.result.integrator, deadline_s, permit)
    return router_dialect(trader.market.network).build_payload(swap, trade.payload.to)


def test_a_permit_replaces_the_approval_of_the_router(trader: Trader) -> None:
    tokens = trader.world.tokens
    network = trader.market.network
    for symbol in ("USDC", "USDT"):
        for _ in range(2):  # the second permit has the next nonce
            trade = trader.quote_trade(Order(tokens[symbol], tokens["DAI"], 10**9))
            terms = PermitTerms(tokens[symbol].address, USER, network.router or "", 10**9, DEADLINE_S)
            with connected(trader.chain, CHAIN_ID) as node:
                message, nonce = read_message(node, PermitKind.PERMIT2, terms, CHAIN_ID)
                signature = sign(message)
                check_signer(node, message, signature, USER)
                with pytest.raises(InvalidOption, match=r"for this permit was not made by 0x[0-9a-f]+"):
                    check_signer(
                        node,
                        message._replace(primary_type="PermitDetails", message=message.message["details"]),
                        signature,
                        USER,
                    )
            permit = SignedPermit(signature.encoded, nonce)
            signed = trade._replace(payload=rebuilt(trader, trade, deadline_s=DEADLINE_S, permit=permit))
            approve, _ = build_transactions(signed.payload)
            assert approve.to == tokens[symbol].address
            check_outcome(signed, trader.execute(signed))
            assert permit2_allowance(trader, USER, terms.token, terms.spender) == (0, DEADLINE_S, nonce + 1)


def test_a_permit_that_is_already_spent_does_not_stop_the_swap(trader: Trader) -> None:
    tokens, network = trader.world.tokens, trader.market.network
    trade = trader.quote_trade(Order(tokens["USDC"], tokens["DAI"], 10**9))
    terms = PermitTerms(tokens["USDC"].address, USER, network.router or "", 10**9, DEADLINE_S)
    message = permit2_message(terms, 0, CHAIN_ID)
    signature = sign(message).encoded
    call = "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)"
    details = (terms.token, terms.amount, DEADLINE_S, 0)
    arguments = encode(
        ["address", "((address,uint160,uint48,uint48),address,uint256)", "bytes"],
        [USER, (details, terms.spender, DEADLINE_S), signature],
    )
    trader.chain.send(PERMIT2, selector(call) + arguments)
    payload = rebuilt(trader, trade, deadline_s=DEADLINE_S, permit=SignedPermit(signature, 0))
    check_outcome(trade, trader.execute(trade._replace(payload=payload)))


def test_a_checked_payload_makes_what_the_sender_lacks(trader: Trader) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["USDC"], trader.market.network.native, 10**9))
    ends = TradedTokens(tokens["USDC"], trader.market.network.native, trader.market.network.native)
    permitted = rebuilt(trader, trade, deadline_s=DEADLINE_S, permit=SignedPermit(bytes(65), 0))
    with connected(trader.chain, CHAIN_ID) as node:
        head = node.read_head().block
        origin = StateSource(Provenance.LIVE, "the node", head.number)
        for payload in (trade.payload, permitted):
            checked = check_payload(node, CheckOptions(simulate=True, sender=USER), payload, origin, ends)
            assert checked.simulation
            assert checked.simulation.matches
            assert checked.allowances == (0,) * len(payload.approvals)
            assert checked.simulation.assumed == ("allowance",)


def sign(message: TypedData) -> Signature:
    signable = encode_typed_data(full_message=message.document())
    return parse_signature(Account.sign_message(signable, KEY).signature.to_0x_hex())
