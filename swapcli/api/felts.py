"""The arguments of Starknet calls as JSON: field elements as decimal strings."""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.api.fields import require_decimal_string, require_entries
from swapcli.validation.values import MAX_FELT

MAX_FELTS = 20_000


def render_felts(felts: Iterable[int]) -> list[str]:
    """Render the arguments of a call."""
    return [str(felt) for felt in felts]


def parse_felts(document: object, path: str = "document") -> tuple[int, ...]:
    """Parse the arguments of a call. Raises `InvalidInput` with the path of the entry."""
    return tuple(
        require_decimal_string(felt, at, 0, MAX_FELT) for at, felt in require_entries(document, path, MAX_FELTS)
    )
