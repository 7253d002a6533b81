"""The versions of the published HTTP interface."""

from __future__ import annotations

from enum import StrEnum


class ApiVersion(StrEnum):
    """A version of the interface: V1 reports gas in units and native tokens, V2 gas in wei and wrapped tokens."""

    V1 = "v1"
    V2 = "v2"
