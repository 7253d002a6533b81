"""A whole service on the embedded markets: the application, its description, and a quick way to ask it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from starlette.applications import Starlette

from swapcli.networks.catalogue import network_names
from tests.support.service import build_app, send_requests


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document that the service serves."""
    return fetch_openapi_document(build_app())


def fetch_openapi_document(app: Starlette) -> dict[str, Any]:
    """What a service says of itself now: the routes of its examples do not stay good for long."""
    found: dict[str, Any] = send_requests(app, [("GET", "/openapi.json", {})])[0].json()
    return found


class Operation(NamedTuple):
    """What the document says of a method of a path."""

    method: str
    path: str
    definition: Mapping[str, Any]
    path_parameters: tuple[Mapping[str, Any], ...]

    @property
    def parameters(self) -> tuple[Mapping[str, Any], ...]:
        """Those of the path and its own."""
        return (*self.path_parameters, *self.definition.get("parameters", ()))

    def networks(self) -> list[str]:
        """The networks that it stands for; empty where it is of none."""
        named = [each["schema"]["enum"] for each in self.path_parameters if each["name"] == "network"]
        first = self.path.split("/")[1]
        return list(named[0]) if named else [first] if first in network_names() else []


def list_operations(document: Mapping[str, Any]) -> list[Operation]:
    """All of a document."""
    return [
        Operation(method, path, told, tuple(item.get("parameters", ())))
        for path, item in document["paths"].items()
        for method, told in item.items()
        if method != "parameters"
    ]
