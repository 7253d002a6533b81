"""JSON schemas of the API's bodies: generated from their types, then refined by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args, get_origin, get_type_hints

from swapcli.core.model.network import Kind, dialect_names
from swapcli.core.model.quote import GasValueSource
from swapcli.core.model.quote_request import SharePrecision
from swapcli.core.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, PPM_PER_PERCENT
from swapcli.core.model.transaction import Purpose
from swapcli.core.records import NamedTuple
from swapcli.interface import document_types, json_types, plan_types, proof_types
from swapcli.interface.quote_parameters import SENT
from swapcli.interface.requests import MAX_DEADLINE_S
from swapcli.interface.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange

Schema = dict[str, Any]

PREFIX: Final = "#/components/schemas/"

ADDRESS: Final[Mapping[Kind, Schema]] = {
    Kind.EVM: {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$"},
    Kind.STARKNET: {"type": "string", "pattern": "^0[xX]0*[1-9a-fA-F][0-9a-fA-F]*$", "maxLength": 66},
}
AMOUNT: Final[Schema] = {"type": "string", "pattern": "^[0-9]*[1-9][0-9]*$", "maxLength": 78}
"""Base units above zero. The maximum of 2^256 - 1 cannot be expressed as a pattern."""
BOOLEAN: Final[Schema] = {"type": "boolean"}
STRINGS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
SHARES: Final[Schema] = {"type": "string", "enum": [each.value for each in SharePrecision], "default": "whole"}
_FELTS: Final[Schema] = {"type": "array", "items": {"type": "string", "pattern": "^[0-9]+$", "maxLength": 77}}

# Patterns without commas, because Go clients split patterns at commas.
_ANY_ADDRESS: Final[Schema] = {"type": "string", "pattern": "^0[xX][0-9a-fA-F]+$", "maxLength": 66}
_COUNT: Final[Schema] = {"type": "string", "pattern": "^[0-9]+$", "maxLength": 78}
_HEX: Final[Schema] = {"type": "string", "pattern": "^0x([0-9a-f]{2})*$"}
_SWAP_TYPE: Final[Schema] = {"type": "integer", "enum": [0, 1, 2]}
_RATE: Final[Schema] = {"type": "string", "pattern": "^[0-9]+$", "maxLength": 7}
_SHARE: Final[Schema] = {"type": "string", "pattern": r"^[0-9]+(\.[0-9][0-9]?)?%$", "maxLength": 7}
_GAS_VALUE_SOURCE: Final[Schema] = {"type": "string", "enum": [each.value for each in GasValueSource]}
_DECIMAL_NUMBER: Final[Schema] = {"type": "string", "pattern": r"^[0-9]*\.?[0-9]*$"}

_FIELD_FORMATS: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(
        (
            "address", "poolAddress", "fromTokenAddress", "toTokenAddress", "tokenInAddress", "tokenOutAddress",
            "token_in", "token_out", "pool_address", "destination", "signer", "from", "to", "router_address",
            "integratorAddress",
        ),
        _ANY_ADDRESS,
    ),
    **dict.fromkeys(("amount", "inputAmount", "outputAmount", "amount_in", "amount_out"), AMOUNT),
    **dict.fromkeys(
        (
            "outputAmountAfterFee", "estimatedGasUsed", "min_received", "value", "minReceived", "gasUnits",
            "gasPriceWei", "l1FeeWei",
        ),
        _COUNT,
    ),
    "outputAfterGas": {"type": "string", "pattern": "^-?[0-9]+$", "maxLength": 79},
    **dict.fromkeys(("calldata", "extra_data", "integrator_data"), _HEX),
    **dict.fromkeys(("routeSwapType", "swap_type"), _SWAP_TYPE),
    **dict.fromkeys(("rate", "protocol_id"), _RATE),
    "percent": _SHARE,
    "shares": SHARES,
    "what": {"type": "string", "enum": [each.value for each in Purpose]},
    "price": _DECIMAL_NUMBER,
    "timestamp": {"type": "string", "format": "date-time"},
    "protocol": {"type": "integer", "minimum": 0, "maximum": 2**23 - 1},
    "decimals": {"type": "integer", "minimum": 0, "maximum": 255},
    "deadline": {"type": "integer", "minimum": 1, "maximum": MAX_DEADLINE_S},
    "integratorFeePercentageBps": {"type": "integer", "minimum": 0, "maximum": MAX_FEE_BPS},
    "integratorSurplusPercentageBps": {"type": "integer", "minimum": 0, "maximum": MAX_SURPLUS_BPS},
    "statusCode": {"type": "integer", "minimum": 400, "maximum": 599},
    "status": {"type": "string", "enum": ["ok", "warn", "block"]},
    **dict.fromkeys(("gasValueSource", "valueSource"), _GAS_VALUE_SOURCE),
    "apiVersion": {"type": "string", "const": "2.0"},
    # Most generators would turn a constant here into a text, and then reject every response.
    "success": {"type": "boolean", "description": "False for an error, or if there is no route."},
}  # fmt: skip
"""Value formats by field name, to tell apart fields that share a JSON type."""

_UNCHECKED_FIELDS: Final = frozenset(
    ("PostedRoute", f"integrator{name}") for name in ("Address", "FeePercentageBps", "SurplusPercentageBps", "Name")
)
"""Fields that only V2 reads, by type and field: elsewhere, any value is accepted."""

_REQUEST_SLIPPAGE: Final[Mapping[str, SlippageRange]] = {
    "ExecuteRequest": V1_SLIPPAGE,
    "OrderRequest": V1_SLIPPAGE,
    "CalldataRequestV2": V2_SLIPPAGE,
    "SignerRequest": SIGNER_SLIPPAGE,
}
"""Slippage range by request type."""
_STRICT_REQUESTS: Final = ("DecodeRequest", "StarknetDecodeRequest")
"""Requests of swapcli's own endpoints, which refuse other fields."""
_REQUESTS: Final = frozenset((*_REQUEST_SLIPPAGE, *_STRICT_REQUESTS))
"""Optional fields of these types also accept null."""


