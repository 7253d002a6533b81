"""The committed artifacts of the project's own contracts are those of their sources; slow tests compile them again."""

from __future__ import annotations

import json

import pytest

from tests.contracts.build import FINGERPRINTS, SOURCES, Source, build, fingerprint


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.contract)
def test_no_source_has_changed_since_its_artifact(source: Source) -> None:
    """After a change, `make contracts`."""
    assert json.loads(FINGERPRINTS.read_text())[source.contract] == fingerprint(source)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.contract)
def test_a_source_compiles_to_its_committed_artifact(source: Source) -> None:
    assert build(source) == source.artifact.read_text()
