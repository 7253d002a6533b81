"""References to pools as text, for stores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import PoolConstants

_COMMON_FIELDS: Final = ("address", "protocol", "family", "kind", "tokens", "decimals", "fee_ppm")
_FIRST_FIELDS: Final = (
    *_COMMON_FIELDS,
    *("tick_spacing", "pool_id", "native", "factory", "last_tick", "known_ticks", "hooks", "has_dynamic_fee"),
    "constants",
)
"""The entries of the first format, a list in which kinds shared fields: `factory` was also used for a vault or a
resolver."""


def format_pool_ref(ref: PoolRef) -> str:
    """Return a reference as JSON, without the results of the last read."""
    fields: dict[str, object] = {name: getattr(ref, name) for name in _COMMON_FIELDS}
    if ref.constants is not None:
        fields["constants"] = ref.constants._asdict()
    return json.dumps(fields)


def parse_pool_ref(text: str) -> PoolRef:
    """Parse the result of `format_pool_ref`, or a reference in the older list format."""
    document = json.loads(text)
    fields = dict(zip(_FIRST_FIELDS, document, strict=False)) if isinstance(document, list) else document
    kind = fields["kind"]
    tokens, decimals = tuple(fields["tokens"]), tuple(fields["decimals"])
    ref = PoolRef(fields["address"], fields["protocol"], fields["family"], kind, tokens, decimals, fields["fee_ppm"])
    values = _values_of_first_format(fields) if isinstance(document, list) else fields.get("constants")
    return ref if values is None else ref._replace(constants=_constants(kind, values))


def _constants(kind: str, values: Mapping[str, Any]) -> PoolConstants | None:
    record = KINDS[kind].constants
    if record is None:
        return None
    make = cast(Any, record)
    constants: PoolConstants = make(**{name: _to_tuple(values[name]) for name in make._fields if name in values})
    return constants


def _to_tuple(value: object) -> object:
    return tuple(_to_tuple(each) for each in value) if isinstance(value, list) else value


def _values_of_first_format(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record in the first format to today's field names."""
    named: Sequence[Sequence[str]] = fields.get("constants", [])
    contract = fields.get("factory", "")
    values: dict[str, Any] = {
        "pool_id": fields.get("pool_id", ""),
        "tick_spacing": fields.get("tick_spacing", 0),
        "hooks": fields.get("hooks", ZERO_ADDRESS),
        "is_native": fields.get("native", False),
        "has_dynamic_fee": fields.get("has_dynamic_fee", False),
        **dict.fromkeys(("factory", "vault", "resolver"), contract),
    }
    if KINDS[fields["kind"]].is_sampled:
        return {**values, "values": named}
    for name, value in named:
        match name:
            case "parameters":
                values[name] = int(value, 16)
            case "fee_x128":
                values[name] = int(value)
            case "pool_tokens":
                values[name] = value.split(",")
            case _:
                values[name] = value
    return values
