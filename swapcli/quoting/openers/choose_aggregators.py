"""Choose the aggregators that a comparison queries, from the command line and the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.plugins import AGGREGATOR_GROUP, plugins, skipped_plugin
from swapcli.core.records import NamedTuple
from swapcli.quoting.aggregators.adapter_definitions import adapter_names, find_adapter
from swapcli.quoting.aggregators.aggregator_adapter import AggregatorAdapter
from swapcli.quoting.config.aggregators import definitions_of
from swapcli.quoting.config.settings import AGGREGATORS, AggregatorSettings, variable_of

ALL: Final = "all"
"""The name that stands for all available aggregators, except those from packages, which must be named."""


def packaged_names() -> tuple[str, ...]:
    """Return the names of the aggregators that come with the program."""
    return adapter_names()


class AskedAggregator(NamedTuple):
    """An aggregator to query, with its API key if it has one."""

    adapter: AggregatorAdapter
    key: Secret | None = None


class ChosenAggregators(NamedTuple):
    """The aggregators to query, and, by name, the reasons why others are not queried."""

    asked: tuple[AskedAggregator, ...]
    left_out: Mapping[str, str]


def choose_aggregators(
    names: Sequence[str], network: Network, settings: Mapping[str, AggregatorSettings]
) -> ChosenAggregators:
    """Return the aggregators called `names`. The name `all` stands for all of them, except those that cannot be
    queried.

    Raises `InvalidOption` for an unknown name, and for a named aggregator that does not support the network or lacks
    its key.
    """
    definitions = definitions_of(settings, network)
    known, is_all = adapter_names(definitions), ALL in names
    for name in names:
        if name not in (*known, ALL) and name not in plugins(AGGREGATOR_GROUP):
            raise _unknown(name, tuple(sorted({*known, *plugins(AGGREGATOR_GROUP)})))
    asked: list[AskedAggregator] = []
    left_out: dict[str, str] = {}
    if is_all:
        of_packages = {name: each for name, each in plugins(AGGREGATOR_GROUP).items() if name not in (*known, *names)}
        left_out |= {
            name: f"used only if you name it: the package {each.origin} adds it" for name, each in of_packages.items()
        }
    for name in dict.fromkeys((*known, *(each for each in names if each != ALL)) if is_all else names):
        adapter = find_adapter(name, definitions)
        own = settings.get(name)
        key = own.api_key if own else None
        reason, advice = _why_not(adapter, network, key)
        if not reason:
            asked.append(AskedAggregator(adapter, key))
        elif name in names:
            raise InvalidOption(f"{adapter.title} cannot be used: {reason}", hint=advice)
        else:
            left_out[name] = reason
    if not asked:
        raise InvalidOption(f"no aggregator can be used on {network.name}", hint=f"known: {', '.join(known)}")
    return ChosenAggregators(tuple(asked), left_out)


def _unknown(name: str, known: Sequence[str]) -> InvalidOption:
    hint = did_you_mean(closest_names(name, known)) or f"known aggregators: {', '.join(known)}, or {ALL}"
    return InvalidOption(
        f'no aggregator "{name}"',
        hint=skipped_plugin(AGGREGATOR_GROUP, name) or hint,
        details={"aggregators": list(known)},
    )


def _why_not(adapter: AggregatorAdapter, network: Network, key: Secret | None) -> tuple[str, str | None]:
    """Return why an aggregator cannot be queried, and a hint; an empty reason if it can be."""
    if not adapter.knows(network):
        return f"it does not support {network.name}", None
    if adapter.needs_key and key is None:
        setting = f"{AGGREGATORS}.{adapter.name}.api_key"
        return "it needs an API key", f"set {variable_of(setting)}, or run swapcli config set {setting} -"
    return "", None
