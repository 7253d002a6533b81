"""Environment variables, without the line ends that some tools leave behind their values."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds, which completion does not have
if TYPE_CHECKING:
    from collections.abc import Mapping


def variable(environ: Mapping[str, str], name: str) -> str:
    """Return the value of an environment variable, "" if it is not set.

    CR and LF at its end are omitted: `docker run --env-file` keeps those of a file with the line ends of Windows.
    """
    return environ.get(name, "").rstrip("\r\n")
