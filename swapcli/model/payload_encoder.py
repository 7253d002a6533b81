"""The encoder of router calls: one implementation for each kind of network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from swapcli.model.pool import Pool
from swapcli.model.quote import Step
from swapcli.model.swap_terms import Integrator
from swapcli.model.transaction import RouterCall, RouterRouteParam, Transaction, UnsignedTransaction


class PayloadEncoder(Protocol):
    """Builds the router calls of one network, encodes them as transactions and decodes them."""

    @property
    def pays_integrators(self) -> bool:
        """Whether the routers of this kind of network pay integrators."""

    def build_call(
        self, route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], integrator: Integrator | None
    ) -> RouterCall:
        """Build the call that executes `steps`, the replay of a route on `pools` (by key).

        Raises `InvalidRoute` if the router cannot execute the steps, or cannot pay the integrator; `ConfigError` if the
        network lacks a setting that the call needs.
        """

    def build_transaction(self, call: RouterCall, router: str) -> UnsignedTransaction:
        """Encode a call for the router at an address. Raises `InvalidInput` for a value that does not fit its type."""

    def build_transactions(self, payload: UnsignedTransaction, allowance: int = 0) -> tuple[Transaction, ...]:
        """Return the transactions to sign, in order: the approvals that the router needs, and the swap.

        `allowance` is what the router may already spend, in base units of the input token.
        """

    def decode_call(self, calldata: str, felts: Sequence[int], amount_out: int) -> RouterCall:
        """Decode the calldata (hex with 0x) or, on Starknet, the felts of a call.

        `amount_out` completes a call whose encoding does not contain the quoted output. Raises `InvalidInput`.
        """

    def encode_integrator_data(self, integrator: Integrator | None) -> bytes:
        """Encode the integrator's shares; empty without any. Raises `InvalidRoute` if the router pays no integrator."""
