"""Pools of EulerSwap: their curve, and what the vaults behind them can take and pay at the block.

Both versions quote no more than the vaults' room, cash and caps allow. An account may still lack the collateral to
borrow that much, which only shows when it swaps. So it counts here as able to borrow what its deposits in the vault of
the sold token allow, at the prices of the oracle, less a hundredth; and nothing while it owes the sold token. Swaps go
through Uniswap V4, whose hook each pool is; others, and those whose owner has set a swap hook, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS, PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.euler.euler_swap import MAX_RESERVE
from swapcli.families.reading.block_time import read_block_time, undecoded_time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    invalid_response,
    read_address,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import (
    View,
    decode_addresses,
    optional_view,
    read_address_list,
    read_views,
    view,
    words,
)

_POOLS: Final = "pools()"
_ASSETS: Final = "getAssets()"
_RESERVES: Final = "getReserves()"
_V4_KEY: Final = "poolKey()"
_DYNAMIC: Final = "getDynamicParams()"
_CONTROLLERS: Final = "getControllers(address)"
_PRICES: Final = "getQuotes(uint256,address,address)"
_UNLOCKED: Final = 1  # status of a pool that can be swapped in
_KEPT_BACK: Final = 100
"""A hundredth of what an account may borrow is not counted on."""
_WAD_PER_PPM: Final = WAD // PPM


class _Vaults(NamedTuple):
    """The vaults of one token; `borrow` is None where the account borrows nothing."""

    supply: str
    borrow: str | None


class _Configuration(NamedTuple):
    """What both versions tell of a pool, in the order of its tokens."""

    version: int
    vaults: tuple[_Vaults, _Vaults]
    account: str
    equilibrium: tuple[int, int]
    min_reserves: tuple[int, int]
    prices: tuple[int, int]
    concentrations: tuple[int, int]
    fees: tuple[int, int]
    expires_at: int
    hooked_operations: int


class _Supply(NamedTuple):
    """What the vault of deposits says."""

    room: int
    shares: int
    cash: int
    least: int


class _Loans(NamedTuple):
    """What the vault of loans says. The oracle's values are for the other token's deposits as collateral."""

    debt: int = 0
    cash: int = 0
    room: int | None = 0
    oracle: str = ZERO_ADDRESS
    unit: str = ZERO_ADDRESS
    loan_to_value_bps: int = 0


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds."""
    pool = ref.address
    values = yield from read_views(
        view("reserves", pool, _RESERVES, decode=words(3)),
        view("evc", pool, "EVC()", decode=read_address),
        view("manager", pool, "poolManager()", decode=read_address),
        view("key", pool, _V4_KEY, decode=words(5)),
        optional_view("first", pool, "getParams()", decode=_decode_first_version),
        optional_view("static", pool, "getStaticParams()", decode=_decode_static),
        optional_view("dynamic", pool, _DYNAMIC, decode=words(13)),
        undecoded_time_view(),
    )
    configuration = _configuration(ref, values)
    first, second, status = values["reserves"]
    if status != _UNLOCKED:
        raise invalid_response(_RESERVES, "the pool is not active")
    _check_time(configuration, values["time"])
    v4_fee_ppm = _v4_fee(ref, values["key"])
    evc, pool_manager = values["evc"], values["manager"]
    values = yield from read_views(
        view("is_operator", evc, "isAccountOperatorAuthorized(address,address)", configuration.account, pool),
        view("controllers", evc, _CONTROLLERS, configuration.account, decode=decode_addresses),
        *(view(token, token, "balanceOf(address)", pool_manager) for token in ref.tokens),
        *(each for k in (0, 1) for each in _vault_views(configuration, k)),
    )
    if not values["is_operator"]:
        raise invalid_response(pool, "its account no longer lets the pool act for it")
    _check_lenders(configuration, values["controllers"])
    balances = [values[token] for token in ref.tokens]
    supplies = [_Supply(*(values[f"{name} {k}"] for name in _Supply._fields)) for k in (0, 1)]
    loans = [_loans(values, k) if configuration.vaults[k].borrow else _Loans() for k in (0, 1)]
    values = yield from read_views(
        *(
            view(f"deposits {k}", configuration.vaults[k].supply, "convertToAssets(uint256)", supplies[k].shares)
            for k in (0, 1)
        ),
        *(each for k in (0, 1) for each in _price_views(ref, configuration, supplies, loans, k)),
    )
    deposits = [values[f"deposits {k}"] for k in (0, 1)]
    borrowable = [_borrowable(ref, supplies, loans, values, k) for k in (0, 1)]
    state = {
        "version": configuration.version,
        "reserves": [first, second],
        **{
            name: list(getattr(configuration, name))
            for name in ("equilibrium", "min_reserves", "prices", "concentrations", "fees")
        },
        "debts": [min(each.debt, MAX_RESERVE) for each in loans],
        "deposit_capacity": [min(each.room, MAX_RESERVE) for each in supplies],
        "min_deposits": [min(each.least, MAX_RESERVE) for each in supplies],
        "output_limits": [
            min(_payable(configuration, supplies[k], loans[k], deposits[k], k), MAX_RESERVE) for k in (0, 1)
        ],
        "secured_outputs": [min(deposits[k] + borrowable[k], MAX_RESERVE) for k in (0, 1)],
        "pool_manager": pool_manager,
        "manager_balances": [min(each, MAX_RESERVE) for each in balances],
        "v4_fee_ppm": v4_fee_ppm,
        "vaults": [[*dict.fromkeys(filter(None, each))] for each in configuration.vaults],
    }
    return build_pool(ref, min(configuration.fees) // _WAD_PER_PPM, state)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pools in one round: of the factory of the first version, or the second's registry."""
    return (yield from read_address_list(factory.address, _POOLS))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round."""
    values = yield from read_views(view(_ASSETS, address, _ASSETS, decode=words(2)))
    return factory.new_ref(address, tuple(to_address(word, _ASSETS) for word in values[_ASSETS]))


def _decode_first_version(answer: ReturnData, function: str) -> _Configuration:
    numbers = read_words(answer, 12, function)
    vaults = [to_address(word, function) for word in numbers[:2]]
    return _Configuration(
        version=1,
        vaults=(_Vaults(vaults[0], vaults[0]), _Vaults(vaults[1], vaults[1])),
        account=to_address(numbers[2], function),
        equilibrium=(numbers[3], numbers[4]),
        min_reserves=(0, 0),
        prices=(numbers[5], numbers[6]),
        concentrations=(numbers[7], numbers[8]),
        fees=(numbers[9], numbers[9]),
        expires_at=0,
        hooked_operations=0,
    )


def _decode_static(answer: ReturnData, function: str) -> tuple[str, ...]:
    """Return the vaults of deposits, those of loans, and the account."""
    return tuple(to_address(word, function) for word in read_words(answer, 5, function))


def _configuration(ref: PoolRef, values: Mapping[str, Any]) -> _Configuration:
    if values["first"]:
        configuration: _Configuration = values["first"]
        return configuration
    if not (values["static"] and values["dynamic"]):
        raise invalid_response(ref.address, "neither the first nor the second version of EulerSwap")
    supply0, supply1, *loans, account = values["static"]
    borrow0, borrow1 = (None if address == ZERO_ADDRESS else address for address in loans)
    *pairs, expires_at, hooked_operations, _ = values["dynamic"]
    vaults = (_Vaults(supply0, borrow0), _Vaults(supply1, borrow1))
    equilibrium, floors, prices, concentrations, fees = zip(pairs[::2], pairs[1::2], strict=True)
    return _Configuration(
        2, vaults, account, equilibrium, floors, prices, concentrations, fees, expires_at, hooked_operations
    )


def _check_time(configuration: _Configuration, answer: ReturnData) -> None:
    """Raise `InvalidUpstreamResponse` for a pool that has expired, or that a contract of its owner's follows."""
    if configuration.hooked_operations:
        raise invalid_response(_DYNAMIC, "a swap hook of the owner's may set fees, refuse swaps or change the curve")
    expires_at = configuration.expires_at
    if expires_at and read_block_time(answer, "at which the pool may have expired") >= expires_at:
        raise invalid_response(_DYNAMIC, f"the pool has expired at {expires_at}")


def _check_lenders(configuration: _Configuration, controllers: Sequence[str]) -> None:
    """Raise `InvalidUpstreamResponse` if the account owes to a vault that is none of the pool's.

    Such a lender decides what the account may withdraw, and lets it borrow from no other.
    """
    own = {borrow for _, borrow in configuration.vaults}
    if others := set(controllers) - own:
        raise invalid_response(_CONTROLLERS, f"the account owes to {min(others)}, which is no vault of the pool")


def _v4_fee(ref: PoolRef, key: Sequence[int]) -> int:
    """Return the fee in the key of the pool of Uniswap V4, which swaps do not pay."""
    first, second, fee_ppm, spacing, hooks = key
    tokens = tuple(to_address(word, _V4_KEY) for word in (first, second))
    if to_address(hooks, _V4_KEY) != ref.address or tokens != ref.tokens or spacing != 1:
        raise invalid_response(_V4_KEY, "not the hook of a pool of Uniswap V4 with these tokens")
    return fee_ppm


def _vault_views(configuration: _Configuration, k: int) -> Iterator[View]:
    account, (supply, borrow) = configuration.account, configuration.vaults[k]
    yield view(f"room {k}", supply, "maxDeposit(address)", account)
    yield view(f"shares {k}", supply, "balanceOf(address)", account)
    yield view(f"cash {k}", supply, "cash()")
    yield view(f"least {k}", supply, "previewMint(uint256)", 1)
    if borrow is None:
        return
    yield view(f"debt {k}", borrow, "debtOf(address)", account)
    yield view(f"loan cash {k}", borrow, "cash()")
    yield view(f"caps {k}", borrow, "caps()", decode=words(2))
    yield view(f"lent {k}", borrow, "totalBorrows()")
    yield view(f"oracle {k}", borrow, "oracle()", decode=read_address)
    yield view(f"unit {k}", borrow, "unitOfAccount()", decode=read_address)
    yield view(f"loan to value {k}", borrow, "LTVBorrow(address)", configuration.vaults[1 - k].supply)


def _loans(values: Mapping[str, Any], k: int) -> _Loans:
    _, borrow_cap = values[f"caps {k}"]
    cap = _decode_cap(borrow_cap)
    return _Loans(
        debt=values[f"debt {k}"],
        cash=values[f"loan cash {k}"],
        room=None if cap is None else max(cap - values[f"lent {k}"], 0),
        oracle=values[f"oracle {k}"],
        unit=values[f"unit {k}"],
        loan_to_value_bps=values[f"loan to value {k}"],
    )


def _decode_cap(cap: int) -> int | None:
    """Return a cap of two digits and an exponent as a number; None where there is none."""
    return 10 ** (cap & 63) * (cap >> 6) // 100 if cap else None


def _payable(configuration: _Configuration, supply: _Supply, loans: _Loans, deposits: int, k: int) -> int:
    """Return what the vaults of the k-th token can pay by their cash and caps, as the contract's quotes count it."""
    supply_vault, borrow_vault = configuration.vaults[k]
    if configuration.version == 1 or deposits > supply.cash or supply_vault == borrow_vault:
        payable = supply.cash
    else:
        payable = deposits + loans.cash
    if borrow_vault is not None and loans.room is not None:
        payable = min(payable, deposits + loans.room)
    return payable


def _price_views(
    ref: PoolRef, configuration: _Configuration, supplies: Sequence[_Supply], loans: Sequence[_Loans], k: int
) -> Iterator[View]:
    """Yield the views of the value of a whole k-th token that is lent, and of the deposits that secure it."""
    oracle, unit, other = loans[k].oracle, loans[k].unit, 1 - k
    whole, shares = 10 ** ref.decimals[k], supplies[other].shares
    yield optional_view(f"price {k}", oracle, _PRICES, whole, ref.tokens[k], unit, decode=words(2))
    collateral = configuration.vaults[other].supply
    yield optional_view(f"collateral {k}", oracle, _PRICES, shares, collateral, unit, decode=words(2))


def _borrowable(
    ref: PoolRef, supplies: Sequence[_Supply], loans: Sequence[_Loans], values: Mapping[str, Any], k: int
) -> int:
    """Return what the account may still borrow of the k-th token, secured by its deposits of the other one."""
    own, other = loans[k], loans[1 - k]
    price, collateral = values[f"price {k}"], values[f"collateral {k}"]
    if other.debt or not supplies[1 - k].shares or not own.loan_to_value_bps or not collateral:
        return 0
    whole = 10 ** ref.decimals[k]
    if own.unit == ref.tokens[k]:
        ask = whole
    elif price:
        _, ask = price
    else:
        return 0
    bid, _ = collateral
    secured = bid * own.loan_to_value_bps // BPS
    room = secured - own.debt * ask // whole
    return max(room, 0) * (_KEPT_BACK - 1) // _KEPT_BACK * whole // ask if ask else 0
