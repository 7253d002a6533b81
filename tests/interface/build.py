"""Random route results and calls of the interface, and small pools."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.route_result import ResultSegment, ResultSwap, RouteResult
from swapcli.core.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, UnsignedTransaction
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct

NATIVE = Token(ZERO_ADDRESS, "ETH", "Ether", 18)
WRAPPED = Token("0x4200000000000000000000000000000000000006", "WETH", "Wrapped Ether", 18)
USDC = Token("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", "USD Coin", 6)
AERO = Token("0x940181a94a35a4569e4529a3cdfb74e38fd98631", "AERO", "Aerodrome Finance", 18)

PROTOCOLS = (
    ProtocolInfo(0, "wrapper", "Wrapper", family="wrapper"),
    ProtocolInfo(2, "classic", "Classic", family="constant_product"),
    ProtocolInfo(5, "uniswapV3", "Uniswap V3", family="concentrated", extra_keys=("fee",)),
    ProtocolInfo(7, "unheardOf", "Unheard Of"),
    ProtocolInfo(
        25, "uniswapV4", "Uniswap V4", family="concentrated",
        extra_keys=("poolId", "token0", "token1", "fee", "tickSpacing", "hooks"), contracts=("uniswap_v4",),
    ),
)  # fmt: skip
EVM = Network("base", Kind.EVM, 8453, NATIVE, WRAPPED, (WRAPPED, USDC, AERO), PROTOCOLS)
STRK = Token("0x" + "4" * 64, "STRK", "Starknet Token", 18)
STARKNET = Network("starknet", Kind.STARKNET, 1, STRK, None, (STRK,), PROTOCOLS, has_v2=False)
ROUTER = "0x274602a953847d807231d2370072f5f4e4594b44"
HYPEREVM, CITREA, MONAD = (EVM._replace(name=name, router=ROUTER) for name in ("hyperevm", "citrea", "monad"))
NETWORKS = (EVM, HYPEREVM, CITREA, MONAD, STARKNET)
EVM_NETWORKS = NETWORKS[:-1]


def concentrated(address: str, protocol: str, pair: tuple[Token, Token], fee_ppm: int, **more: object) -> Pool:
    """A concentrated pool around price 1."""
    spacing = 10
    state = {"sqrt_price_x96": str(2**96), "tick": 0, "liquidity": "1000000", "tick_spacing": spacing}
    ticks = [[-spacing, "1000000"], [spacing, "-1000000"]]
    return Concentrated.from_state(_identity(address, protocol, pair, fee_ppm), state | {"ticks": ticks} | more)


def constant_product(address: str, protocol: str, pair: tuple[Token, Token], fee_ppm: int) -> Pool:
    """A constant-product pool of equal reserves."""
    return ConstantProduct.from_state(_identity(address, protocol, pair, fee_ppm), {"reserves": ["1000000", "1000000"]})


def _identity(address: str, protocol: str, pair: tuple[Token, Token], fee_ppm: int) -> PoolIdentity:
    tokens = sorted(pair, key=lambda token: token.address)
    return PoolIdentity(address, protocol, tuple(t.address for t in tokens), tuple(t.decimals for t in tokens), fee_ppm)


def addresses(kind: Kind) -> st.SearchStrategy[str]:
    """Canonical addresses that are not the native token's."""
    digits = 64 if kind is Kind.STARKNET else 40
    limit = 2**250 if kind is Kind.STARKNET else 16**40 - 1
    numbers = st.integers(1, limit).filter(lambda n: f"{n:x}" != "e" * 40)
    return numbers.map(lambda n: f"0x{n:0{digits}x}")


def accounts(kind: Kind) -> st.SearchStrategy[str]:
    """Canonical addresses that accounts can have: on Starknet, none of 160 bits."""
    if kind is Kind.EVM:
        return addresses(kind)
    return st.integers(1 << 160, 2**250).map(lambda number: f"0x{number:064x}")


def shares(total: int, most: int) -> st.SearchStrategy[list[int]]:
    """One to `max_count` positive integers that sum to `total`."""
    cuts = st.lists(st.integers(1, total - 1), max_size=most - 1, unique=True).map(sorted)
    return cuts.map(lambda c: [end - start for start, end in zip([0, *c], [*c, total], strict=True)])


prices = st.none() | st.floats(1e-12, 1e9)
amounts = st.integers(1, 2**256 - 1)
extras = st.dictionaries(st.sampled_from(["fee", "tickSpacing"]), st.integers(0, 10**6))


@st.composite
def segments(draw: st.DrawFn, kind: Kind, ends: tuple[str, str]) -> tuple[ResultSegment, ...]:
    """Segments between two tokens, of one to three hops with one to three pools each."""

    def hop(token_in: str, token_out: str) -> tuple[ResultSwap, ...]:
        return tuple(
            ResultSwap(
                draw(st.integers(0, 99)),
                draw(st.text(max_size=12)),
                draw(addresses(kind)),
                token_in,
                token_out,
                share,
                draw(extras),
            )
            for share in draw(shares(10_000, 3))
        )

    def path() -> tuple[tuple[ResultSwap, ...], ...]:
        stops = [ends[0], *draw(st.lists(addresses(kind), max_size=2)), ends[1]]
        return tuple(hop(a, b) for a, b in pairwise(stops))

    return tuple(ResultSegment(share, path()) for share in draw(shares(10_000, 4)))


