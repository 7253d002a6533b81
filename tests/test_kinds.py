"""What differs between the kinds of networks stands in one table of each layer, not in branches everywhere."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import swapcli
from swapcli.core.model.network import Kind, Network
from swapcli.core.networks.address import is_canonical, parse_address
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.payload.dialects import interface_dialect
from swapcli.state.rpc.nodes_by_kind import node_class
from tests.support.sources import parsed_with

PACKAGE = Path(swapcli.__file__).parent
PLACES = ("payload/evm/", "payload/starknet/", "state/rpc/rpc_node.py", "state/rpc/starknet_node.py")
"""What is for one kind alone."""
MOST_BRANCHES = 8
"""May only become fewer. A question that many ask is a trait of `NetworkTraits`."""

MOST_QUESTIONS = {"has_checksums": 2, "has_eth_nodes": 10, "has_felts": 7, "native_is_token": 4}
"""How often each trait that is true or false is asked for: one that is asked everywhere is a branch by another name."""

KINDS = {kind.name for kind in Kind}
PREDICATES = {"is_evm", "is_starknet"}


def is_kind(node: ast.AST) -> bool:
    """Whether an expression names one kind, or a set of kinds."""
    if isinstance(node, ast.Tuple | ast.Set | ast.List):
        return any(is_kind(each) for each in node.elts)
    return isinstance(node, ast.Attribute) and node.attr in KINDS and getattr(node.value, "id", "").endswith("Kind")


def branches(tree: ast.AST) -> Iterator[int]:
    """Yield the line of each comparison with a kind, and of each question for one."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare() if any(is_kind(each) for each in (node.left, *node.comparators)):
                yield node.lineno
            case ast.MatchValue() if is_kind(node.value):
                yield node.lineno
            case ast.Call(func=ast.Name(id=name)) if name in PREDICATES:
                yield node.lineno
            case ast.If(test=ast.Name(id=name)) | ast.IfExp(test=ast.Name(id=name)) if name in PREDICATES:
                yield node.lineno


def test_branches_on_the_kind_of_a_network_are_few() -> None:
    found = [
        f"{name}:{line}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if not (name := str(file.relative_to(PACKAGE))).startswith(PLACES)
        for line in branches(parsed_with(file, r"Kind\b|\bis_evm\b|\bis_starknet\b"))
    ]
    assert len(found) <= MOST_BRANCHES, found


def test_no_trait_is_asked_for_everywhere() -> None:
    asked = Counter(
        node.attr
        for file in PACKAGE.rglob("*.py")
        if not str(file.relative_to(PACKAGE)).startswith(PLACES)
        for node in ast.walk(parsed_with(file, r"\btraits\b"))
        if isinstance(node, ast.Attribute) and getattr(node.value, "attr", "") == "traits"
    )
    flags = {name for name, value in Kind.EVM.traits._asdict().items() if isinstance(value, bool)}
    assert MOST_QUESTIONS.keys() == flags - {"has_v2"}
    assert all(asked[name] <= most for name, most in MOST_QUESTIONS.items()), asked


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("kind is Kind.EVM", 1),
        ("network.kind is not Kind.STARKNET or x", 1),
        ("kind in (Kind.EVM, Kind.STARKNET)", 1),
        ("is_evm(network)", 1),
        ("1 if is_starknet else 2", 1),
        ("match kind:\n  case Kind.EVM: pass", 1),
        ("{Kind.EVM: 1}[kind]", 0),
        ("parse_address(text, Kind.EVM)", 0),
        ("kind.traits.has_felts", 0),
        ("each.kind is AlternativeKind.SERVICE", 0),
    ],
)
def test_branches_are_found(source: str, count: int) -> None:
    assert len(list(branches(ast.parse(source)))) == count


@pytest.mark.parametrize("kind", Kind)
def test_each_table_has_every_kind(kind: Kind) -> None:
    network = next(each for each in map(find_network, network_names()) if each.kind is kind)
    assert isinstance(network, Network)
    assert kind.traits.address_noun
    address = parse_address("0x" + "12" * 20, kind)
    assert is_canonical(address, kind)
    assert not is_canonical(address[:-1], kind)
    assert interface_dialect(network).name == network.router_dialect
    assert hasattr(node_class(kind), "read_head")


@pytest.mark.parametrize("number", [0, 1 << 251, 1 << 252])
def test_numbers_that_are_no_starknet_address(number: int) -> None:
    assert not is_canonical(f"0x{number:064x}", Kind.STARKNET)
    assert is_canonical(f"0x{(1 << 251) - 1:064x}", Kind.STARKNET)
