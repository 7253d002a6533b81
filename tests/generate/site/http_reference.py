"""The reference of the service, made from its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service.openapi import build_document
from tests.generate.site.markdown import table
from tests.generate.site.schema_tables import Json, type_blocks, type_text

_PREFIX = "type"


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
        blocks += type_blocks(name, schema, _PREFIX)
    return "\n\n".join(blocks) + "\n"


def _operation(method: str, path: str, operation: Json) -> Iterator[str]:
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
                    type_text(each["schema"], _PREFIX),
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


def _content(body: Json) -> str:
    kinds = [
        type_text(each.get("schema", {}), _PREFIX) + ("" if media_type == "application/json" else f" (`{media_type}`)")
        for media_type, each in body.get("content", {}).items()
    ]
    return " or ".join(kinds) or "–"
