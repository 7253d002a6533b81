"""A value that is never shown: its text, its representation and its plain-data copies do not contain the secret."""

from __future__ import annotations

from typing import Final

MASK: Final = "********"


class Secret:
    """A key or a URL with credentials; `redacted` is the part that may be displayed."""

    __slots__ = ("_value", "redacted")

    def __init__(self, value: str, redacted: str = MASK) -> None:
        self._value = value
        self.redacted = redacted

    def reveal(self) -> str:
        """Return the secret itself, for sending."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.redacted})"

    def __str__(self) -> str:
        return self.redacted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)
