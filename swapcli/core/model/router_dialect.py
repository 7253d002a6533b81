"""Router dialects: which pools a router can execute, how it executes a route, and how its payloads are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_execution import Execution
from swapcli.core.model.swap_terms import Integrator, SignedPermit
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, Transaction, UnsignedTransaction
from swapcli.core.records import NamedTuple


class ReplayedSwap(NamedTuple):
    """A swap for a router to execute: its terms, and the steps from replaying a route on `pools` (by key).

    A router that enforces deadlines rejects the swap after `deadline_s` (Unix); None means no deadline.
    """

    route: RouterRouteParam
    steps: Sequence[Step]
    pools: Mapping[str, Pool]
    integrator: Integrator | None = None
    deadline_s: int | None = None
    permit: SignedPermit | None = None


class PermitKind(StrEnum):
    """The contract that checks the signature of a permit."""

    TOKEN = "token"
    PERMIT2 = "permit2"


class RouterDialect(Protocol):
    """How a router executes swaps and encodes payloads. Each dialect has one implementation, with an instance per
    network."""

    @property
    def name(self) -> str:
        """The name of the dialect, as in the settings."""

    @property
    def execution(self) -> Execution:
        """How the router executes a route."""

    @property
    def pays_integrators(self) -> bool:
        """Whether the router pays integrators."""

    @property
    def pays_surplus(self) -> bool:
        """Whether the router can pay integrators a share of the surplus."""

    def executable_pool(self, pool: Pool) -> Pool | None:
        """Return the pool as the router executes it, or None if the router cannot execute it.

        The result differs from `pool` if the router computes the output itself instead of calling the pool.
        """

    def refusal_reason(self, pool: Pool) -> str:
        """Return why the router cannot execute a pool, as a clause; empty if there is nothing to add."""

    @property
    def permit_kind(self) -> PermitKind | None:
        """The permit that a payload can contain instead of an approval of the router; None if it cannot contain one."""

    @property
    def enforces_deadline(self) -> bool:
        """Whether the router rejects a swap after its deadline."""

    def build_payload(self, swap: ReplayedSwap, router: str) -> UnsignedTransaction:
        """Build the transaction that calls the router at the address `router`.

        Raises `InvalidRoute` if the router cannot execute the steps, or cannot pay the integrator; `ConfigError` if the
        network lacks a setting that the payload needs; `InvalidInput` for a value that does not fit its type.
        """

    def build_transactions(
        self, payload: UnsignedTransaction, allowances: Sequence[int] = ()
    ) -> tuple[Transaction, ...]:
        """Return the transactions to sign, in order: the approvals that the swap needs, and the swap.

        `allowances` are the amounts that each spender in `payload.approvals` may already spend; empty means unknown.
        """


def not_executable(dialect: RouterDialect, pool: Pool) -> InvalidRoute:
    """Return the error for a route with a pool that a dialect's router cannot execute."""
    reason = dialect.refusal_reason(pool)
    return InvalidRoute(
        f"the router {dialect.name} cannot execute pool {pool.key} of {pool.protocol}{reason and f': {reason}'}",
        hint=f"find a route with the router dialect {dialect.name}",
        details={"pool": pool.key, "dialect": dialect.name},
    )


def family_of_package(pool: Pool) -> InvalidRoute:
    """Return the error for a public-router payload that contains a pool from an installed package's family."""
    return InvalidRoute(
        f"the public router cannot execute pool {pool.key}: the package that adds the family {pool.family} does not "
        "support it",
        hint=f"exclude the protocol {pool.protocol}, or use the package's router dialect",
        details={"protocol": pool.protocol, "pool": pool.key},
    )


class InterfaceDialect(RouterDialect, Protocol):
    """A dialect of routers in the Fibrous API. Its calls contain a route and swap parameters."""

    def build_call(
        self, route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], integrator: Integrator | None
    ) -> RouterCall:
        """Build the call that executes `steps`. Raises the same errors as `build_payload`."""

    def build_transaction(self, call: RouterCall, router: str) -> UnsignedTransaction:
        """Encode a call to the router at the address `router`. Raises `InvalidInput` for a value that does not fit its
        type."""

    def decode_call(self, calldata: str, felts: Sequence[int], amount_out: int) -> RouterCall:
        """Decode the calldata of a call (hex with 0x) or, on Starknet, its felts.

        `amount_out` completes a call whose encoding does not contain the quoted output. Raises `InvalidInput`.
        """

    def encode_integrator_data(self, integrator: Integrator | None) -> bytes:
        """Encode the integrator's shares; empty if there are none.

        Raises `InvalidRoute` if the router cannot pay them.
        """
