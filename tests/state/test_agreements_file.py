"""The file that remembers when quotes last equalled mined swaps: the latest block counts, and damage is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.agreements_file import Agreement, AgreementsFile

numbers = st.integers(0, 2**53)
agreements = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.builds(Agreement, numbers, numbers, numbers))


@given(st.lists(agreements, min_size=1, max_size=4))
def test_the_newest_block_of_each_protocol_is_remembered(
    tmp_path_factory: pytest.TempPathFactory, added: list[dict[str, Agreement]]
) -> None:
    file = AgreementsFile(tmp_path_factory.mktemp("agreements"))
    for each in added:
        file.add(1, each)
    file.add(2, {"a": Agreement(5, 6, 7)})
    found = file.load(1)
    assert found.keys() == {name for each in added for name in each}
    for name, agreement in found.items():
        assert agreement.block == max(each[name].block for each in added if name in each)
    assert file.load(2) == {"a": Agreement(5, 6, 7)}


@pytest.mark.parametrize("entry", [None, [], [1, 2], [1, 2, "3"], [1, 2, -3], [1, 2, True], {"block": 1}, "1"])
def test_a_damaged_entry_is_left_out_and_replaced(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "live-agreements.json"
    path.write_text(json.dumps({"networks": {"1": {"a": entry, "b": [1, 2, 3]}}}))
    file = AgreementsFile(tmp_path)
    assert file.load(1) == {"b": Agreement(1, 2, 3)}
    file.add(1, {"a": Agreement(4, 5, 6)})
    assert file.load(1) == {"a": Agreement(4, 5, 6), "b": Agreement(1, 2, 3)}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"networks": []}', '{"networks": {"1": 5}}'])
def test_a_damaged_file_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "live-agreements.json").write_text(text)
    assert AgreementsFile(tmp_path).load(1) == {}
