"""One check of a `swapcli prove` run, with its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.token import Token
    from swapcli.interface.document_types import ProofItemJson


class ProofStage(StrEnum):
    """The stages of a run, in order."""

    NODES = "nodes"
    QUOTES = "quotes"
    SWAPS = "swaps"
    OFFERS = "offers"
    PROOFS = "proofs"


class ProofOutcome(StrEnum):
    """The outcome of a check."""

    MATCH = "match"
    """The claim of swapcli, or of a node or aggregator, is true."""
    DIFFERENCE = "difference"
    """The claim is false; the reason explains why."""
    NOT_CHECKED = "notChecked"
    """The check could not be made; the reason says why."""


class ProofItem(NamedTuple):
    """A check. `expected` and `found` are amounts of `token` in base units, or None if the check compares no amounts.

    `id` is the same in every run on the same network. `block` is the block of the state. `facts` are other figures, as
    text by name. `checked_at_s` is a Unix time.
    """

    stage: ProofStage
    id: str
    title: str
    outcome: ProofOutcome
    reason: str = ""
    block: int | None = None
    expected: int | None = None
    found: int | None = None
    token: str = ""
    decimals: int = 0
    facts: Mapping[str, str] = MappingProxyType({})
    checked_at_s: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether the check does not need to be repeated in a later run."""
        return self.outcome is not ProofOutcome.NOT_CHECKED

    def comparing(self, expected: int | None, found: int | None, token: Token) -> ProofItem:
        """Return the item with the two amounts of `token` that it compares."""
        return self._replace(expected=expected, found=found, token=token.symbol, decimals=token.decimals)


def item_document(item: ProofItem) -> ProofItemJson:
    """Return an item as JSON."""
    return {
        "stage": item.stage.value,
        "id": item.id,
        "title": item.title,
        "outcome": item.outcome.value,
        "reason": item.reason or None,
        "block": item.block,
        "expected": None if item.expected is None else str(item.expected),
        "found": None if item.found is None else str(item.found),
        "token": item.token or None,
        "decimals": item.decimals,
        "facts": [{"name": name, "text": text} for name, text in item.facts.items()],
        "checkedAt": item.checked_at_s,
    }


_AMOUNT_DIGITS: Final = 80  # a uint256 has 78


def parse_item(document: object) -> ProofItem:
    """Return the item in a JSON document. Raises `ValueError` for a document that `item_document` cannot have
    written."""
    if not isinstance(document, dict):
        raise ValueError("each item must be an object")
    values: dict[str, object] = dict(document)
    return ProofItem(
        ProofStage(_text(values, "stage")),
        _text(values, "id"),
        _text(values, "title"),
        ProofOutcome(_text(values, "outcome")),
        _optional_text(values, "reason"),
        None if values.get("block") is None else _number(values, "block"),
        _amount(values, "expected"),
        _amount(values, "found"),
        _optional_text(values, "token"),
        _number(values, "decimals"),
        _facts(values.get("facts")),
        _number(values, "checkedAt"),
    )


def _text(values: Mapping[str, object], name: str) -> str:
    found = values.get(name)
    if not isinstance(found, str):
        raise ValueError(f"{name} is not text")
    return found


def _optional_text(values: Mapping[str, object], name: str) -> str:
    return "" if values.get(name) is None else _text(values, name)


def _number(values: Mapping[str, object], name: str) -> int:
    found = values.get(name)
    if type(found) is not int or found < 0:
        raise ValueError(f"{name} is not a number")
    return found


def _amount(values: Mapping[str, object], name: str) -> int | None:
    if values.get(name) is None:
        return None
    text = _text(values, name)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _AMOUNT_DIGITS):
        raise ValueError(f"{name} is not an amount")
    return int(text)


def _facts(found: object) -> Mapping[str, str]:
    if not isinstance(found, list):
        raise ValueError("facts is not a list")
    facts = {}
    for each in found:
        if not isinstance(each, dict):
            raise ValueError("a fact is not an object")
        facts[_text(each, "name")] = _text(each, "text")
    return facts
