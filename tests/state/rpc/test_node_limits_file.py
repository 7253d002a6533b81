"""The file of nodes remembers entries by a hash of their URLs, the newest of them."""

from __future__ import annotations

from pathlib import Path

from swapcli.state.rpc.node_limits_file import NodeLimitsFile, node_key, read_node_entries, update_node_entries

URL = "https://node.example/secret-key"


def test_entries_are_replaced_and_removed_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    update_node_entries(path, {"a": {"x": 1}, "b": {"x": 2}}, 100.0)
    update_node_entries(path, {"b": None, "c": {"x": 3}, "none": None}, 200.0)
    assert read_node_entries(path) == {"a": {"x": 1, "saved_at_s": 100}, "c": {"x": 3, "saved_at_s": 200}}


def test_the_nodes_that_were_saved_last_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    for number in range(103):
        update_node_entries(path, {str(number): {}}, number)
    assert set(read_node_entries(path)) == {str(number) for number in range(3, 103)}


def test_no_url_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    update_node_entries(path, {node_key(URL): {"x": 1}}, 100.0)
    assert "secret-key" not in path.read_text()
    assert "node.example" not in path.read_text()


def test_a_damaged_entry_gives_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    update_node_entries(path, {node_key(URL): {"x": 1}}, 100.0)
    limits = NodeLimitsFile(path, lambda: 200.0).load(URL)
    assert limits.document() == NodeLimitsFile(tmp_path / "none.json").load(URL).document()
