"""A path selects the version of the interface by its second segment."""

from __future__ import annotations

import pytest

from swapcli.core.model.api_version import ApiVersion, version_of_path


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/base/v2/route", ApiVersion.V2),
        ("/base/V2", ApiVersion.V2),
        ("/base/route", ApiVersion.V1),
        ("/v2/route", ApiVersion.V1),
        ("/base/v20/route", ApiVersion.V1),
        ("/base/route/v2", ApiVersion.V1),
        ("", ApiVersion.V1),
    ],
)
def test_only_the_second_segment_counts(path: str, version: ApiVersion) -> None:
    assert version_of_path(path) is version
