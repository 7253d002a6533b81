"""Docstrings name what exists: modules, classes, functions, parameters and fields of this program."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

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


class Facts(NamedTuple):
    """What one walk through a module finds: every identifier with the words of its short texts, which name keys,
    columns and functions; its classes; and its docstrings, with those that follow a constant or a field."""

    names: frozenset[str]
    classes: frozenset[str]
    docstrings: tuple[str, ...]


@cache
def modules() -> dict[str, Facts]:
    """Every module by its dotted name without the program's."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): facts(file.read_text())
        for file in files
    }


def facts(text: str) -> Facts:
    names: set[str] = set()
    classes: set[str] = set()
    docstrings: list[str] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Constant(value=str(value)) if len(value) < 80:
                names.update(re.findall(r"\w+", value))
            case ast.Expr(value=ast.Constant(value=str(value))):
                docstrings.append(value)
            case ast.keyword(arg=str(name)):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
                classes.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.update({name.rpartition(".")[2], other or ""})
    return Facts(frozenset(names), frozenset(classes), tuple(docstrings))


@cache
def all_names() -> frozenset[str]:
    return frozenset().union(*(each.names for each in modules().values()), *(name.split(".") for name in modules()))


@cache
def classes() -> frozenset[str]:
    return frozenset().union(*(each.classes for each in modules().values()))


@cache
def by_last_part() -> dict[str, list[str]]:
    """The dotted names of modules by their last part."""
    found: dict[str, list[str]] = {}
    for name in modules():
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


def module_of(reference: str, where: str) -> tuple[str, list[str]] | None:
    """Return the module that a dotted reference begins with, absolute or seen from `where`, and the names after it."""
    parts = reference.removeprefix("swapcli.").split(".")
    folders = where.split(".")
    for depth in range(len(folders), -1, -1):
        absolute = folders[:depth] + parts
        for end in range(len(absolute), depth, -1):
            if ".".join(absolute[:end]) in modules():
                return ".".join(absolute[:end]), absolute[end:]
    same_end = by_last_part().get(parts[0], [])
    return (same_end[0], parts[1:]) if len(same_end) == 1 else None


def exists(reference: str, where: str) -> bool:
    first, *others = reference.split(".")
    if first in FOREIGN or reference.endswith(FILES):
        return True
    if not others:
        return first in all_names() or hasattr(builtins, first)
    if found := module_of(reference, where):
        module, names = found
        if not names or names[0] in modules()[module].names:
            return True
    # A field or method of a class, a parameter or a setting.
    return (first in modules()[where].names or first in classes()) and set(others) <= all_names()


def test_every_name_in_a_docstring_exists() -> None:
    missing = [
        f"{module}: `{reference}`"
        for module, each in sorted(modules().items())
        for text in each.docstrings
        for reference in re.findall(r"`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`", text)
        if is_code(reference) and not exists(reference, module)
    ]
    assert not missing


def is_code(reference: str) -> bool:
    """Return whether a text in backquotes is a name of this program rather than a word."""
    return "." in reference or "_" in reference or bool(re.fullmatch(r"[A-Z][a-z]+[A-Z]\w*", reference))
