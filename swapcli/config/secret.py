"""A value that must not show: no text, representation or copy as plain data of it contains the secret."""

from __future__ import annotations

from typing import Final

MASK: Final = "********"


class Secret:
    """Holds a key or an address with credentials; `shown` is what people may see of it."""

    __slots__ = ("_value", "shown")

    def __init__(self, value: str, shown: str = MASK) -> None:
        self._value = value
        self.shown = shown

    def reveal(self) -> str:
        """The secret itself, for whoever sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.shown})"

    def __str__(self) -> str:
        return self.shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)
