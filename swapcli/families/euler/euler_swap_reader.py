"""Read EulerSwap pools: their curve, and the amounts that the vaults behind them can take and pay at the block.

Both versions limit quotes to the vaults' room, cash and caps. An account may still lack the collateral to borrow that
much, which shows only during a swap. So the reader also reads the deposits of both tokens, the account's other
collateral, their borrowing loan-to-value ratios and the prices of the lender's oracle, which are proportional to the
amount. Swaps go through Uniswap V4, where each pool is its own hook; other pools, and pools whose owner has set a swap
hook, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS, PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.euler.euler_swap import COLLATERAL_BITS, COLLATERAL_SCALE, KEPT_BACK, MAX_RESERVE, RATE_BITS
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
_UNLOCKED: Final = 1  # the status of a pool that accepts swaps
_COLLATERALS: Final = "getCollaterals(address)"
_HOOKS: Final = "hookConfig()"
_MAX_REFERENCE: Final = 1 << 96
"""The largest amount whose price is read: vaults and oracles reject amounts of more than 112 bits."""
_WITHDRAW, _BORROW, _REPAY, _STATUS_CHECK = 1 << 2, 1 << 6, 1 << 7, 1 << 14
"""The operations of a vault, with their numbers in its hook configuration."""
_WAD_PER_PPM: Final = WAD // PPM


class _Vaults(NamedTuple):
    """The vaults of one token; `borrow` is None if the account borrows nothing."""

    supply: str
    borrow: str | None


class _Configuration(NamedTuple):
    """The data that both versions return about a pool, in the order of its tokens."""

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
    fee_paid_out: int


class _Supply(NamedTuple):
    """The account's vault for deposits. `reference_shares` are the shares for the reference amount."""

    room: int
    shares: int
    cash: int
    least: int
    reference_shares: int
    assets: int
    hooks: tuple[int, ...] | None


class _Loans(NamedTuple):
    """The account's vault for loans. The ratio is that of the other token's deposits as collateral."""

    debt: int = 0
    cash: int = 0
    room: int | None = 0
    oracle: str = ZERO_ADDRESS
    unit: str = ZERO_ADDRESS
    loan_to_value_bps: int = 0
    hooks: tuple[int, ...] | None = None

    def disables(self, operation: int) -> bool:
        """Return whether the vault rejects an operation."""
        return _disables(self.hooks, operation)


