"""What `decode_calldata` reads of a call is what the call was built from, in every dialect; nothing makes it crash."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput, PoolError
from swapcli.core.model.decoded_call import SENDER, DecodedApproval, DecodedCall
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, SETTLER
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_terms import Integrator, SignedPermit
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Approval, RouterCall, RouterRouteParam, UnsignedTransaction
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import router_dialect
from swapcli.payload.evm.decoding.decode import DECODERS, decode_calldata
from swapcli.payload.evm.fibrous_calldata import encode_call
from swapcli.payload.evm.permit2_allowance import build_permit2_approval
from swapcli.payload.evm.settler_actions import (
    NATIVE,
    encode_basic,
    encode_execute,
    encode_transfer_from,
    encode_uniswap_v2,
    encode_uniswap_v3,
)
from swapcli.payload.evm.transactions import build_approval
from tests.chain.random_routes import random_route
from tests.examples import examples, generator
from tests.payload.evm import test_settler
from tests.payload.evm.router_model import embedded
from tests.payload.evm.universal_router import test_plan

ROUTER, RECIPIENT, INTEGRATOR = "0x" + "5e" * 20, "0x" + "c0" * 20, "0x" + "ca" * 20
DEADLINE_S = 1_900_000_000


class RouterCase:
    """A random swap for the public router."""

    def __init__(self, rng: Random, market: MarketState) -> None:
        self.market, pools = market, market.pools
        token_in, token_out = rng.sample(sorted({token for pool in pools.values() for token in pool.tokens}), 2)
        native = market.network.wrapped_native_address
        self.swap_type = SwapType.TOKEN_TO_TOKEN
        if native in (token_in, token_out) and rng.random() < 0.7:
            self.swap_type = SwapType.NATIVE_TO_TOKEN if token_in == native else SwapType.TOKEN_TO_NATIVE
        is_permitted = rng.random() < 0.2 and self.swap_type is not SwapType.NATIVE_TO_TOKEN
        has_integrator = rng.random() < 0.3 and not is_permitted
        self.integrator = Integrator(INTEGRATOR, rng.randint(1, 500)) if has_integrator else None
        self.permit = SignedPermit(rng.randbytes(64) + bytes((27,)), 3) if is_permitted else None
        amount = max(1, int(10 ** rng.uniform(-4, 1) * 10 ** market.tokens[token_in].decimals))
        execution = router_dialect(market.network).execution
        self.replay = replay(pools, random_route(rng, pools, token_in, token_out), amount, execution)
        out = self.replay.amount_out
        self.route = RouterRouteParam(token_in, token_out, amount, out, out * 995 // 1000, RECIPIENT, self.swap_type)

    def build(self) -> UnsignedTransaction:
        deadline_s = DEADLINE_S if self.permit else None
        swap = ReplayedSwap(
            self.route, self.replay.steps, self.market.pools, self.integrator, deadline_s, permit=self.permit
        )
        return router_dialect(self.market.network).build_payload(swap, ROUTER)


def random_cases(dialect: str, count: int) -> Iterator[Any]:
    rng = generator(f"decoding {dialect}")
    if dialect not in (FIBROUS, SETTLER):
        yield from test_plan.random_cases("decoding", count, dialect)
        return
    while count:
        name = rng.choice(("base", "monad"))
        try:
            if dialect == SETTLER:
                yield test_settler.Case(rng, test_settler.settler_market(name))
            else:
                yield RouterCase(rng, embedded(name))
        except PoolError:
            continue
        count -= 1


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", [FIBROUS, SETTLER, "2.0", "2.1.0", "2.1.1"])
def test_random_calls_say_what_they_were_built_from(dialect: str) -> None:
    for case in random_cases(dialect, examples(16, full=200, fuzz=1_000)):
        payload, route, network = case.build(), case.route, case.market.network
        decoded = decode_calldata(payload.calldata, network.wrapped_native_address)
        order = decoded.order
        assert order is not None
        assert (order.token_in, order.token_out, order.amount_in) == (route.token_in, route.token_out, route.amount_in)
        assert (order.min_received, order.recipient) == (payload.call.route.min_received, RECIPIENT)
        assert (order.promised_received, order.max_amount_in) == (None, None)
        assert order.is_native_in == (case.swap_type is SwapType.NATIVE_TO_TOKEN)
        assert order.is_native_out == (case.swap_type is SwapType.TOKEN_TO_NATIVE)
        if dialect != FIBROUS or case.permit:
            assert order.deadline_s == DEADLINE_S
        fee = (decoded.fee.recipient, decoded.fee.fee_bps) if decoded.fee else None
        assert fee == (case.integrator and (case.integrator.address, case.integrator.fee_bps))
        assert (decoded.oddities, decoded.trailing_bytes) == ((), 0)
        check_swaps(case, decoded)


def check_swaps(case: Any, decoded: DecodedCall) -> None:
    """Check that the swaps are the steps, in order, with their pools where calldata names them."""
    assert len(decoded.swaps) == len(case.replay.steps)
    wrap = case.market.network.to_wrapped
    for swap, step in zip(decoded.swaps, case.replay.steps, strict=True):
        assert wrap(swap.token_in) == wrap(step.token_in)
        assert swap.token_out is None or wrap(swap.token_out) == wrap(step.token_out)
        assert swap.pool.key in (None, step.pool, case.market.pools[step.pool].address, pool_id(case, step.pool))
        assert swap.amount_in in (None, step.amount_in)


def pool_id(case: Any, key: str) -> str | None:
    found = case.market.pools[key].state().get("pool_id")
    return None if found is None else str(found)


@pytest.mark.parametrize("dialect", [FIBROUS, SETTLER, "2.0", "2.1.1"])
def test_cut_and_lengthened_calls_are_seen(dialect: str) -> None:
    rng = Random(f"cut {dialect}")
    for case in random_cases(dialect, 10):
        calldata, wrapped = case.build().calldata, case.market.network.wrapped_native_address
        raw = bytes.fromhex(calldata[2:])
        for length in (3, 4, 5, len(raw) // 2, len(raw) - 32, len(raw) - 1, rng.randrange(len(raw))):
            with pytest.raises(InvalidInput):
                decode_calldata(f"0x{raw[:length].hex()}", wrapped)
        for extra in (b"\0", b"\1" * 32, rng.randbytes(7)):
            decoded = decode_calldata(f"0x{(raw + extra).hex()}", wrapped)
            assert decoded.trailing_bytes == len(extra)
            assert decoded.order == decode_calldata(calldata, wrapped).order


@given(token=st.integers(0, 2**160 - 1), spender=st.integers(0, 2**160 - 1), amount=st.integers(0, 2**160 - 1))
def test_approvals_say_what_they_were_built_from(token: int, spender: int, amount: int) -> None:
    payee, coin = f"0x{spender:040x}", f"0x{token:040x}"
    plain = decode_calldata(build_approval(coin, payee, amount).calldata, None)
    assert plain.approval == DecodedApproval(None, payee, amount)
    permit2 = build_permit2_approval(Approval(coin, payee, amount, expiration_s=DEADLINE_S)).calldata
    assert decode_calldata(permit2, None).approval == DecodedApproval(coin, payee, amount, DEADLINE_S)


@given(raw=st.binary(max_size=600))
def test_random_bytes_never_crash(raw: bytes) -> None:
    with suppress(InvalidInput):
        decode_calldata(f"0x{raw.hex()}", None)


WORDS = st.one_of(st.sampled_from([0, 32, 64, 96, 1, 2**255, 2**256 - 1]), st.integers(0, 2**160))


@given(
    selector=st.sampled_from(sorted(DECODERS)),
    words=st.lists(
        st.one_of(st.sampled_from([0, 32, 64, 96, 1, 2**255, 2**256 - 1]), st.integers(0, 2**160)), max_size=40
    ),
    tail=st.binary(max_size=40),
)
def test_random_arguments_of_known_functions_never_crash(selector: str, words: list[int], tail: bytes) -> None:
    calldata = f"0x{selector}{''.join(f'{word:064x}' for word in words)}{tail.hex()}"
    with suppress(InvalidInput):
        decode_calldata(calldata, None)


@pytest.mark.parametrize("dialect", [FIBROUS, SETTLER, "2.1.0"])
def test_calls_with_changed_bytes_never_crash(dialect: str) -> None:
    rng = Random(f"changed {dialect}")
    for case in random_cases(dialect, 10):
        raw = bytearray.fromhex(case.build().calldata[2:])
        for _ in range(40):
            changed = bytearray(raw)
            changed[rng.randrange(4, len(raw))] = rng.randrange(256)
            with suppress(InvalidInput):
                decode_calldata(f"0x{changed.hex()}", case.market.network.wrapped_native_address)


def test_wrapping_without_a_router_is_read() -> None:
    wrapped = "0x" + "11" * 20
    deposit = decode_calldata("0xd0e30db0", wrapped, 7)
    withdrawal = decode_calldata(f"0x2e1a7d4d{9:064x}00", wrapped)
    for call, amount, native_in in ((deposit, 7, True), (withdrawal, 9, False)):
        order = call.order
        assert order is not None
        assert (order.token_in, order.token_out) == (wrapped, wrapped)
        assert (order.amount_in, order.min_received) == (amount, amount)
        assert (order.is_native_in, order.is_native_out, order.recipient) == (native_in, not native_in, SENDER)
        assert call.wraps
    assert (deposit.trailing_bytes, withdrawal.trailing_bytes) == (0, 1)
    with pytest.raises(InvalidInput, match="not a complete withdraw"):
        decode_calldata("0x2e1a7d4d00", wrapped)


WRAPPED, COIN = "0x" + "11" * 20, "0x" + "c1" * 20


def settler_call(*actions: str, bought: str = COIN) -> DecodedCall:
    return decode_calldata(f"0x{encode_execute(RECIPIENT, bought, 5, actions)}", WRAPPED)


def test_a_call_of_settler_that_takes_no_input_is_unusual() -> None:
    call = settler_call(encode_basic(COIN, 10_000, COIN))
    assert call.order is None
    assert "no action takes the input" in call.oddities


def test_only_the_wrapped_token_is_unwrapped() -> None:
    taken, withdraw = encode_transfer_from(SETTLER_ADDRESS, WRAPPED, 7, None), f"2e1a7d4d{0:064x}"
    for coin, is_known in ((WRAPPED, True), (COIN, False)):
        call = settler_call(taken, encode_basic(coin, 10_000, coin, 4, withdraw), bought=NATIVE)
        assert (f"an action calls {coin} with data of unknown meaning" in call.oddities) is not is_known


SETTLER_ADDRESS, OTHER_COIN = "0x" + "5e" * 20, "0x" + "c2" * 20
TAKEN = encode_transfer_from(SETTLER_ADDRESS, WRAPPED, 7, None)
BUY = encode_uniswap_v3(SETTLER_ADDRESS, WRAPPED, COIN, 10_000, 0, 500)
LEFT = "some of {} stays in the router, where anyone can take it"


@pytest.mark.parametrize(
    ("actions", "left"),
    [
        ([TAKEN, BUY], []),
        ([TAKEN, encode_uniswap_v3(SETTLER_ADDRESS, WRAPPED, COIN, 9_999, 0, 500)], [WRAPPED]),
        ([TAKEN, encode_uniswap_v3(SETTLER_ADDRESS, WRAPPED, OTHER_COIN, 100, 0, 500), BUY], [OTHER_COIN]),
        (
            [
                TAKEN,
                encode_uniswap_v3(SETTLER_ADDRESS, WRAPPED, OTHER_COIN, 100, 0, 500),
                encode_uniswap_v3(SETTLER_ADDRESS, OTHER_COIN, COIN, 10_000, 0, 500),
                BUY,
            ],
            [],
        ),
        (
            [
                encode_transfer_from(SETTLER_ADDRESS, OTHER_COIN, 7, None),
                encode_uniswap_v2(SETTLER_ADDRESS, OTHER_COIN, 10_000, "0x" + "99" * 20, 30, True),
                encode_basic(WRAPPED, 9_999, WRAPPED, 4, f"2e1a7d4d{0:064x}"),
                encode_basic(NATIVE, 10_000, WRAPPED),
                encode_uniswap_v3(SETTLER_ADDRESS, WRAPPED, COIN, 5_000, 0, 500),
            ],
            [WRAPPED],
        ),
        ([TAKEN, encode_basic(WRAPPED, 9_999, WRAPPED, 4, f"2e1a7d4d{0:064x}"), BUY], ["the native currency"]),
    ],
)
def test_what_stays_in_settler_is_named(actions: list[str], left: list[str]) -> None:
    oddities = settler_call(*actions).oddities
    assert [each for each in oddities if "stays" in each] == [LEFT.format(each) for each in left]


def test_a_quote_below_the_minimum_is_unusual() -> None:
    case = next(random_cases(FIBROUS, 1))
    for amount_out, oddities in (
        (case.route.min_received, ()),
        (case.route.min_received - 1, ("the quoted output is lower than the minimum",)),
    ):
        case.route = case.route._replace(amount_out=amount_out)
        assert decode_calldata(case.build().calldata, WRAPPED).oddities == oddities


def test_a_swap_that_only_the_own_router_has_names_that_router() -> None:
    route = RouterRouteParam("0x" + "a1" * 20, "0x" + "b2" * 20, 5, 4, 3, "0x" + "c3" * 20, SwapType.TOKEN_TO_TOKEN)
    for deadline_s, router in ((None, "fibrous"), (1_800_000_000, "own")):
        assert decode_calldata(encode_call(RouterCall(route, (), deadline_s=deadline_s)), None).dialect == router
