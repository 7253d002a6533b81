"""Docstrings name what exists: modules, classes, functions, parameters and fields of this program."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import swapcli

PACKAGE = Path(swapcli.__file__).parent

FOREIGN = {
    # Contracts, their libraries and functions.
    "ActionConstants", "AllowanceTransfer", "CallData", "ComposableStablePoolProtocolFees", "GasPriceOracle",
    "NodeInterface",
    "Hooks", "LibZip", "LogExpMath", "MAX_FEE", "MAX_LIQUIDITY_PER_BIN", "MINIMUM_LIQUIDITY_SWAP",
    "MetaStablePool", "PriceHelper", "RateExceedsMaximum", "RateZero", "TickMath", "WeightedMath",
    "_beforeJoinExit", "_calculateInvariant", "_f", "_getProtocolPoolOwnershipPercentage",
    "_getTokenBalanceGivenInvariantAndAllOtherBalances", "_get_p", "_get_y", "_newton_y",
    "_updateInvariantAfterJoinExit", "_verifySwapAndNonPerfectActions", "exchange_underlying", "get_D", "get_p",
    "get_y", "tweak_price",
    "_calcBptOutGivenExactTokensIn", "_calcTokenOutGivenExactBptIn",
    # Types of the interface, of Cairo, of wallets and of nodes.
    "ByteArray", "CalldataRoute", "ChainID", "RouteParam", "RouteSegment", "SwapParameter", "SwapParams",
    "toJSON", "txpool",
    # Names in the environment and in settings, and parts of the standard library.
    "EX_SOFTWARE", "SSL_CERT_DIR", "SWAPCLI_A_B_C", "SWAPCLI_NETWORKS_NAME_X", "https_proxy", "importlib",
    "networks", "pathlib", "sys", "typing",
}  # fmt: skip
"""Names in docstrings that are not this program's."""

FILES = (".sol", ".json", ".md", ".html", ".txt", ".market")


@cache
def trees() -> dict[str, ast.Module]:
    """Every module by its dotted name without the program's."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(file.read_text())
        for file in files
    }


@cache
def names_of(module: str) -> frozenset[str]:
    """Every identifier of a module, and the words of its short texts, which name keys, columns and functions."""
    found: set[str] = set()
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.update({node.name.rpartition(".")[2], node.asname or ""})
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            found.update(re.findall(r"\w+", node.value))
    return frozenset(found)


@cache
def all_names() -> frozenset[str]:
    return frozenset().union(*(names_of(module) for module in trees()), *(name.split(".") for name in trees()))


@cache
def classes() -> frozenset[str]:
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    return frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef))


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of a module, with those that follow a constant or a field."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def module_of(reference: str, where: str) -> tuple[str, list[str]] | None:
    """Return the module that a dotted reference begins with, absolute or seen from `where`, and the names after it."""
    parts = reference.removeprefix("swapcli.").split(".")
    folders = where.split(".")
    for depth in range(len(folders), -1, -1):
        absolute = folders[:depth] + parts
        for end in range(len(absolute), depth, -1):
            if ".".join(absolute[:end]) in trees():
                return ".".join(absolute[:end]), absolute[end:]
    same_end = [name for name in trees() if name.rpartition(".")[2] == parts[0]]
    return (same_end[0], parts[1:]) if len(same_end) == 1 else None


def exists(reference: str, where: str) -> bool:
    first, *others = reference.split(".")
    if first in FOREIGN or reference.endswith(FILES):
        return True
    if not others:
        return first in all_names() or hasattr(builtins, first)
    if found := module_of(reference, where):
        module, names = found
        if not names or names[0] in names_of(module):
            return True
    # A field or method of a class, a parameter or a setting.
    return first in names_of(where) | classes() and set(others) <= all_names()


@pytest.mark.parametrize("module", sorted(trees()))
def test_every_name_in_a_docstring_exists(module: str) -> None:
    for text in docstrings(trees()[module]):
        for reference in re.findall(r"`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`", text):
            is_code = "." in reference or "_" in reference or re.fullmatch(r"[A-Z][a-z]+[A-Z]\w*", reference)
            assert not is_code or exists(reference, module), f"{module}: `{reference}`"