_PUBLISHED_NAMES: Final = {
    "DetailedErrorJson": "DetailedFault",
    "DetailedErrorV2Json": "DetailedFaultV2",
    "BriefErrorJson": "BriefFault",
    "StatusErrorJson": "StatusFault",
    "StatusErrorV2Json": "StatusFaultV2",
    # Generators name the body of `calldata` CalldataRequest: either this or an ExecuteRequest.
    "CalldataRequestJson": "OrderRequest",
    "DetailedRouteV1Json": "RouteV1",
    "DetailedRouteV2Json": "RouteV2",
}
"""Schema names in the published document that differ from the type names. Generated clients depend on them."""


_UNFORMATTED: Final = frozenset(
    {
        ("TransactionRequest", "value"),
        ("Setting", "value"),
        ("AdvisedSlippage", "value"),
        ("ProofState", "timestamp"),
        ("ProofRoute", "gasUnits"),
    }
)
"""Fields, by type, that share a format's name but not its meaning."""

_FIELD_TYPES: Final[Mapping[tuple[str, str], tuple[type, ...]]] = {
    ("BatchLine", "result"): (
        document_types.RouteDocumentV1Json, document_types.RouteDocumentV2Json, document_types.FailedRouteJson,
    ),
    ("EncodedCalldataDocument", "quote"): (json_types.RouteV1Json, json_types.RouteV2Json),
}  # fmt: skip
"""The types of fields that hold one of several objects, by type and field, which a TypedDict cannot express for
msgspec."""

_MAY_BE_EMPTY: Final = frozenset({("VerdictReason", "hint"), ("State", "source")})
"""Texts, by type and field, that may be empty in other documents, but are absent in swapcli's own if empty."""

_SCHEMA_VERSION: Final = "https://json-schema.org/draft/2020-12/schema"


_PAGE: Final[Schema] = {
    "type": "object",
    "properties": {name: {"type": "integer", "minimum": 0} for name in ("offset", "total", "nextOffset")},
    "required": ["offset", "total"],
}
"""The part of a list in a tool's response; `nextOffset` is where the rest begins."""


class Felts(list[str]):
    """The arguments of a Starknet call, in the endpoint table: an array of decimal strings without a schema name."""


def any_of(types: Iterable[object]) -> Schema:
    """Return the schema of a value of any of `types`: types from `json_types`, lists of them, or inline JSON
    schemas."""
    return _choice("anyOf", types)


def one_of(types: Iterable[object]) -> Schema:
    """Return the schema of a value of exactly one of `types`. Each type requires a field that the others lack.

    Code generators make one class for each type. For `anyOf`, they often make a single class with the fields of all
    types.
    """
    return _choice("oneOf", types)


def _choice(keyword: str, types: Iterable[object]) -> Schema:
    alternatives = [_schema_of(each) for each in types]
    return alternatives[0] if len(alternatives) == 1 else {keyword: alternatives}


def _schema_of(type_: object) -> Schema:
    if isinstance(type_, dict):
        return type_
    if get_origin(type_) is list:
        return {"type": "array", "items": _schema_of(get_args(type_)[0])}
    if type_ is Felts:
        return _FELTS
    assert isinstance(type_, type)
    return {"$ref": PREFIX + _published_name(type_.__name__)}


