"""The reference of the service, made from its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service.openapi import build_document
from tests.generate.site.markdown import table

_Json = Mapping[str, Any]


def http_page() -> str:
    """Return the page: the operations by tag, and the types of what they take and return."""
    document = build_document([find_network(name) for name in network_names()])
    blocks = [
        "# The HTTP interface",
        document["info"]["description"],
        "A running service has the same as `/openapi.json`, and explains and sends requests at `/docs`.",
    ]
    for tag in document["tags"]:
        blocks += [f"## {tag['name']}", tag["description"]]
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if isinstance(operation, dict) and tag["name"] in operation.get("tags", ()):
                    blocks += _operation(method, path, operation)
    blocks.append("## Headers of responses")
    headers = document["components"]["headers"]
    blocks.append(table(("header", "meaning"), ((f"`{name}`", each["description"]) for name, each in headers.items())))
    blocks.append("## Types")
    for name, schema in document["components"]["schemas"].items():
        blocks += _type(name, schema)
    return "\n\n".join(blocks) + "\n"


def _operation(method: str, path: str, operation: _Json) -> Iterator[str]:
    yield f"({operation['operationId']})=\n### {method.upper()} {path}"
    yield f"{operation['summary']}."
    if "description" in operation:
        yield operation["description"]
    parameters = operation.get("parameters", ())
    if parameters:
        yield table(
            ("parameter", "in", "type", "meaning"),
            (
                (
                    f"`{each['name']}`{'' if each.get('required') else ' (optional)'}",
                    each["in"],
                    _schema(each["schema"]),
                    each.get("description", ""),
                )
                for each in parameters
            ),
        )
    if "requestBody" in operation:
        yield f"The body: {_content(operation['requestBody'])}"
    responses = operation.get("responses", {})
    yield table(
        ("status", "body", "when"),
        ((status, _content(each), each["description"]) for status, each in responses.items()),
    )


def _type(name: str, schema: _Json) -> Iterator[str]:
    yield f"(type-{name})=\n### {name}"
    if "description" in schema:
        yield cleandoc(schema["description"])
    required = schema.get("required", ())
    rows = [
        (f"`{field}`{'' if field in required else ' (optional)'}", _schema(each), each.get("description", ""))
        for field, each in schema.get("properties", {}).items()
    ]
    yield table(("field", "type", "meaning"), rows) if rows else _schema(schema)


def _content(body: _Json) -> str:
    kinds = [
        _schema(each.get("schema", {})) + ("" if media_type == "application/json" else f" (`{media_type}`)")
        for media_type, each in body.get("content", {}).items()
    ]
    return " or ".join(kinds) or "–"


def _schema(schema: _Json) -> str:
    """Return a schema in words, with links to types that have names."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#type-{name})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_schema(each) for each in schema[key]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"]) + _default(schema)
    if schema.get("type") == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(map(_schema, items))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_schema(schema['additionalProperties'])}"
    kinds = schema.get("type", "anything")
    return (" or ".join(kinds) if isinstance(kinds, list) else kinds) + _default(schema)


def _default(schema: _Json) -> str:
    return f", default `{json.dumps(schema['default'])}`" if schema.get("default") not in (None, "") else ""
