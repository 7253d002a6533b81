"""Names and prose use the field's standard terms, and a public class name means one thing."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IDENTIFIERS = {
    "told": "reported, response, values",
    "tell": "report, print, render",
    "tells": "reports",
    "untold": "unknown",
    "anew": "reset, again, fresh",
    "desk": "context, registry",
    "wish": "option",
    "wishes": "options",
    "footing": "position",
    "witness": "check",
    "keeper": "follower",
    "kept": "followed, stored",
    "held": "deferred, stored, previous",
    "chosen": "selected, candidate",
    "asked": "requested, request",
    "asking": "requesting",
    "somebody": "placeholder",
    "nobody": "none",
    "anybody": "any",
    "whoever": "caller",
    "everywhere": "all_networks",
    "vain": "failures",
    "nonsense": "invalid_response",
    "mute": "not_queryable",
    "deaf": "has_no_logs",
    "hunt": "discover, search",
    "drifted": "changed_without_event",
    "glance": "peek, poll",
    "portion": "batch",
    "remark": "warning",
    "remarks": "warnings",
    "letter": "character",
    "letters": "characters",
    "sendings": "transactions",
    "saying": "response",
    "said": "message",
    "vanishing": "spot",
    "towards": "parent",
    "invented": "placeholder",
    "destination": "recipient (the interface alone says destination)",
    "receiver": "recipient",
    "town": "chain",
    "village": "chain",
    "naps": "sleeps",
    "moody": "flaky",
    "lesser": "limited",
    "talk": "exchange",
    "twist": "mutation",
    "yardsticks": "baselines",
    "verdict": "summary",
    "fault": "error",
    "faults": "errors",
    "worth": "value",
    "nursery": "fork_server",
    "wanted": "requested, filter, expected",
    "moment": "timestamp, snapshot",
    "stranger": "untrusted",
    "strangers": "untrusted",
}
"""Words that are not to be part of a name, and what the field says instead."""

PROSE = {
    r"\b(?:is|are|was|were|be|been|being) (?:told|asked|held|kept)\b": "active voice",
    r"\btold\b": "reported, said",
    r"\btells?\b": "reports, shows, says",
    r"\banew\b": "again",
    r"\bwhoever\b": "the caller, anyone who",
    r"\bwhichever\b": "any",
    r"\bwhatever\b": "any, every",
    r"\bnobody\b": "no one; or name who",
    r"\bsomebody\b": "someone; or name who",
    r"\bof (?:which|whom)\b": "a sentence of its own",
    r"\bthat which\b": "what",
    r"\bletters?\b": "characters",
    r"\bwishe?s?\b": "options",
    r"\bstrangers?\b": "untrusted",
    r"\bremark(?:ed|s)?\b": "warning",
    r"\bof no moment\b": "without a timestamp",
    r"\bin vain\b": "without success",
    r"\bhe\b|\bhis\b|\bhim\b": "they, or name who",
    r"\d %": "no space before the percent sign",
}
"""Turns of phrase that are not to be in docstrings, comments and messages."""

MAX_TEST_NAME = 60
"""Characters of a test's name, with `test_`."""

ALLOWED_IDENTIFIERS: dict[str, str] = {
    "swapcli/api/json_types.py:destination": "a field of the interface",
    "swapcli/api/document_types.py:inventedPools": "a former field of the JSON, until 0.2",
    "swapcli/api/document_types.py:drifted": "a field of the JSON of sync --watch",
    "swapcli/cli/options.py:destination": "Typer passes the option --destination by this name",
    "swapcli/cli/commands/decode.py:destination": "Typer passes the option --destination by this name",
    "swapcli/cli/options.py:Destination": "the declaration of the option --destination",
    "swapcli/library/market.py:destination": "the library names the recipient as the command line does",
    "swapcli/library/quote_keywords.py:destination": "the library names the recipient as the command line does",
    "swapcli/cli/commands/execute.py:destination": "Typer passes the option --destination by this name",
}
"""`path:name` of a name that stays all the same, and why."""

ALLOWED_PROSE: dict[str, str] = {
    "swapcli/config/source_readers.py:letters": "a name's characters are letters, digits, - and _",
    "swapcli/networks/definition.py:letters": "a name's characters are letters, digits, - and _",
    "swapcli/routing/search/gas_pruning.py:Letters": "the name of a journal",
    "tests/chain/test_simulation.py:tell": "an error message of the program",
    "tests/config/test_networks.py:letters": "an error message of the program",
    "tests/config/test_values.py:5 %": "a wrong value of a setting",
    "tests/networks/test_definition.py:letters": "an error message of the program",
    "tests/test_bench_report.py:Remarks": "a heading of BENCHMARKS.md",
}
"""`path:phrase` that stays all the same, and why."""


def sources() -> list[Path]:
    files = [*ROOT.glob("swapcli/**/*.py"), *ROOT.glob("tests/**/*.py")]
    return sorted(file for file in files if "node_modules" not in file.parts and file != Path(__file__))


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def names(tree: ast.AST) -> Iterator[str]:
    """Every name that a file defines: of classes, functions, parameters, variables and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())


def prose(source: str) -> Iterator[str]:
    """The comments and strings of a file: docstrings, messages, help."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
            yield re.sub(r"`[^`]*`", "``", token.string)


def folders() -> list[Path]:
    """Folders with sources; a test of each file would take most of its time for itself."""
    return sorted({file.parent for file in sources()})


def sources_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.py") if file != Path(__file__))


@pytest.mark.parametrize("folder", folders(), ids=relative)
def test_names_use_standard_terms(folder: Path) -> None:
    for file in sources_in(folder):
        path = relative(file)
        stems = [part.removesuffix(".py") for part in Path(path).parts]
        for name in {*names(ast.parse(file.read_text())), *stems}:
            if f"{path}:{name}" in ALLOWED_IDENTIFIERS or name.startswith("test_"):
                continue
            for word in words(name):
                assert word not in IDENTIFIERS, f"{path}: {name}: use {IDENTIFIERS[word]}"


@pytest.mark.parametrize("folder", folders(), ids=relative)
def test_prose_is_plain(folder: Path) -> None:
    for file in sources_in(folder):
        for text in prose(file.read_text()):
            for pattern, better in PROSE.items():
                found = re.search(pattern, text, re.IGNORECASE)
                if found and f"{relative(file)}:{found[0]}" not in ALLOWED_PROSE:
                    pytest.fail(f"{relative(file)}: {found[0]!r} in {' '.join(text.split())[:150]}: {better}")


@pytest.mark.parametrize("folder", folders(), ids=relative)
def test_test_names_are_short(folder: Path) -> None:
    for file in sources_in(folder):
        for name in re.findall(r"^ *(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE):
            assert len(name) <= MAX_TEST_NAME, f"{relative(file)}: {name} has {len(name)} characters"


def test_what_is_allowed_is_there() -> None:
    for entry in [*ALLOWED_IDENTIFIERS, *ALLOWED_PROSE]:
        path, text = entry.split(":", 1)
        assert text in (ROOT / path).read_text(), entry


def test_a_public_class_name_means_one_thing() -> None:
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for file in (ROOT / "swapcli").rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(relative(file))
    twice = {name: files for name, files in classes.items() if len(files) > 1}
    assert not twice