class _Collateral(NamedTuple):
    """Another collateral of the account for loans of the k-th token, and its value in the lender's unit."""

    k: int
    vault: str
    loan_to_value_bps: int
    shares: int


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds, plus a fourth if its account has collateral besides the pool's deposits."""
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
    references = [
        min(max(10**places, reserve, middle), _MAX_REFERENCE)
        for places, reserve, middle in zip(ref.decimals, (first, second), configuration.equilibrium, strict=True)
    ]
    values = yield from read_views(
        view("is_operator", evc, "isAccountOperatorAuthorized(address,address)", configuration.account, pool),
        view("controllers", evc, _CONTROLLERS, configuration.account, decode=decode_addresses),
        view("collaterals", evc, _COLLATERALS, configuration.account, decode=decode_addresses),
        *(view(token, token, "balanceOf(address)", pool_manager) for token in ref.tokens),
        *(each for k in (0, 1) for each in _vault_views(configuration, references, k)),
    )
    if not values["is_operator"]:
        raise invalid_response(pool, "its account no longer authorizes the pool as its operator")
    _check_lenders(configuration, values["controllers"])
    balances = [values[token] for token in ref.tokens]
    supplies = [_Supply(*(values[f"{name} {k}"] for name in _Supply._fields)) for k in (0, 1)]
    loans = [_loans(values, configuration, k) if configuration.vaults[k].borrow else _Loans() for k in (0, 1)]
    _check_operations(ref, supplies, loans)
    own = {supply for supply, _ in configuration.vaults}
    further = [each for each in values["collaterals"] if each not in own]
    values = yield from read_views(
        *(
            view(f"deposits {k}", configuration.vaults[k].supply, "convertToAssets(uint256)", supplies[k].shares)
            for k in (0, 1)
        ),
        *(each for k in (0, 1) for each in _price_views(ref, configuration, supplies, loans, references, k)),
        *(each for vault in further for each in _collateral_views(configuration, vault)),
    )
    deposits = [values[f"deposits {k}"] for k in (0, 1)]
    others = yield from _read_values(configuration, loans, further, values)
    secured = [_secured(ref, loans, deposits, references, values, others, k) for k in (0, 1)]
    state = {
        "version": configuration.version,
        "reserves": [first, second],
        **{
            name: list(getattr(configuration, name))
            for name in ("equilibrium", "min_reserves", "prices", "concentrations", "fees")
        },
        "debts": [min(each.debt, MAX_RESERVE) for each in loans],
        "deposit_capacity": [min(max(each.room - each.assets // KEPT_BACK, 0), MAX_RESERVE) for each in supplies],
        "min_deposits": [min(each.least, MAX_RESERVE) for each in supplies],
        "output_limits": [
            min(_payable(configuration, supplies[k], loans[k], deposits[k], k), MAX_RESERVE) for k in (0, 1)
        ],
        "deposits": [min(each, MAX_RESERVE) for each in deposits],
        "collateral": [min(total, (1 << COLLATERAL_BITS) - 1) for total, _ in secured],
        "collateral_rates": [min(rate, (1 << RATE_BITS) - 1) for _, rate in secured],
        "fee_paid_out": configuration.fee_paid_out,
        "pool_manager": pool_manager,
        "manager_balances": [min(each, MAX_RESERVE) for each in balances],
        "v4_fee_ppm": v4_fee_ppm,
        "vaults": [[*dict.fromkeys(filter(None, each))] for each in configuration.vaults],
    }
    return build_pool(ref, min(configuration.fees) // _WAD_PER_PPM, state)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pools in one round: from the first version's factory, or the second version's
    registry."""
    return (yield from read_address_list(factory.address, _POOLS))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
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
        fee_paid_out=_fee_paid_out(ZERO_ADDRESS, to_address(numbers[11], function), numbers[10]),
    )


def _decode_static(answer: ReturnData, function: str) -> tuple[tuple[str, ...], int]:
    """Return the deposit vaults, the loan vaults and the account, and the paid-out part of the fee."""
    *numbers, protocol_fee = read_words(answer, 8, function)
    *addresses, recipient, protocol_recipient = (to_address(word, function) for word in numbers)
    return tuple(addresses), _fee_paid_out(recipient, protocol_recipient, protocol_fee)


def _fee_paid_out(recipient: str, protocol_recipient: str, protocol_fee: int) -> int:
    """Return the part of the fee that is not deposited: if the pool has a recipient, it gets the rest after the
    protocol's share."""
    if recipient != ZERO_ADDRESS:
        return WAD
    return min(protocol_fee, WAD) if protocol_recipient != ZERO_ADDRESS else 0


def _configuration(ref: PoolRef, values: Mapping[str, Any]) -> _Configuration:
    if values["first"]:
        configuration: _Configuration = values["first"]
        return configuration
    if not (values["static"] and values["dynamic"]):
        raise invalid_response(ref.address, "neither the first nor the second version of EulerSwap")
    (supply0, supply1, *loans, account), fee_paid_out = values["static"]
    borrow0, borrow1 = (None if address == ZERO_ADDRESS else address for address in loans)
    *pairs, expires_at, hooked_operations, _ = values["dynamic"]
    vaults = (_Vaults(supply0, borrow0), _Vaults(supply1, borrow1))
    equilibrium, floors, prices, concentrations, fees = zip(pairs[::2], pairs[1::2], strict=True)
    return _Configuration(
        *(2, vaults, account, equilibrium, floors, prices, concentrations, fees, expires_at, hooked_operations),
        fee_paid_out,
    )


def _check_time(configuration: _Configuration, answer: ReturnData) -> None:
    """Raise `InvalidUpstreamResponse` for a pool that has expired, or after which a contract of its owner runs."""
    if configuration.hooked_operations:
        raise invalid_response(_DYNAMIC, "the owner's swap hook may set fees, reject swaps or change the curve")
    expires_at = configuration.expires_at
    if expires_at and read_block_time(answer, "at which the pool may have expired") >= expires_at:
        raise invalid_response(_DYNAMIC, f"the pool has expired at {expires_at}")


def _check_lenders(configuration: _Configuration, controllers: Sequence[str]) -> None:
    """Raise `InvalidUpstreamResponse` if the account has a debt to a vault outside the pool.

    Such a lender controls what the account may withdraw, and does not let it borrow from other vaults.
    """
    own = {borrow for _, borrow in configuration.vaults}
    if others := set(controllers) - own:
        raise invalid_response(_CONTROLLERS, f"the account owes to {min(others)}, which is not a vault of the pool")


def _check_operations(ref: PoolRef, supplies: Sequence[_Supply], loans: Sequence[_Loans]) -> None:
    """Raise `InvalidUpstreamResponse` if a vault rejects all operations, or the repayment of a debt."""
    for supply, loan in zip(supplies, loans, strict=True):
        if _disables(supply.hooks, _STATUS_CHECK) or loan.disables(_STATUS_CHECK):
            raise invalid_response(_HOOKS, f"a vault of {ref.address} rejects all operations")
        if loan.debt and loan.disables(_REPAY):
            raise invalid_response(_HOOKS, f"a vault of {ref.address} rejects repayments")


def _disables(hooks: tuple[int, ...] | None, operation: int) -> bool:
    """Return whether a vault's hooks reject an operation: hooks with the zero address as target do."""
    return hooks is not None and not hooks[0] and bool(hooks[1] & operation)


def _v4_fee(ref: PoolRef, key: Sequence[int]) -> int:
    """Return the fee in the Uniswap V4 pool's key, which swaps do not pay."""
    first, second, fee_ppm, spacing, hooks = key
    tokens = tuple(to_address(word, _V4_KEY) for word in (first, second))
    if to_address(hooks, _V4_KEY) != ref.address or tokens != ref.tokens or spacing != 1:
        raise invalid_response(_V4_KEY, "not the hook of a Uniswap V4 pool with these tokens")
    return fee_ppm


def _vault_views(configuration: _Configuration, references: Sequence[int], k: int) -> Iterator[View]:
    account, (supply, borrow) = configuration.account, configuration.vaults[k]
    yield view(f"room {k}", supply, "maxDeposit(address)", account)
    yield view(f"shares {k}", supply, "balanceOf(address)", account)
    yield view(f"cash {k}", supply, "cash()")
    yield view(f"least {k}", supply, "previewMint(uint256)", 1)
    yield view(f"reference_shares {k}", supply, "convertToShares(uint256)", references[k])
    yield view(f"assets {k}", supply, "totalAssets()")
    yield optional_view(f"hooks {k}", supply, _HOOKS, decode=words(2))
    if borrow is None:
        return
    yield view(f"debt {k}", borrow, "debtOf(address)", account)
    yield view(f"loan cash {k}", borrow, "cash()")
    yield view(f"caps {k}", borrow, "caps()", decode=words(2))
    yield view(f"lent {k}", borrow, "totalBorrows()")
    yield view(f"oracle {k}", borrow, "oracle()", decode=read_address)
    yield view(f"unit {k}", borrow, "unitOfAccount()", decode=read_address)
    yield view(f"loan to value {k}", borrow, "LTVBorrow(address)", configuration.vaults[1 - k].supply)
    yield optional_view(f"loan hooks {k}", borrow, _HOOKS, decode=words(2))


def _loans(values: Mapping[str, Any], configuration: _Configuration, k: int) -> _Loans:
    _, borrow_cap = values[f"caps {k}"]
    cap, lent = _decode_cap(borrow_cap), values[f"lent {k}"]
    is_enabled = configuration.vaults[1 - k].supply in values["collaterals"]
    return _Loans(
        debt=values[f"debt {k}"],
        cash=values[f"loan cash {k}"],
        room=None if cap is None else max(cap - lent - lent // KEPT_BACK, 0),
        oracle=values[f"oracle {k}"],
        unit=values[f"unit {k}"],
        loan_to_value_bps=values[f"loan to value {k}"] if is_enabled else 0,
        hooks=values[f"loan hooks {k}"],
    )


def _decode_cap(cap: int) -> int | None:
    """Return a cap, stored as digits and an exponent, as a number, or None if there is none."""
    return 10 ** (cap & 63) * (cap >> 6) // 100 if cap else None


def _payable(configuration: _Configuration, supply: _Supply, loans: _Loans, deposits: int, k: int) -> int:
    """Return the amount that the k-th token's vaults can pay by their cash and caps, as in the contract's quotes."""
    supply_vault, borrow_vault = configuration.vaults[k]
    if configuration.version == 1 or deposits > supply.cash or supply_vault == borrow_vault:
        payable = supply.cash
    else:
        payable = deposits + loans.cash
    if borrow_vault is not None and loans.room is not None:
        payable = min(payable, deposits + loans.room)
    if _disables(supply.hooks, _WITHDRAW):
        payable = payable if not deposits else 0
    return min(payable, deposits) if loans.disables(_BORROW) else payable


def _price_views(
    ref: PoolRef,
    configuration: _Configuration,
    supplies: Sequence[_Supply],
    loans: Sequence[_Loans],
    references: Sequence[int],
    k: int,
) -> Iterator[View]:
    """Yield the view calls for the values of the k-th token's lent reference amount and of the other token's deposits.

    The deposits include the reference amount of the other token.
    """
    oracle, unit, other = loans[k].oracle, loans[k].unit, 1 - k
    shares = supplies[other].shares + supplies[other].reference_shares
    yield optional_view(f"price {k}", oracle, _PRICES, references[k], ref.tokens[k], unit, decode=words(2))
    collateral = configuration.vaults[other].supply
    yield optional_view(f"collateral {k}", oracle, _PRICES, shares, collateral, unit, decode=words(2))


def _collateral_views(configuration: _Configuration, vault: str) -> Iterator[View]:
    """Yield the view calls for the account's amount of another collateral, and for its ratios."""
    yield optional_view(f"balance {vault}", vault, "balanceOf(address)", configuration.account)
    for k in (0, 1):
        if borrow := configuration.vaults[k].borrow:
            yield view(f"ratio {k} {vault}", borrow, "LTVBorrow(address)", vault)


def _read_values(
    configuration: _Configuration, loans: Sequence[_Loans], further: Sequence[str], values: Mapping[str, Any]
) -> BatchRead[tuple[int, ...]]:
    """Read, for both tokens, how much other collateral secures, in the units of the lenders; usually there is none."""
    found = [
        _Collateral(k, vault, ratio, shares)
        for k in (0, 1)
        for vault in further
        if configuration.vaults[k].borrow
        and (ratio := values[f"ratio {k} {vault}"])
        and (shares := values[f"balance {vault}"])
    ]
    if not found:
        return 0, 0
    bids = yield from read_views(
        *(
            optional_view(
                f"{each.k} {each.vault}",
                *(loans[each.k].oracle, _PRICES, each.shares, each.vault, loans[each.k].unit),
                decode=words(2),
            )
            for each in found
        )
    )
    totals = [0, 0]
    for each in found:
        if value := bids[f"{each.k} {each.vault}"]:
            totals[each.k] += value[0] * each.loan_to_value_bps // BPS
    return tuple(totals)


def _secured(
    ref: PoolRef,
    loans: Sequence[_Loans],
    deposits: Sequence[int],
    references: Sequence[int],
    values: Mapping[str, Any],
    others: Sequence[int],
    k: int,
) -> tuple[int, int]:
    """Return the debt in the k-th token that the account's collateral secures, and how much one more unit of the
    other's deposits secures.

    The second value is scaled by `COLLATERAL_SCALE`.
    """
    own, other = loans[k], 1 - k
    price, bid = values[f"price {k}"], values[f"collateral {k}"]
    ask = references[k] if own.unit == ref.tokens[k] else price[1] if price else 0
    if not ask:
        return 0, 0
    of_deposits = bid[0] * own.loan_to_value_bps if bid else 0
    assets = deposits[other] + references[other]
    total = of_deposits * deposits[other] // (assets * BPS) + others[k]
    return total * references[k] // ask, of_deposits * COLLATERAL_SCALE * references[k] // (assets * BPS * ask)
