"""JSON schemas as tables. Each named type has an anchor, whose name begins with the `prefix` of its page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

from tests.generate.site.markdown import table

Json = Mapping[str, Any]


def type_blocks(name: str, schema: Json, prefix: str) -> Iterator[str]:
    """Yield the section of a named type: its heading, description and fields."""
    yield f"({prefix}-{name})=\n### {name}"
    if "description" in schema:
        yield cleandoc(schema["description"])
    required = schema.get("required", ())
    rows = [
        (f"`{field}`{'' if field in required else ' (optional)'}", type_text(each, prefix), each.get("description", ""))
        for field, each in schema.get("properties", {}).items()
    ]
    if any(meaning for *_, meaning in rows):
        yield table(("field", "type", "meaning"), rows)
    elif rows:
        yield table(("field", "type"), ((field, kind) for field, kind, _ in rows))
    else:
        yield type_text(schema, prefix)


def type_text(schema: Json, prefix: str) -> str:
    """Return a schema in words, with links to types that have names."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{prefix}-{name})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_text(each, prefix) for each in schema[key]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"]) + _default(schema)
    if schema.get("type") == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(type_text(each, prefix) for each in items)}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_text(schema['additionalProperties'], prefix)}"
    kinds = schema.get("type", "anything")
    return (" or ".join(kinds) if isinstance(kinds, list) else kinds) + _default(schema)


def _default(schema: Json) -> str:
    return f", default `{json.dumps(schema['default'])}`" if schema.get("default") not in (None, "") else ""
