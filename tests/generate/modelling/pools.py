"""One entry of a modelled market: a row of the table becomes a pool with an address and a state."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.address import STARKNET_ADDRESS_LIMIT, display_address, parse_address
from swapcli.core.networks.pool_addresses import deployment_of, ekubo_pool_id, is_solidly, pool_address, v4_pool_id
from swapcli.families.ekubo.ekubo import fee_ppm_of
from swapcli.families.ekubo.ekubo_reader import RECORDED_FEES_X128
from tests.generate.modelling import shapes
from tests.generate.modelling.exact import SeededRandom
from tests.generate.modelling.positions import EKUBO_TICKS, concentrated_state
from tests.generate.modelling.tables import PoolRow, Table

_MAX_PRICE_OFFSET_IN_FEES = Decimal("0.9")
_MAX_PRICE_OFFSET = Decimal("0.004")


@dataclass(frozen=True, slots=True)
class _PoolInputs:
    """A row of the table with its entries in the catalogue.

    `tokens` are in the contract's order, `unit_values` holds the value of a base unit. With `is_native`, token 0
    is the native currency.
    """

    row: PoolRow
    protocol: ProtocolInfo
    network: Network
    tokens: tuple[Token, ...]
    unit_values: tuple[Decimal, ...]
    is_pegged: bool
    is_native: bool
    random: SeededRandom

    @property
    def decimals(self) -> tuple[int, ...]:
        return tuple(token.decimals for token in self.tokens)

    @property
    def is_singleton(self) -> bool:
        """Whether one contract holds all pools of the protocol, identified by ids."""
        return _is_uniswap_v4(self.protocol)


def _is_uniswap_v4(protocol: ProtocolInfo) -> bool:
    return ContractKind.UNISWAP_V4 in protocol.contracts


def pool_entry(row: PoolRow, table: Table, network: Network) -> dict[str, object]:
    """Return the pool of `row` as the market format writes it.

    `address_modelled` marks an address that stands for an unknown one. Raises `KeyError` for a symbol or protocol that
    the catalogue does not have.
    """
    setting = _collect_inputs(row, table, network)
    return {
        **_address_fields(setting),
        "protocol": row.amm_name,
        "family": setting.protocol.family,
        "tokens": [display_address(token.address, network.kind) for token in setting.tokens],
        "fee_ppm": row.fee_ppm,
        **_state_fields(setting),
    }


def _collect_inputs(row: PoolRow, table: Table, network: Network) -> _PoolInputs:
    protocol = network.protocol(row.amm_name)
    if protocol is None or protocol.family is None:
        raise KeyError(f"{network.name} has no protocol {row.amm_name} whose maths are known")
    native = _is_uniswap_v4(protocol) and network.native.symbol in row.symbols
    tokens = [_find_token(symbol, network) for symbol in row.symbols]
    if native:
        tokens.sort(key=lambda token: token != network.wrapped_native)
    elif protocol.family not in ("stableswap", "cryptoswap"):
        tokens.sort(key=lambda token: token.address)
    return _PoolInputs(
        row=row,
        protocol=protocol,
        network=network,
        tokens=tuple(tokens),
        unit_values=tuple(table.prices_usd[token.symbol].scaleb(-token.decimals) for token in tokens),
        is_pegged=table.are_pegged([token.symbol for token in tokens]),
        is_native=native,
        random=SeededRandom(f"{network.name}/{row.amm_name}/{'/'.join(row.symbols)}/{row.fee_ppm}/{row.tick_spacing}"),
    )


def _find_token(symbol: str, network: Network) -> Token:
    if symbol == network.native.symbol and network.wrapped_native is not None:
        return network.wrapped_native
    return {token.symbol: token for token in network.tokens}[symbol]


def _address_fields(setting: _PoolInputs) -> dict[str, object]:
    row, network, kind = setting.row, setting.network, setting.network.kind
    if setting.protocol.family == "ekubo":
        return _ekubo_address_fields(setting)
    token0, token1 = setting.tokens[0].address, setting.tokens[1].address
    tier = row.tick_spacing if setting.protocol.extra_keys == ("tickSpacing",) else row.fee_ppm
    known = row.address or pool_address(network, row.amm_name, token0, token1, tier)
    if known is None:
        return {"address": display_address(_placeholder_address(setting), kind), "address_modelled": True}
    address: dict[str, object] = {"address": display_address(parse_address(known, kind), kind)}
    if setting.is_singleton:
        currency0 = ZERO_ADDRESS if setting.is_native else token0
        address["pool_id"] = v4_pool_id(currency0, token1, row.fee_ppm, row.tick_spacing)
    return address


def _ekubo_address_fields(setting: _PoolInputs) -> dict[str, object]:
    """Return the core and the id of a pool without extension. A key that is not recorded is a placeholder."""
    row, network = setting.row, setting.network
    deployment = deployment_of(network, row.amm_name)
    assert deployment is not None
    token0, token1 = (token.address for token in setting.tokens)
    return {
        "address": display_address(parse_address(deployment.addresses["core"], network.kind), network.kind),
        **({} if row.recorded else {"address_modelled": True}),
        "pool_id": ekubo_pool_id(token0, token1, _ekubo_fee(row), row.tick_spacing, "0x0"),
    }


def _ekubo_fee(row: PoolRow) -> int:
    """Return the fee of a row as it stands in keys on chain, with 128 fractional bits: it follows from no rule."""
    return next(fee for fee in RECORDED_FEES_X128 if fee_ppm_of(fee) == row.fee_ppm)


def _placeholder_address(setting: _PoolInputs) -> str:
    """Return a fixed address for a pool whose real one is unknown: a hash of its description."""
    row, kind = setting.row, setting.network.kind
    described = f"{setting.network.name} {row.amm_name} {'/'.join(row.symbols)} {row.fee_ppm} {row.tick_spacing}"
    number = int.from_bytes(keccak256(f"swapcli modelled pool: {described}".encode()))
    if kind is Kind.STARKNET:
        return parse_address(f"{number % STARKNET_ADDRESS_LIMIT:#x}", kind)
    return f"0x{number % (1 << 160):040x}"


def _state_fields(setting: _PoolInputs) -> dict[str, object]:
    row, unit_values, random = setting.row, setting.unit_values, setting.random
    most_off = min(_MAX_PRICE_OFFSET, _MAX_PRICE_OFFSET_IN_FEES * row.fee_ppm / 10**6)
    price = unit_values[0] / unit_values[1] * (1 + most_off * random.symmetric_uniform())
    match setting.protocol.family:
        case "constant_product":
            return shapes.constant_product_state(price, unit_values, row.depth_usd) | _pair_variant(setting)
        case "solidly_stable":
            return shapes.solidly_stable_state(price, unit_values, row.depth_usd, setting.decimals)
        case "stableswap":
            state = shapes.stableswap_state(unit_values, row.depth_usd, setting.decimals, row.amp, row.fee_ppm, random)
            return state | ({"variant": row.variant} if row.variant else {})
        case "concentrated":
            ladder = concentrated_state(
                price, unit_values, row.depth_usd, row.fee_ppm, row.tick_spacing, setting.is_pegged, random
            )
            return ladder | _concentrated_variant(setting)
        case "ekubo":
            ladder = concentrated_state(
                price, unit_values, row.depth_usd, row.fee_ppm, row.tick_spacing, setting.is_pegged, random,
                EKUBO_TICKS, "sqrt_ratio",
            )  # fmt: skip
            return ladder | {"fee_x128": str(_ekubo_fee(row)), "extension": "0x0"}
        case "cryptoswap":
            return shapes.cryptoswap_state(unit_values, row.depth_usd, setting.decimals, row.fee_ppm)
        case "balancer_v3_weighted":
            return shapes.balancer_v3_weighted_state(
                unit_values, row.depth_usd, most_off * random.symmetric_uniform(), row.weights
            )
        case family:
            raise KeyError(f"no shape for pools of the family {family}")


def _pair_variant(setting: _PoolInputs) -> dict[str, object]:
    """Return the variant: Solidly takes the fee out of the pool, Uniswap V2 leaves it inside."""
    return {"variant": "solidly"} if is_solidly(setting.network, setting.row.amm_name) else {}


def _concentrated_variant(setting: _PoolInputs) -> dict[str, object]:
    """Return the fields that mark a Uniswap V4 or an Algebra pool."""
    if setting.is_singleton:
        return {"hooks": ZERO_ADDRESS} | ({"native": True} if setting.is_native else {})
    return {} if setting.protocol.extra_keys else {"variant": "algebra_integral"}
