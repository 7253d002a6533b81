"""Read environment variables without the line ends that some tools leave after the values."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds, too long for completion
if TYPE_CHECKING:
    from collections.abc import Mapping


def variable(environ: Mapping[str, str], name: str) -> str:
    """Return the value of an environment variable; empty if it is not set.

    Trailing CR and LF are omitted, because `docker run --env-file` keeps the CR of files with Windows line ends.
    """
    return environ.get(name, "").rstrip("\r\n")
