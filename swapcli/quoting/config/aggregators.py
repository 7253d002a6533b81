"""Aggregators as the user's settings extend them: API keys, other addresses, and adapters of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from swapcli.core.errors import ConfigError
from swapcli.quoting.aggregators.adapter_definitions import adapter_names, find_adapter
from swapcli.quoting.config.settings import AGGREGATOR_TABLE, AGGREGATORS, AggregatorSettings
from swapcli.quoting.config.source_readers import RawValue


def known_names(given: Mapping[str, RawValue]) -> tuple[str, ...]:
    """Return the names of the packaged adapters and of those that `given` mentions."""
    return adapter_names(dict.fromkeys(_names(given)))


def read_aggregators(given: Mapping[str, RawValue], values: Mapping[str, Any]) -> dict[str, AggregatorSettings]:
    """Return the settings of each aggregator, checked by building it. `values` holds the parsed values of `given`.

    Raises `ConfigError` that names the source.
    """
    aggregators = {}
    for name in _names(given):
        key = f"{AGGREGATORS}.{name}"
        whole = given.get(key)
        members = cast(Mapping[str, object], whole.value) if whole else {}
        definition = {member: value for member, value in members.items() if member not in AGGREGATOR_TABLE}
        source = next(each for each_key, each in given.items() if f"{each_key}.".startswith(f"{key}."))
        _check(name, definition, source)
        aggregators[name] = AggregatorSettings(values.get(f"{key}.api_key"), definition)
    return aggregators


def definitions_of(aggregators: Mapping[str, AggregatorSettings]) -> dict[str, Mapping[str, object]]:
    """Return what the settings say of adapters, in the form of definitions."""
    return {name: each.definition for name, each in aggregators.items()}


def _names(given: Mapping[str, RawValue]) -> list[str]:
    keys = (key.split(".") for key in given)
    return list(dict.fromkeys(parts[1] for parts in keys if parts[0] == AGGREGATORS))


def _check(name: str, definition: Mapping[str, object], source: RawValue) -> None:
    known = adapter_names()
    if name not in known and not definition:
        raise ConfigError(
            f'{source.place}: there is no aggregator "{name}"',
            hint=f"known aggregators: {', '.join(known)}; swapcli help aggregators shows how to add one",
            details={"key": f"{AGGREGATORS}.{name}"},
        )
    try:
        find_adapter(name, {name: definition})
    except ConfigError as error:
        error.place = source.place.removesuffix(f"{AGGREGATORS}.{name}") + (error.place or "")
        raise
