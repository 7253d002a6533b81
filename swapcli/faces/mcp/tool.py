"""Tools, resources and prompts as the protocol describes them, and the result of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from swapcli.core.records import NamedTuple


class Tool(NamedTuple):
    """A tool of the server, as an agent reads it before the first call. The schema is a JSON schema of an object.

    `reads_nodes` shows whether it may reach beyond this machine.
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
    """The result of a call: JSON text, the resources that it refers to, and whether it is an error."""

    text: str
    links: tuple[Resource, ...] = ()
    is_error: bool = False


class PromptArgument(NamedTuple):
    """An argument of a prompt. All are text."""

    name: str
    description: str
    required: bool = True


class Prompt(NamedTuple):
    """A prompt that people choose in their client, and the function that writes it from its arguments."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    write: Callable[[Mapping[str, str]], str]


ReportProgress = Callable[[float, str], Awaitable[None]]
"""Report the seconds since the call began, with a sentence. Does nothing for clients that want no progress."""

CallTool = Callable[[str, Mapping[str, Any], ReportProgress], Awaitable[ToolResult]]
"""Call a tool by its name and arguments. Raises nothing but cancellation."""


class Resources(NamedTuple):
    """The resources of a server: those it always has, and a function that returns the text of any by its URI, or None
    if there is none. `template` describes those that calls make."""

    listed: tuple[Resource, ...]
    read: Callable[[str], tuple[str, str] | None]
    template: Resource
