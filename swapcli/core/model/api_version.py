"""The versions of the published HTTP API."""

from __future__ import annotations

import re
from enum import StrEnum


class ApiVersion(StrEnum):
    """An API version. V1 gives gas in units and the native token as the zero address, V2 gives gas in wei and the
    wrapped token."""

    V1 = "v1"
    V2 = "v2"


_V2_PATH = re.compile(r"/[^/]+/v2(/|$)", re.IGNORECASE)


def version_of_path(path: str) -> ApiVersion:
    """Return the API version of a path: V2 for a path such as `/base/v2/route`, V1 for every path without that
    segment."""
    return ApiVersion.V2 if _V2_PATH.match(path) else ApiVersion.V1
