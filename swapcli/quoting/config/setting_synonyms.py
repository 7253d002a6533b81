"""Synonyms of settings, in files, variables and commands. Imported only for the error about an unknown setting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from swapcli.quoting.config.settings import ENVIRONMENT_PREFIX

SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("rpc", "rpc_url", "node", "provider"), "networks.NETWORK.rpc_url"),
        **dict.fromkeys(("rpc_urls", "nodes"), "networks.NETWORK.rpc_urls"),
        "state": "block",
        **dict.fromkeys(("chain", "chain_id", "default_network"), "network"),
        **dict.fromkeys(("format", "json"), "output"),
        "offline": "live, with the value never",
        **dict.fromkeys(("protocols", "excluded_protocols"), "exclude_protocols"),
        **dict.fromkeys(("allowed_protocols", "include_protocols"), "only_protocols"),
        "router": "router_dialect, or networks.NETWORK.router",
        **dict.fromkeys(("slippage_bps", "slippage_percent"), "slippage, with a value such as 50bps"),
        **dict.fromkeys(("store", "data_dir"), "store_dir"),
        **dict.fromkeys(("max_age", "age"), "max_age_s"),
        "timeout": "timeout_s",
    }
)
"""Synonyms of settings, each with the name of the setting."""


def explain_synonym(name: str) -> str:
    """Return a hint that names the setting for which a synonym, or its variable, stands, or an empty text if there is
    none."""
    meant = SYNONYMS.get(name.removeprefix(ENVIRONMENT_PREFIX).lower())
    return f"the setting is {meant}" if meant else ""
