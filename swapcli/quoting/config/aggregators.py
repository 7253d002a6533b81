"""Aggregators with the user's settings applied: API keys, different URLs, and new adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Network
from swapcli.core.plugins import AGGREGATOR_GROUP, is_plugin
from swapcli.quoting.aggregators.adapter_definitions import adapter_names, find_adapter, is_whole
from swapcli.quoting.config.network_folder import NetworkFolder
from swapcli.quoting.config.settings import AGGREGATOR_TABLE, AGGREGATORS, AggregatorSettings
from swapcli.quoting.config.source_readers import RawValue


def known_names(given: Mapping[str, RawValue]) -> tuple[str, ...]:
    """Return the names of the packaged adapters and of the adapters that `given` mentions."""
    return adapter_names(dict.fromkeys(_names(given)))


def read_aggregators(
    given: Mapping[str, RawValue], values: Mapping[str, Any], folder: NetworkFolder
) -> dict[str, AggregatorSettings]:
    """Return the settings of each aggregator, checked by building its adapter. `values` holds the parsed values of
    `given`.

    Raises `ConfigError`, which names the source of the setting.
    """
    aggregators = {}
    for name in _names(given):
        key = f"{AGGREGATORS}.{name}"
        whole = given.get(key)
        members = cast(Mapping[str, object], whole.value) if whole else {}
        definition = {member: value for member, value in members.items() if member not in AGGREGATOR_TABLE}
        source = next(each for each_key, each in given.items() if f"{each_key}.".startswith(f"{key}."))
        is_of_package = name not in adapter_names() and not is_whole(definition) and is_plugin(AGGREGATOR_GROUP, name)
        if not is_of_package and (definition or not _is_in_network_file(name, folder)):  # no package is imported here
            _check(name, definition, source)
        aggregators[name] = AggregatorSettings(values.get(f"{key}.api_key"), definition)
    return aggregators


def definitions_of(
    aggregators: Mapping[str, AggregatorSettings], network: Network | None = None
) -> dict[str, Mapping[str, object]]:
    """Return the adapters in the settings, merged into those in a network's definition, as definitions by name."""
    of_network = network.aggregators if network else {}
    names = dict.fromkeys([*of_network, *aggregators])
    of_settings = {name: each.definition for name, each in aggregators.items()}
    merged = {name: {**of_network.get(name, {}), **of_settings.get(name, {})} for name in names}
    return {name: definition for name, definition in merged.items() if definition}


def _names(given: Mapping[str, RawValue]) -> list[str]:
    keys = (key.split(".") for key in given)
    return list(dict.fromkeys(parts[1] for parts in keys if parts[0] == AGGREGATORS))


def _is_in_network_file(name: str, folder: NetworkFolder) -> bool:
    """Return whether a network file has an adapter whose name none of swapcli's adapters has."""
    if name in adapter_names() or not folder.files:
        return False
    from swapcli.quoting.config.network_files import network_files

    contents = (file.read() for file in network_files(folder).values())
    described = (content.get("aggregators") for content in contents if isinstance(content, Mapping))
    return any(isinstance(each, Mapping) and name in each for each in described)


def _check(name: str, definition: Mapping[str, object], source: RawValue) -> None:
    known = adapter_names()
    if name not in known and not definition:
        raise ConfigError(
            f'{source.lined_place}: unknown aggregator "{name}"',
            hint=f"known aggregators: {', '.join(known)}; swapcli help aggregators shows how to add one",
            details={"key": f"{AGGREGATORS}.{name}"},
        )
    try:
        find_adapter(name, {name: definition})
    except ConfigError as error:
        if source.source is not None:
            from swapcli.quoting.config.file_lines import place_error

            place_error(error, source.source.path, source.source.lines())
        else:
            error.place = source.place.removesuffix(f"{AGGREGATORS}.{name}") + (error.place or "")
        raise
