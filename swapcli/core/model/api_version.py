"""The versions of the published HTTP API."""

from __future__ import annotations

import re
from enum import StrEnum


class ApiVersion(StrEnum):
    """An API version: V1 reports gas in units and native tokens, V2 gas in wei and wrapped tokens."""

    V1 = "v1"
    V2 = "v2"


_V2_PATH = re.compile(r"/[^/]+/v2(/|$)", re.IGNORECASE)


def version_of_path(path: str) -> ApiVersion:
    """Return the version that a path selects: `/base/v2/route` belongs to V2, every path without that segment to V1."""
    return ApiVersion.V2 if _V2_PATH.match(path) else ApiVersion.V1