def _published_name(type_name: str) -> str:
    return _PUBLISHED_NAMES.get(type_name, type_name.removesuffix("Json"))


def slippage_schema(accepted_range: SlippageRange) -> Schema:
    """Return the schema of a percentage within a range, both ends included."""
    return {
        "type": "number",
        "minimum": _percent(accepted_range.min_ppm),
        "maximum": _percent(accepted_range.max_ppm),
    }


def _percent(ppm: int) -> float | int:
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return ppm / PPM_PER_PERCENT if rest else whole


def build_components(types: Iterable[object]) -> dict[str, Schema]:
    """Return the schemas of `types` and of all types that they contain, by published name.

    Inline schemas have no name and are omitted.
    """
    import msgspec

    named = (each for each in types if not isinstance(each, dict))
    used = {get_args(each)[0] if get_origin(each) is list else each for each in named} - {Felts}
    ordered = sorted((each for each in used if isinstance(each, type)), key=lambda each: each.__name__)
    _, generated = msgspec.json.schema_components(ordered, ref_template=PREFIX + "{name}")
    owners = {_published_name(name) for name in generated}
    added = {each for (owner, _), types_ in _FIELD_TYPES.items() if owner in owners for each in types_}
    if not added <= used:
        return build_components([*used, *added])
    # The route with details takes the name and the place of the route without.
    names = [name for name in generated if f"Detailed{name}" not in generated]
    published = {_published_name(name): (name, _publish_references(generated[name])) for name in names}
    return {name: _describe(name, *published[name]) for name in sorted(published)}


class JsonSchema(NamedTuple):
    """The JSON schema of a document."""

    content: Schema

    def document(self) -> Schema:
        """Return the JSON of `swapcli schema DOCUMENT`."""
        return self.content


class DocumentList(NamedTuple):
    """The documents with a schema, and the commands that print them."""

    rows: tuple[tuple[str, str], ...]

    def document(self) -> list[document_types.DocumentJson]:
        """Return the JSON of `swapcli schema`."""
        return [{"document": name, "printedBy": text} for name, text in self.rows]


def build_document_schema(name: str) -> Schema:
    """Return the JSON schema of one of `DOCUMENTS`. In these documents, unknown token prices are null; in the API, they
    are 0."""
    is_own = name not in document_types.KEEPS_EMPTY_FIELDS
    return build_stand_alone_schema(f"swapcli {name}", document_types.DOCUMENTS[name], is_own=is_own)


def build_stand_alone_schema(
    title: str,
    types: Iterable[object],
    body: Schema | None = None,
    more: Iterable[object] = (),
    *,
    is_own: bool,
) -> Schema:
    """Return a schema with all its definitions: for a value of any of `types`, or for `body`, which may also refer to
    `more`. swapcli's own documents omit empty fields."""
    definitions = build_components([*types, *more])
    if "Token" in definitions:
        price = definitions["Token"]["properties"]["price"]
        price["anyOf"] = [*price["anyOf"], {"type": "null"}]
    if is_own:
        definitions = {name: _without_empty_fields(name, each) for name, each in definitions.items()}
    schema = {"$schema": _SCHEMA_VERSION, "title": title, **(any_of(types) if body is None else body)}
    moved: Schema = _move_references({**schema, "$defs": definitions})
    return moved


def _without_empty_fields(name: str, schema: Schema) -> Schema:
    """Return the schema of an object whose fields are absent instead of null or empty."""
    properties = {field: _without_null(each) for field, each in schema["properties"].items()}
    required = [
        field
        for field in schema.get("required", ())
        if properties[field] == schema["properties"][field]
        and properties[field].get("type") != "array"
        and "additionalProperties" not in properties[field]
        and (name, field) not in _MAY_BE_EMPTY
    ]
    shortened = schema | {"properties": properties, "required": required}
    return shortened if required else {key: each for key, each in shortened.items() if key != "required"}


def _without_null(schema: Schema) -> Schema:
    if "anyOf" not in schema:
        return schema
    *left, last = (each for each in schema["anyOf"] if each != {"type": "null"})
    if left:
        return schema | {"anyOf": [*left, last]}
    return {key: each for key, each in schema.items() if key != "anyOf"} | dict(last)


