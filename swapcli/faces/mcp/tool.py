"""Tools, resources and prompts as defined by the protocol, and the result of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from swapcli.core.records import NamedTuple


class Tool(NamedTuple):
    """A tool of the server, as an agent sees it before the first call. The schema is a JSON schema of an object.

    `reads_nodes` shows whether the tool may send requests to other machines.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    reads_nodes: bool = True


class Resource(NamedTuple):
    """A text that clients can read by its URI. `size` is in characters."""

    uri: str
    name: str
    description: str
    mime_type: str
    size: int | None = None


class ToolResult(NamedTuple):
    """The result of a call: JSON text, the resources it refers to, and whether it is an error."""

    text: str
    links: tuple[Resource, ...] = ()
    is_error: bool = False


class PromptArgument(NamedTuple):
    """An argument of a prompt. All are text."""

    name: str
    description: str
    required: bool = True


class Prompt(NamedTuple):
    """A prompt that people choose in their client, and the function that writes it from arguments."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    write: Callable[[Mapping[str, str]], str]


ReportProgress = Callable[[float, str], Awaitable[None]]
"""Reports the seconds since the call began, with a sentence. It does nothing for clients that do not request
progress."""

CallTool = Callable[[str, Mapping[str, Any], ReportProgress], Awaitable[ToolResult]]
"""Calls a tool by its name and arguments. Only cancellation is raised."""


class Resources(NamedTuple):
    """The resources of a server: permanent ones, and a function that returns the text of any resource by its URI, or
    None if it does not exist. `template` describes the resources that calls create."""

    listed: tuple[Resource, ...]
    read: Callable[[str], tuple[str, str] | None]
    template: Resource
