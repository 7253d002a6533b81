"""Read the facts that completion needs from the settings, for `facts`, which caches them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swapcli import ConfigError, Network
from swapcli.core.networks.definition_files import packaged_networks, read_definition
from swapcli.faces.cli.completion.packaged_tokens import read_packaged_tokens
from swapcli.faces.cli.completion.setting_facts import SettingFacts
from swapcli.quoting.config import load_settings, networks_from


def read_setting_facts(environ: Mapping[str, str], home: str, defaults: SettingFacts) -> dict[str, Any]:
    """Return the fields of `SettingFacts`, or `defaults` if the settings have an error, which the command will
    report."""
    try:
        settings = load_settings(flags={}, environ=environ, config_path=None, home=Path(home))
        find, own = networks_from(settings), (*settings.networks, *settings.network_folder.files)
        networks = {name.lower(): _names(find(name)) for name in own}
    except ConfigError:
        return vars(defaults)
    return {
        "network": None if settings.network is None else settings.network.lower(),
        "stores": str(settings.store_dir or defaults.stores),
        "keys_file": str(settings.service.keys_file or defaults.keys_file),
        "networks": networks,
    }


def _packaged_without_pools(name: str) -> set[str]:
    """Return the symbols of tokens that the program describes but has no pools for; users may add pools."""
    if name not in packaged_networks():
        return set()
    return {token["symbol"] for token in read_definition(name)["tokens"]} - read_packaged_tokens().get(name, {}).keys()


def _names(network: Network) -> dict[str, list[list[str]]]:
    tokens = [network.native, *([network.wrapped_native] if network.wrapped_native else []), *network.tokens]
    without_pools = _packaged_without_pools(network.name)
    return {
        "tokens": [[token.symbol, token.name] for token in tokens if token.symbol not in without_pools],
        "protocols": [[protocol.amm_name, protocol.display_name] for protocol in network.protocols],
    }
