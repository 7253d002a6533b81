"""Pools of EulerSwap: their curve, and what the vaults behind them can take and pay at the block.

Both versions quote no more than the vaults' room, cash and caps allow. An account may still lack the collateral to
borrow that much, which only shows when it swaps. So it counts here as able to borrow what its deposits in the vault of
the sold token allow, at the prices of the oracle, less a hundredth; and nothing while it owes the sold token. Swaps go
through Uniswap V4, whose hook each pool is; others, and those whose owner has set a swap hook, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS, PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.euler.euler_swap import MAX_RESERVE
from swapcli.families.reading.block_time import BLOCK_TIME, read_block_time
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    encode_call,
    invalid_response,
    read_address,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import decode_addresses, read_address_list

_POOLS: Final = "pools()"
_ASSETS: Final = "getAssets()"
_RESERVES: Final = "getReserves()"
_CONNECTOR: Final = "EVC()"
_V4_KEY: Final = "poolKey()"
_MANAGER: Final = "poolManager()"
_PARAMETERS: Final = "getParams()"
_STATIC: Final = "getStaticParams()"
_DYNAMIC: Final = "getDynamicParams()"
_IS_OPERATOR: Final = "isAccountOperatorAuthorized(address,address)"
_ROOM: Final = "maxDeposit(address)"
_CONTROLLERS: Final = "getControllers(address)"
_BALANCE: Final = "balanceOf(address)"
_CASH: Final = "cash()"
_LEAST: Final = "previewMint(uint256)"
_VALUE: Final = "convertToAssets(uint256)"
_DEBT: Final = "debtOf(address)"
_CAPS: Final = "caps()"
_LOANS: Final = "totalBorrows()"
_ORACLE: Final = "oracle()"
_UNIT: Final = "unitOfAccount()"
_LOAN_TO_VALUE: Final = "LTVBorrow(address)"
_PRICES: Final = "getQuotes(uint256,address,address)"
_UNLOCKED: Final = 1
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
    answers = yield _configuration_calls(ref)
    reserves, connector, manager, key, *parameters, time = answers
    configuration = _read_configuration(ref, parameters)
    first, second, status = read_words(reserves, 3, _RESERVES)
    if status != _UNLOCKED:
        raise invalid_response(_RESERVES, "the pool is not active")
    _check_time(configuration, time)
    v4_fee_ppm = _read_v4_fee(ref, key)
    evc, pool_manager = read_address(connector, _CONNECTOR), read_address(manager, _MANAGER)
    operator, controllers, *answers = yield [
        ContractCall(evc, encode_call(_IS_OPERATOR, configuration.account, ref.address)),
        ContractCall(evc, encode_call(_CONTROLLERS, configuration.account)),
        *(ContractCall(token, encode_call(_BALANCE, pool_manager)) for token in ref.tokens),
        *(call for k in (0, 1) for call in _vault_calls(configuration, k)),
    ]
    if not read_word(operator, _IS_OPERATOR):
        raise invalid_response(ref.address, "its account no longer lets the pool act for it")
    _check_lenders(configuration, controllers)
    balances = [read_word(answer, _BALANCE) for answer in answers[:2]]
    supplies, loans = _read_vaults(configuration, answers[2:])
    answers = yield [
        *(
            ContractCall(vaults.supply, encode_call(_VALUE, supply.shares))
            for vaults, supply in zip(configuration.vaults, supplies, strict=True)
        ),
        *(call for k in (0, 1) for call in _price_calls(ref, configuration, supplies, loans, k)),
    ]
    deposits = [read_word(answer, _VALUE) for answer in answers[:2]]
    borrowable = [_borrowable(ref, supplies, loans, answers[2 + 2 * k : 4 + 2 * k], k) for k in (0, 1)]
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
    (answer,) = yield [ContractCall(address, encode_call(_ASSETS))]
    first, second = (to_address(word, _ASSETS) for word in read_words(answer, 2, _ASSETS))
    return factory.new_ref(address, (first, second))


def _configuration_calls(ref: PoolRef) -> list[ContractCall]:
    return [
        ContractCall(ref.address, encode_call(_RESERVES)),
        ContractCall(ref.address, encode_call(_CONNECTOR)),
        ContractCall(ref.address, encode_call(_MANAGER)),
        ContractCall(ref.address, encode_call(_V4_KEY)),
        *(ContractCall(ref.address, encode_call(name), may_revert=True) for name in (_PARAMETERS, _STATIC, _DYNAMIC)),
        BLOCK_TIME,
    ]


def _read_configuration(ref: PoolRef, answers: Sequence[ReturnData]) -> _Configuration:
    of_first_version, static, dynamic = answers
    if of_first_version:
        words = read_words(of_first_version, 12, _PARAMETERS)
        vaults = [to_address(word, _PARAMETERS) for word in words[:2]]
        return _Configuration(
            version=1,
            vaults=(_Vaults(vaults[0], vaults[0]), _Vaults(vaults[1], vaults[1])),
            account=to_address(words[2], _PARAMETERS),
            equilibrium=(words[3], words[4]),
            min_reserves=(0, 0),
            prices=(words[5], words[6]),
            concentrations=(words[7], words[8]),
            fees=(words[9], words[9]),
            expires_at=0,
            hooked_operations=0,
        )
    if not (static and dynamic):
        raise invalid_response(ref.address, "neither the first nor the second version of EulerSwap")
    addresses = [to_address(word, _STATIC) for word in read_words(static, 5, _STATIC)]
    borrowed = [None if address == ZERO_ADDRESS else address for address in addresses[2:4]]
    words = read_words(dynamic, 13, _DYNAMIC)
    return _Configuration(
        version=2,
        vaults=(_Vaults(addresses[0], borrowed[0]), _Vaults(addresses[1], borrowed[1])),
        account=addresses[4],
        equilibrium=(words[0], words[1]),
        min_reserves=(words[2], words[3]),
        prices=(words[4], words[5]),
        concentrations=(words[6], words[7]),
        fees=(words[8], words[9]),
        expires_at=words[10],
        hooked_operations=words[11],
    )


def _check_time(configuration: _Configuration, answer: ReturnData) -> None:
    """Raise `InvalidUpstreamResponse` for a pool that has expired, or that a contract of its owner's follows."""
    if configuration.hooked_operations:
        raise invalid_response(_DYNAMIC, "a swap hook of the owner's may set fees, refuse swaps or change the curve")
    expires_at = configuration.expires_at
    if expires_at and read_block_time(answer, "at which the pool may have expired") >= expires_at:
        raise invalid_response(_DYNAMIC, f"the pool has expired at {expires_at}")