@st.composite
def results(draw: st.DrawFn, network: Network, api_version: ApiVersion) -> RouteResult:
    """Any result that a service of this network could send."""
    kind, v2 = network.kind, api_version is ApiVersion.V2
    swap_type = draw(st.sampled_from(SwapType)) if kind is Kind.EVM else SwapType.TOKEN_TO_TOKEN
    native = WRAPPED if v2 else NATIVE

    def token(is_native: bool) -> Token:
        known = (
            native
            if is_native
            else Token(
                draw(addresses(kind)), draw(st.text(max_size=8)), draw(st.text(max_size=20)), draw(st.integers(0, 77))
            )
        )
        return Token(known.address, known.symbol, known.name, known.decimals, draw(prices))

    token_in, token_out = token(swap_type is SwapType.NATIVE_TO_TOKEN), token(swap_type is SwapType.TOKEN_TO_NATIVE)
    return RouteResult(
        api_version=api_version,
        swap_type=swap_type,
        input_token=token_in,
        input_amount=draw(amounts),
        output_token=token_out,
        output_amount=draw(amounts),
        time_s=draw(st.floats(0, 1e6)),
        gas_units=None if v2 else draw(st.integers(0, 2**200)),
        gas_cost_wei=draw(st.integers(0, 2**200)) if v2 else None,
        gas_usd=draw(prices),
        segments=draw(segments(kind, (draw(addresses(kind)), draw(addresses(kind))))),
        initial=draw(st.booleans()),
        timestamp_ms=draw(st.integers(0, 4 * 10**12)) if v2 else 0,
        integrator=draw(st.none() | integrators(kind)) if v2 else None,
        best_quotes=tuple(draw(st.lists(st.integers(0, 2**256 - 1), max_size=4))),
    )


def integrators(kind: Kind) -> st.SearchStrategy[Integrator]:
    """An integrator with a fee, with a surplus, or with neither."""
    bps = st.tuples(st.integers(0, MAX_FEE_BPS), st.just(0)) | st.tuples(st.just(0), st.integers(0, MAX_SURPLUS_BPS))
    return st.builds(lambda a, b, n: Integrator(a, b[0], b[1], n), accounts(kind), bps, st.none() | st.text(max_size=9))


felts = st.integers(0, 2**251 + 17 * 2**192)


@st.composite
def calls(draw: st.DrawFn, kind: Kind, *, integrator: bool = True) -> RouterCall:
    """A call whose swaps lead from its input to its output, over no, one or two tokens between."""
    token_in, *between, token_out = draw(st.lists(addresses(kind), min_size=2, max_size=4, unique=True))
    swap_type = draw(st.sampled_from(SwapType))
    swaps = tuple(
        draw(call_swaps(kind, a, b, swap_type))
        for a, b in pairwise([token_in, *between, token_out])
        for _ in range(draw(st.integers(1, 3)))
    )
    route = RouterRouteParam(
        token_in, token_out, draw(amounts), draw(amounts), draw(st.integers(0, 2**256 - 1)), draw(addresses(kind)),
        swap_type,
    )  # fmt: skip
    return RouterCall(route, swaps, draw(st.binary(max_size=96)) if integrator else b"")


def call_swaps(kind: Kind, token_in: str, token_out: str, swap_type: SwapType) -> st.SearchStrategy[RouterSwapParam]:
    """A swap between two tokens."""
    starknet = kind is Kind.STARKNET
    return st.builds(
        RouterSwapParam,
        token_in=st.just(token_in),
        token_out=st.just(token_out),
        rate=st.integers(1, 1_000_000),
        protocol_id=st.integers(0, 2**23 - 1),
        pool_address=addresses(kind),
        swap_type=st.just(swap_type),
        extra_data=st.just(b"") if starknet else st.binary(max_size=40),
        extra_felts=st.lists(felts, max_size=4).map(tuple) if starknet else st.just(()),
    )


@st.composite
def payloads(draw: st.DrawFn, network: Network, *, integrator: bool = True) -> UnsignedTransaction:
    """A call with its router and an arbitrary encoding."""
    call, kind = draw(calls(network.kind, integrator=integrator)), network.kind
    to, value = draw(addresses(kind)), draw(st.integers(0, 2**256 - 1))
    if kind is Kind.STARKNET:
        return UnsignedTransaction(call, to, value, felts=tuple(draw(st.lists(felts, min_size=1, max_size=8))))
    return UnsignedTransaction(call, to, value, calldata="0x" + draw(st.binary(max_size=64)).hex())


CALL = RouterCall(
    RouterRouteParam(
        WRAPPED.address, USDC.address, 10**18, 2_951_108_576, 2_936_407_033, "0x" + "ab" * 20, SwapType.NATIVE_TO_TOKEN
    ),
    (
        RouterSwapParam(
            WRAPPED.address, USDC.address, 1_000_000, 3, "0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59",
            SwapType.NATIVE_TO_TOKEN, bytes.fromhex("0064"),
        ),
    ),
)  # fmt: skip
"""The call of the published sample."""
PAYLOAD = UnsignedTransaction(CALL, ROUTER, 10**18, calldata="0x8619b04e0064")
SLIPSTREAM = ResultSwap(9, "Slipstream", CALL.swaps[0].pool_address, WRAPPED.address, USDC.address, 10_000, {"fee": 1})
RESULT = RouteResult(
    ApiVersion.V1, SwapType.NATIVE_TO_TOKEN, NATIVE, 10**18, USDC, 2_951_108_576, 0.858, 412_300, None, 0.0031,
    (ResultSegment(10_000, ((SLIPSTREAM,),)),),
)  # fmt: skip