def build_tool_schema(
    title: str, types: Sequence[object], list_field: str = "", *, is_paged: bool = False, is_own: bool
) -> Schema:
    """Return the schema of a tool's full document: a value of any of `types`, or, with `list_field`, an object that has
    the value in that field. The schema includes warnings, notes, whole amounts, and the field `page` if one of its
    lists has pages."""
    shared = json_types.WarningJson, document_types.WholeAmountJson
    properties = {
        "warnings": {"type": "array", "items": any_of(shared[:1])},
        "notes": STRINGS,
        "amounts": {"type": "array", "items": any_of(shared[1:])},
    }
    if list_field:
        properties[list_field] = any_of(types)
    if is_paged:
        properties["page"] = _PAGE
    body: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return build_stand_alone_schema(title, types, body if list_field else body | any_of(types), shared, is_own=is_own)


def _move_references(schema: Any) -> Any:
    """Point all references in a schema to its own `$defs`."""
    if isinstance(schema, dict):
        return {
            key: value.replace(PREFIX, "#/$defs/", 1) if key == "$ref" else _move_references(value)
            for key, value in schema.items()
        }
    return [_move_references(each) for each in schema] if isinstance(schema, list) else schema


def _publish_references(schema: Any) -> Any:
    """Replace type names by published names in all references of a schema."""
    if isinstance(schema, dict):
        return {
            key: PREFIX + _published_name(value.removeprefix(PREFIX)) if key == "$ref" else _publish_references(value)
            for key, value in schema.items()
        }
    return [_publish_references(each) for each in schema] if isinstance(schema, list) else schema


def _describe(name: str, type_name: str, schema: Schema) -> Schema:
    """Return the schema of a type, with its fields in their own order and with their formats."""
    fields, generated = get_type_hints(_find_type(type_name)), schema["properties"]
    optional = set(fields) - set(schema.get("required", ())) if name in _REQUESTS else set()
    properties = {field: _field_schema(name, field, generated[field]) for field in fields}
    if type_name == json_types.CalldataRequestJson.__name__:
        more = [each for each in SENT if each.query not in properties]
        properties |= {each.query: dict(each.value_type.schema) for each in more}
        optional |= {each.query for each in more}
    properties |= {field: _nullable(properties[field]) for field in properties if field in optional}
    required = schema.get("required", [])
    if type_name.startswith("DetailedRoute"):
        on_request = get_type_hints(json_types.QuoteFieldsJson)
        required = [field for field in required if field not in on_request]
    properties |= {
        field: _without_pattern(each)
        for field, each in properties.items()
        if field not in required or {"type": "null"} in each.get("anyOf", ())
    }
    described = {key: value for key, value in schema.items() if key != "title"} | {"properties": properties}
    if required:
        described["required"] = required
    if name in _STRICT_REQUESTS:
        described["additionalProperties"] = False
    if type_name == json_types.PostedRouteJson.__name__:  # Go and Java clients drop a route with details otherwise.
        described["additionalProperties"] = True
    return described


def _without_pattern(schema: Schema) -> Schema:
    """Return the schema of a value that may be absent or null, without its pattern: with one, Go clients reject every
    text."""
    kept = {key: value for key, value in schema.items() if key not in ("pattern", "maxLength")}
    return kept | {"anyOf": [_without_pattern(each) for each in kept["anyOf"]]} if "anyOf" in kept else kept


def _nullable(schema: Schema) -> Schema:
    """Return the schema of a value or null, without its default: with one, TypeScript clients require the field, and Go
    clients do not compile."""
    return {"anyOf": [{key: each for key, each in schema.items() if key != "default"}, {"type": "null"}]}


def _find_type(type_name: str) -> type:
    modules = (json_types, document_types, plan_types, proof_types)
    found: type = next(getattr(module, type_name) for module in modules if hasattr(module, type_name))
    return found


def _field_schema(owner: str, field: str, schema: Schema) -> Schema:
    if (owner, field) in _UNCHECKED_FIELDS:
        return {
            "description": "As in the route response; read by the second generation, together with integratorAddress."
        }
    if (owner, field) in _FIELD_TYPES:
        return any_of(_FIELD_TYPES[owner, field])
    if (owner, field) in _UNFORMATTED:
        return schema
    if field == "slippage" and owner in _REQUEST_SLIPPAGE:
        return {"anyOf": [slippage_schema(_REQUEST_SLIPPAGE[owner]), _DECIMAL_NUMBER]}
    if field == "dialect":  # packages may add some; only this function looks for them
        return _refine(schema, {"type": "string", "enum": list(dialect_names())})
    return _refine(schema, _FIELD_FORMATS.get(field, {}))


def _refine(schema: Schema, field_format: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_refine(each, field_format) for each in schema["anyOf"]]}
    return {**schema, **field_format} if schema.get("type") == field_format.get("type") else schema
