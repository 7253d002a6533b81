"""Settings as text: the rows of `config show`, and the example file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swapcli.core.encoding.secret import MASK, Secret
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.quoting.config.settings import (
    AGGREGATORS,
    DEFAULT_ORIGIN,
    FIELDS,
    NETWORK_TABLE,
    NETWORKS,
    AggregatorSettings,
    NetworkSettings,
    Setting,
    Settings,
    variable_of,
)

if TYPE_CHECKING:
    from swapcli.interface.document_types import SettingJson

_HEADER = """\
# The settings of swapcli with their defaults. Settings without a default are commented out.
# Flags override environment variables, which override this file. swapcli finds the file by --config, SWAPCLI_CONFIG,
# or as swapcli/config.yaml in $XDG_CONFIG_HOME or ~/.config. Relative file names start from its folder.
"""
_NETWORKS_EXAMPLE = """\
# Nodes, routers and tokens of networks, and your own networks.
# networks:
#   base:
{settings}#     tokens:
#       - {{address: 0x5656565656565656565656565656565656565656, symbol: MINE, name: My Token, decimals: 18}}
#     # Tokens that charge a fee on each transfer, in parts per million: routes skip them.
#     transfer_fees_ppm: {{0x5656565656565656565656565656565656565656: 20000}}
#     # Tokens that keep shares, as stETH: a transfer can lose up to 2 units.
#     share_tokens: [0x9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a]
#     # Tokens that refuse to change an allowance that is not zero, as USDT on Ethereum: it is revoked first.
#     revoke_first_tokens: [0xdededededededededededededededededededede]
#     # Tokens that no route trades, not even in between.
#     blocked_tokens: [0xbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbc]
#     # Price feeds in USD of Chainlink's form, by token; the verdict on a swap compares its price with them.
#     price_feeds: {{"0x4200000000000000000000000000000000000006": "0xfeedfeedfeedfeedfeedfeedfeedfeedfeedfeed"}}
#   # A network of your own. It can also be a file: swapcli help networks explains all keys.
#   my-network:
#     chain_id: 31337
#     native: {{symbol: ETH, name: Ether, decimals: 18}}
#     wrapped_native: 0x7878787878787878787878787878787878787878
#     rpc_url: http://127.0.0.1:8545
#     multicall: 0xca11bde05977b3631167028862be2a173976ca11
#     explorer: https://explorer.example
#     block_time_s: 12
#     gas_price_wei: 1000000000
#     tokens:
#       - {{address: 0x7878787878787878787878787878787878787878, symbol: WETH, name: Wrapped Ether, decimals: 18}}
#       - {{address: 0x5656565656565656565656565656565656565656, symbol: USDC, name: USD Coin, decimals: 6}}
#     stablecoins: [0x5656565656565656565656565656565656565656]
#     protocols:
#       - {{id: 0, amm_name: wrapper, display_name: Wrapper, family: wrapper}}
#       - {{id: 1, amm_name: uniswapV2, display_name: Uniswap V2, family: constant_product}}
#       - {{id: 2, amm_name: uniswapV3, display_name: Uniswap V3, family: concentrated, extra_keys: [fee]}}
#     deployments:
#       - protocols: [uniswapV2]
#         name: Uniswap V2
#         addresses: {{factory: 0x2222222222222222222222222222222222222222}}
#         fee_tiers: {{3000: 0}}
#       - protocols: [uniswapV3]
#         name: Uniswap V3
#         addresses: {{factory: 0x3333333333333333333333333333333333333333}}
#         fee_tiers: {{100: 1, 500: 10, 3000: 60, 10000: 200}}
#     routers:
#       universal-router:
#         address: 0x4444444444444444444444444444444444444444
#         spender: 0x000000000022d473030f116ddee9f6b43ac78ba3
#         version: "2.0"
#         protocols: {{uniswapV2: v2, uniswapV3: v3}}
"""
_AGGREGATORS_EXAMPLE = """\
# Aggregators for compare --aggregators: keys, and your own adapters; see swapcli help aggregators.
# aggregators:
#   lifi:
#     # API key; never shown, and sent only to this aggregator. [SWAPCLI_AGGREGATORS_LIFI_API_KEY]
#     api_key: a-key
#   mine:
#     title: My aggregator
#     address: https://aggregator.example
#     requests:
#       - {method: GET, path: /v1/swap, query: {sell: "{token_in}", buy: "{token_out}", amount: "{amount_in}"}}
#     answer: {output: quote.amountOut, gas: quote.gas, target: tx.to, data: tx.data, value: tx.value}
"""


class SettingRow(NamedTuple):
    """A setting for display. `value` is None if it is not set, and masked if it is a secret."""

    key: str
    value: str | None
    origin: str

    @own_document
    def document(self) -> SettingJson:
        """Return the JSON of `swapcli config get`."""
        return {"key": self.key, "value": self.value, "origin": self.origin}


class SettingList(NamedTuple):
    """Settings for display."""

    rows: tuple[SettingRow, ...]

    @own_document
    def document(self) -> list[SettingJson]:
        """Return the JSON of `swapcli config show`."""
        return [each.document() for each in self.rows]


def masked_rows(settings: Settings) -> list[SettingRow]:
    """Return every setting with its value and origin, in the order of the table, with networks last."""
    rows = []
    for group, members in FIELDS.items():
        holder = getattr(settings, group) if group else settings
        for name, row in members.items():
            rows.append(SettingRow(row.key, _shown(row, getattr(holder, name)), settings.origin(row.key)))
    for name, network in settings.networks.items():
        rows.extend(_network_rows(f"{NETWORKS}.{name}", network, settings))
    for name, aggregator in settings.aggregators.items():
        rows.extend(_aggregator_rows(f"{AGGREGATORS}.{name}", aggregator, settings))
    return rows


def show_settings(settings: Settings, *, changed: bool = False) -> SettingList:
    """Return every setting, or, with `changed`, only those that differ from their defaults."""
    return SettingList(tuple(row for row in masked_rows(settings) if not changed or row.origin != DEFAULT_ORIGIN))


def example_config() -> str:
    """Return a settings file that explains every setting and changes none of them."""
    parts = [_HEADER]
    for group, members in FIELDS.items():
        entries = [_example(row, "  " if group else "") for row in members.values()]
        parts.append((f"{group}:\n" if group else "") + "\n".join(entries))
    entries = [_example(row, "#     ", of_network="base") for row in NETWORK_TABLE.values()]
    parts += [_NETWORKS_EXAMPLE.format(settings="".join(entries)), _AGGREGATORS_EXAMPLE]
    return "\n".join(parts)


def _network_rows(prefix: str, network: NetworkSettings, settings: Settings) -> Iterator[SettingRow]:
    for name, row in NETWORK_TABLE.items():
        if (value := getattr(network, name)) is not None:
            yield SettingRow(f"{prefix}.{name}", _shown(row, value), settings.origin(f"{prefix}.{name}"))
    for name, value in network.additions.items():
        yield SettingRow(f"{prefix}.{name}", json.dumps(value, ensure_ascii=False), settings.origin(prefix))


def _aggregator_rows(prefix: str, aggregator: AggregatorSettings, settings: Settings) -> Iterator[SettingRow]:
    if aggregator.api_key is not None:
        yield SettingRow(f"{prefix}.api_key", aggregator.api_key.redacted, settings.origin(f"{prefix}.api_key"))
    for name, value in aggregator.definition.items():
        shown = json.dumps(_without_headers(value), ensure_ascii=False)
        yield SettingRow(f"{prefix}.{name}", shown, settings.origin(prefix))


def _without_headers(value: object) -> object:
    """Return a definition with its headers masked: some may hold a key, although keys have a separate setting."""
    if isinstance(value, list):
        return [_without_headers(each) for each in value]
    if isinstance(value, dict):
        return {
            name: dict.fromkeys(each, MASK) if name == "headers" else _without_headers(each)
            for name, each in value.items()
        }
    return value


def _shown(row: Setting, value: object) -> str | None:
    if isinstance(value, Secret):
        return value.redacted
    return None if value is None else row.value_type.format(value)


def _example(row: Setting, indent: str, of_network: str = "") -> str:
    variable = variable_of(f"{NETWORKS}.{of_network}.{row.key}") if of_network else row.variable
    name = row.key.rpartition(".")[2]
    if row.default is None:
        entry = f"{name}: {row.example}" if of_network else f"# {name}: {row.example}"
    else:
        entry = f"{name}: {row.value_type.format(row.default) or '[]'}"
    return f"{indent}# {row.help} [{variable}]\n{indent}{entry}\n"
