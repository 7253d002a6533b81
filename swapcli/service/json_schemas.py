"""The bodies of the interface as JSON schemas: generated from their types, then told what their fields may hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_type_hints

from swapcli.api import schemas
from swapcli.api.request_parameters import MAX_DEADLINE_S
from swapcli.api.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange
from swapcli.model.network import Kind
from swapcli.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, PPM_PER_PERCENT

Schema = dict[str, Any]

PREFIX: Final = "#/components/schemas/"

ADDRESS: Final[Mapping[Kind, Schema]] = {
    Kind.EVM: {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$"},
    Kind.STARKNET: {"type": "string", "pattern": "^0[xX]0*[1-9a-fA-F][0-9a-fA-F]*$", "maxLength": 66},
}
AMOUNT: Final[Schema] = {"type": "string", "pattern": "^[0-9]*[1-9][0-9]*$", "maxLength": 78}
"""Base units above zero. At most 2^256 - 1, which a pattern cannot say."""
BOOLEAN: Final[Schema] = {"type": "boolean"}
STRINGS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
FELTS_NAME: Final = "Felts"
"""How the table of operations calls the arguments of a call on Starknet."""
FELTS: Final[Schema] = {"type": "array", "items": {"type": "string", "pattern": "^[0-9]{1,77}$"}}

_ANY_ADDRESS: Final[Schema] = {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{1,64}$"}
_COUNT: Final[Schema] = {"type": "string", "pattern": "^[0-9]{1,78}$"}
_HEX: Final[Schema] = {"type": "string", "pattern": "^0x([0-9a-f]{2})*$"}
_SWAP_TYPE: Final[Schema] = {"type": "integer", "enum": [0, 1, 2]}
_RATE: Final[Schema] = {"type": "string", "pattern": "^[0-9]{1,7}$"}
_SHARE: Final[Schema] = {"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,2})?%$"}
_DECIMAL_NUMBER: Final[Schema] = {"type": "string", "pattern": r"^[0-9]*\.?[0-9]*$"}

_FIELD_FORMATS: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(
        (
            "address", "poolAddress", "fromTokenAddress", "toTokenAddress", "tokenInAddress", "tokenOutAddress",
            "token_in", "token_out", "pool_address", "destination", "signer", "to", "router_address",
            "integratorAddress",
        ),
        _ANY_ADDRESS,
    ),
    **dict.fromkeys(("amount", "inputAmount", "outputAmount", "amount_in", "amount_out"), AMOUNT),
    **dict.fromkeys(("outputAmountAfterFee", "estimatedGasUsed", "min_received", "value"), _COUNT),
    **dict.fromkeys(("calldata", "extra_data", "integrator_data"), _HEX),
    **dict.fromkeys(("routeSwapType", "swap_type"), _SWAP_TYPE),
    **dict.fromkeys(("rate", "protocol_id"), _RATE),
    "percent": _SHARE,
    "price": _DECIMAL_NUMBER,
    "timestamp": {"type": "string", "format": "date-time"},
    "protocol": {"type": "integer", "minimum": 0, "maximum": 2**23 - 1},
    "decimals": {"type": "integer", "minimum": 0, "maximum": 255},
    "deadline": {"type": "integer", "minimum": 1, "maximum": MAX_DEADLINE_S},
    "integratorFeePercentageBps": {"type": "integer", "minimum": 0, "maximum": MAX_FEE_BPS},
    "integratorSurplusPercentageBps": {"type": "integer", "minimum": 0, "maximum": MAX_SURPLUS_BPS},
    "statusCode": {"type": "integer", "minimum": 400, "maximum": 599},
}  # fmt: skip
"""By the name of a field: what its values look like, wherever they have that type."""

_REFUSED: Final = ("RouteNotFound", "RouteNotFoundV2", "DetailedFault", "DetailedFaultV2")
_CONSTANTS: Final[Mapping[tuple[str, str], object]] = {
    **{
        (name, "success"): True for name in ("RouteV1", "RouteV2", "CalldataV1", "StarknetCalldataV1", "CitreaCalldata")
    },
    **{(name, "success"): False for name in _REFUSED},
    ("Meta", "apiVersion"): "2.0",
}
"""By type and field: values that are always the same."""

_UNCHECKED_FIELDS: Final = frozenset(
    ("PostedRoute", f"integrator{name}") for name in ("Address", "FeePercentageBps", "SurplusPercentageBps", "Name")
)
"""By type and field: what is not looked at in every route."""

_REQUEST_SLIPPAGE: Final[Mapping[str, SlippageRange]] = {
    "ExecuteRequest": V1_SLIPPAGE,
    "CalldataRequest": V1_SLIPPAGE,
    "CalldataRequestV2": V2_SLIPPAGE,
    "SignerRequest": SIGNER_SLIPPAGE,
}
"""The types that are sent, with the slippage that each accepts. In these, null is the same as nothing."""


_PUBLISHED_NAMES: Final = {
    "DetailedErrorJson": "DetailedFault",
    "DetailedErrorV2Json": "DetailedFaultV2",
    "BriefErrorJson": "BriefFault",
    "StatusErrorJson": "StatusFault",
}
"""Names that clients generated from the document know, where they differ from the name of the type."""


def published_name(type_name: str) -> str:
    """Return the name under which the document describes a type of `api.schemas`."""
    return _PUBLISHED_NAMES.get(type_name, type_name.removesuffix("Json"))


_TYPES: Final = {published_name(name): each for name, each in vars(schemas).items() if name.endswith("Json")}


def schema_ref(name: str) -> Schema:
    """The schema that is described under a name."""
    return {"$ref": PREFIX + name}


def any_of(names: Iterable[str]) -> Schema:
    """One of some described schemas; an array of them where a name ends in `[]`."""
    each = [_resolve_name(name) for name in names]
    return each[0] if len(each) == 1 else {"anyOf": each}


def _resolve_name(name: str) -> Schema:
    if name.endswith("[]"):
        return {"type": "array", "items": _resolve_name(name[:-2])}
    return FELTS if name == FELTS_NAME else schema_ref(name)


def slippage_schema(accepted_range: SlippageRange) -> Schema:
    """A percentage within a range, both ends included."""
    return {
        "type": "number",
        "minimum": _percent(accepted_range.min_ppm),
        "maximum": _percent(accepted_range.max_ppm),
    }


def _percent(ppm: int) -> float | int:
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return ppm / PPM_PER_PERCENT if rest else whole


def build_components(names: Iterable[str]) -> dict[str, Schema]:
    """The schemas of the types of these names in `api.schemas`, and of all that they hold."""
    import msgspec

    types = [_TYPES[name] for name in sorted(set(names))]
    _, generated = msgspec.json.schema_components(types, ref_template=PREFIX + "{name}")
    published = {published_name(name): _publish_references(schema) for name, schema in generated.items()}
    return {name: _describe(name, schema) for name, schema in sorted(published.items())}


def _publish_references(schema: Any) -> Any:
    """Replace the names of types by those that are published, wherever a schema refers to one."""
    if isinstance(schema, dict):
        return {
            key: PREFIX + published_name(value.removeprefix(PREFIX)) if key == "$ref" else _publish_references(value)
            for key, value in schema.items()
        }
    return [_publish_references(each) for each in schema] if isinstance(schema, list) else schema


def _describe(name: str, schema: Schema) -> Schema:
    """With its fields in their own order, and each told what it may be."""
    fields, given = get_type_hints(_TYPES[name]), schema["properties"]
    optional = set(fields) - set(schema.get("required", ())) if name in _REQUEST_SLIPPAGE else set()
    properties = {field: _field_schema(name, field, given[field]) for field in fields}
    properties |= {field: {"anyOf": [properties[field], {"type": "null"}]} for field in fields if field in optional}
    return {**{key: value for key, value in schema.items() if key != "title"}, "properties": properties}


def _field_schema(owner: str, field: str, schema: Schema) -> Schema:
    if (owner, field) in _CONSTANTS:
        return {**schema, "const": _CONSTANTS[owner, field]}
    if (owner, field) in _UNCHECKED_FIELDS:
        return {"description": "As in the route that was found; read in the second generation, with integratorAddress."}
    if field == "slippage":
        return {"anyOf": [slippage_schema(_REQUEST_SLIPPAGE[owner]), _DECIMAL_NUMBER]}
    return _refine(schema, _FIELD_FORMATS.get(field, {}))


def _refine(schema: Schema, form: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_refine(each, form) for each in schema["anyOf"]]}
    return {**schema, **form} if schema.get("type") == form.get("type") else schema
