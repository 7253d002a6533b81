"""Findings about a router's reading: what agrees with all simulations, and the file that remembers it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.router_findings import NO_FINDINGS, RouterFinding, RouterFindings
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.state.router_findings_file import RouterFindingsFile

ROUTER, OTHER = "0x" + "aB" * 20, "0x" + "cd" * 20

Name = TypeVar("Name", RateVariant, ExtraDataForm)


def parts(kind: type[Name]) -> st.SearchStrategy[tuple[Name, ...]]:
    return st.sets(st.sampled_from(kind), min_size=1).map(lambda found: tuple(each for each in kind if each in found))


findings_of_protocols = st.dictionaries(
    st.integers(0, 5),
    st.builds(RouterFinding, parts(RateVariant), parts(ExtraDataForm), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
)

routers = st.builds(RouterFindings, st.just("0x01"), findings_of_protocols)


@given(routers)
def test_findings_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, findings: RouterFindings
) -> None:
    file = RouterFindingsFile(tmp_path_factory.mktemp("findings") / "readings.json")
    file.save(1, ROUTER, findings)
    assert file.load(1, ROUTER.lower()) == findings
    assert file.load(2, ROUTER) == file.load(1, OTHER) == NO_FINDINGS
    file.save(1, OTHER, findings)
    file.save(1, ROUTER, NO_FINDINGS)
    assert (file.load(1, ROUTER), file.load(1, OTHER)) == (NO_FINDINGS, findings)


FINDING: dict[str, object] = {"rates": ["relative"], "forms": ["word"], "block": 1, "found_s": 1}

ENTRY: dict[str, object] = {"code_hash": "0x01", "protocols": {"5": FINDING}}

DAMAGED_FINDINGS: list[dict[str, object]] = [
    {"rates": []},
    {"rates": "relative"},
    {"forms": ["other"]},
    {"block": "1"},
    {"found_s": None},
]

DAMAGED_ENTRIES: list[object] = [
    {"code_hash": 1, "protocols": []},
    ENTRY | {"protocols": {"five": FINDING}},
    *(ENTRY | {"protocols": {"5": FINDING | damage}} for damage in DAMAGED_FINDINGS),
    [],
    None,
    5,
]


@pytest.mark.parametrize("damage", DAMAGED_ENTRIES)
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "readings.json"
    file, key = RouterFindingsFile(path), f"1:{ROUTER.lower()}"
    path.write_text(json.dumps({"routers": {key: ENTRY}}))
    assert file.load(1, ROUTER).variant() == RouterVariant(RateVariant.RELATIVE, ExtraDataForm.WORD)
    for text in (json.dumps({"routers": {key: damage}}), json.dumps(damage), "{"):
        path.write_text(text)
        assert file.load(1, ROUTER) == NO_FINDINGS