def _check_lenders(configuration: _Configuration, answer: ReturnData) -> None:
    """Raise `InvalidUpstreamResponse` if the account owes to a vault that is none of the pool's.

    Such a lender decides what the account may withdraw, and lets it borrow from no other.
    """
    own = {borrow for _, borrow in configuration.vaults}
    lenders = set(decode_addresses(answer, _CONTROLLERS))
    if lenders - own:
        raise invalid_response(_CONTROLLERS, f"the account owes to {min(lenders - own)}, which is no vault of the pool")


def _read_v4_fee(ref: PoolRef, answer: ReturnData) -> int:
    """Return the fee in the key of the pool of Uniswap V4, which swaps do not pay."""
    first, second, fee_ppm, spacing, hooks = read_words(answer, 5, _V4_KEY)
    tokens = tuple(to_address(word, _V4_KEY) for word in (first, second))
    if to_address(hooks, _V4_KEY) != ref.address or tokens != ref.tokens or spacing != 1:
        raise invalid_response(_V4_KEY, "not the hook of a pool of Uniswap V4 with these tokens")
    return fee_ppm


def _vault_calls(configuration: _Configuration, k: int) -> Iterator[ContractCall]:
    account, (supply, borrow) = configuration.account, configuration.vaults[k]
    yield ContractCall(supply, encode_call(_ROOM, account))
    yield ContractCall(supply, encode_call(_BALANCE, account))
    yield ContractCall(supply, encode_call(_CASH))
    yield ContractCall(supply, encode_call(_LEAST, 1))
    if borrow is None:
        return
    yield ContractCall(borrow, encode_call(_DEBT, account))
    for name in (_CASH, _CAPS, _LOANS, _ORACLE, _UNIT):
        yield ContractCall(borrow, encode_call(name))
    yield ContractCall(borrow, encode_call(_LOAN_TO_VALUE, configuration.vaults[1 - k].supply))


def _read_vaults(configuration: _Configuration, answers: Sequence[ReturnData]) -> tuple[list[_Supply], list[_Loans]]:
    """Return what the vaults of both tokens say, from the answers of `_vault_calls`."""
    supplies, loans = [], []
    rest = iter(answers)
    for _, borrow in configuration.vaults:
        supplies.append(_Supply(*(read_word(next(rest), name) for name in (_ROOM, _BALANCE, _CASH, _LEAST))))
        if borrow is None:
            loans.append(_Loans())
            continue
        debt, cash = read_word(next(rest), _DEBT), read_word(next(rest), _CASH)
        cap, lent = _decode_cap(read_words(next(rest), 2, _CAPS)[1]), read_word(next(rest), _LOANS)
        loans.append(
            _Loans(
                debt=debt,
                cash=cash,
                room=None if cap is None else max(cap - lent, 0),
                oracle=read_address(next(rest), _ORACLE),
                unit=read_address(next(rest), _UNIT),
                loan_to_value_bps=read_word(next(rest), _LOAN_TO_VALUE),
            )
        )
    return supplies, loans


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


def _price_calls(
    ref: PoolRef, configuration: _Configuration, supplies: Sequence[_Supply], loans: Sequence[_Loans], k: int
) -> Iterator[ContractCall]:
    """Yield the calls for the value of a whole k-th token that is lent, and of the deposits that secure it."""
    oracle, unit, other = loans[k].oracle, loans[k].unit, 1 - k
    whole, shares = 10 ** ref.decimals[k], supplies[other].shares
    yield ContractCall(oracle, encode_call(_PRICES, whole, ref.tokens[k], unit), may_revert=True)
    collateral = configuration.vaults[other].supply
    yield ContractCall(oracle, encode_call(_PRICES, shares, collateral, unit), may_revert=True)


def _borrowable(
    ref: PoolRef, supplies: Sequence[_Supply], loans: Sequence[_Loans], answers: Sequence[ReturnData], k: int
) -> int:
    """Return what the account may still borrow of the k-th token, secured by its deposits of the other one."""
    own, other = loans[k], loans[1 - k]
    price, collateral = answers
    if other.debt or not supplies[1 - k].shares or not own.loan_to_value_bps or not collateral:
        return 0
    whole = 10 ** ref.decimals[k]
    if own.unit == ref.tokens[k]:
        ask = whole
    elif price:
        ask = read_words(price, 2, _PRICES)[1]
    else:
        return 0
    secured = read_words(collateral, 2, _PRICES)[0] * own.loan_to_value_bps // BPS
    room = secured - own.debt * ask // whole
    return max(room, 0) * (_KEPT_BACK - 1) // _KEPT_BACK * whole // ask if ask else 0
