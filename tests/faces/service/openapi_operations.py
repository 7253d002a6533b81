"""The OpenAPI document of a service on the embedded markets, and its operations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from swapcli.core.networks.catalogue import network_names
from swapcli.faces.service.app import ServiceApp
from tests.support.service import build_app, send_requests


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document that the service serves."""
    return fetch_openapi_document(build_app())


def fetch_openapi_document(app: ServiceApp) -> dict[str, Any]:
    """The current OpenAPI document of a service. Its example routes expire after a minute."""
    found: dict[str, Any] = send_requests(app, [("GET", "/openapi.json", {})])[0].json()
    return found


class Operation(NamedTuple):
    """One operation of the document."""

    method: str
    path: str
    definition: Mapping[str, Any]
    path_parameters: tuple[Mapping[str, Any], ...]

    @property
    def parameters(self) -> tuple[Mapping[str, Any], ...]:
        """The parameters of the path and of the operation."""
        return (*self.path_parameters, *self.definition.get("parameters", ()))

    def networks(self) -> list[str]:
        """The networks of the operation; empty if it belongs to none."""
        named = [each["schema"]["enum"] for each in self.path_parameters if each["name"] == "network"]
        first = self.path.split("/")[1]
        return list(named[0]) if named else [first] if first in network_names() else []


def list_operations(document: Mapping[str, Any]) -> list[Operation]:
    """List all operations of a document."""
    return [
        Operation(method, path, definition, tuple(item.get("parameters", ())))
        for path, item in document["paths"].items()
        for method, definition in item.items()
        if method != "parameters"
    ]
