"""A program: one transaction to a router, with the plan that it was encoded from, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Program(NamedTuple):
    """A transaction. `origin` says how it was made; `target` is one of `world.TARGETS`.

    `recipient` is who shall receive the output, None for the sender.
    """

    target: str
    to: str
    value: int
    calldata: str
    origin: str
    recipient: str | None = None


class ExecutedProgram(NamedTuple):
    """Whether a program succeeded, what it returned, and the changes of balances by owner and token."""

    succeeded: bool
    output: bytes
    changes: Mapping[tuple[str, str], int]

    def change(self, owner: str, token: str) -> int:
        """Return the change of a balance."""
        return self.changes.get((owner, token), 0)
