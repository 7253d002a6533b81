"""An amount as a person wrote it, before it becomes an amount of a token."""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, truncate
from swapcli.core.records import NamedTuple


class AmountUnit(StrEnum):
    """The unit of an amount: tokens, base units, US dollars, or percent of a balance."""

    TOKENS = "tokens"
    SMALLEST = "smallest"
    USD = "usd"
    PERCENT = "percent"


class WrittenAmount(NamedTuple):
    """An amount as it was written. `number` is a plain decimal ("2500").

    `is_plain` means that the text itself is a plain decimal number of tokens, without conversion.
    """

    text: str
    unit: AmountUnit
    number: str
    is_plain: bool = False

    @property
    def shown(self) -> str:
        """The text, shortened for messages."""
        return truncate(self.text, SHOWN_INPUT_CHARACTERS)

    @property
    def is_balance_part(self) -> bool:
        """Whether the amount is a percentage of a balance."""
        return self.unit is AmountUnit.PERCENT


def is_balance_part(text: str) -> bool:
    """Return whether an amount, as written, is a percentage or all of a balance."""
    return text.endswith("%") or text.lower() == "all"
