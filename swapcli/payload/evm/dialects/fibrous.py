"""The dialect of the public router on EVM networks and of this project's router contract, which read the same calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidRoute
from swapcli.core.model.network import OWN, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import PermitKind, ReplayedSwap
from swapcli.core.model.router_execution import Execution
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, Transaction, UnsignedTransaction
from swapcli.families import family_row
from swapcli.payload.evm.fibrous_calldata import Permit, decode_call, encode_permit_call
from swapcli.payload.evm.integrator import encode_integrator_data
from swapcli.payload.evm.router_params import build_call
from swapcli.payload.evm.transactions import build_transaction, build_transactions


class FibrousDialect:
    """The `InterfaceDialect` of EVM networks: calldata of the router's ABI."""

    pays_integrators: Final = True
    pays_surplus: Final = True
    permit_kind: Final = PermitKind.TOKEN

    def __init__(self, network: Network) -> None:
        self._network = network
        self.name = network.router_dialect
        # A router that the settings mark as ours has the current version unless its code shows otherwise.
        self.enforces_deadline = self.name == OWN and network.router_has_deadlines is not False
        self.execution = Execution(rate_variant=network.router_variant.rate)

    def executable_pool(self, pool: Pool) -> Pool | None:
        """Return the pool itself, or None if this project's contract has no step for its family.

        The public router executes every protocol in the interface.
        """
        return None if self.refusal_reason(pool) else pool

    def refusal_reason(self, pool: Pool) -> str:
        """Same as `RouterDialect.refusal_reason`."""
        protocol = self._network.protocol(pool.protocol)
        call = family_row(pool.family).router
        if self.name != OWN or call.kind_of(protocol.contracts if protocol else ()) is not None:
            return ""
        return f"the contract has no step for {pool.family} pools"

    def build_payload(self, swap: ReplayedSwap, router: str) -> UnsignedTransaction:
        """Same as `RouterDialect.build_payload`.

        A permit needs a deadline, and a call with a permit cannot pay an integrator.
        """
        call = self.build_call(swap.route, swap.steps, swap.pools, swap.integrator)
        if self.enforces_deadline and swap.permit is None:
            call = call._replace(deadline_s=swap.deadline_s)
        payload = self.build_transaction(call, router)
        if swap.permit is None or swap.deadline_s is None:
            return payload
        if call.integrator_data:
            raise InvalidRoute(
                "a swap with a permit cannot pay an integrator", hint="approve the router with a transaction"
            )
        r, s, v = swap.permit.signature[:WORD], swap.permit.signature[WORD : 2 * WORD], swap.permit.signature[-1]
        calldata = encode_permit_call(call, Permit(swap.deadline_s, v, r, s))
        timed = call._replace(deadline_s=swap.deadline_s)
        return payload._replace(call=timed, calldata=calldata, approvals=(), permitted=payload.approvals)

    def build_call(
        self, route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], integrator: Integrator | None
    ) -> RouterCall:
        """Build the call that executes `steps`. Raises `InvalidRoute` and `ConfigError`."""
        return build_call(route, steps, pools, self._network, integrator)

    def build_transaction(self, call: RouterCall, router: str) -> UnsignedTransaction:
        """Encode a call for the router at an address. Raises `InvalidInput` and `InvalidRoute`."""
        return build_transaction(call, self._network, router)

    def build_transactions(
        self, payload: UnsignedTransaction, allowances: Sequence[int] = ()
    ) -> tuple[Transaction, ...]:
        """Same as `RouterDialect.build_transactions`."""
        return build_transactions(payload, allowances)

    def decode_call(self, calldata: str, felts: Sequence[int], amount_out: int) -> RouterCall:
        """Decode calldata. It contains the quoted output, and there are no felts. Raises `InvalidInput`."""
        del felts, amount_out
        return decode_call(calldata)

    def encode_integrator_data(self, integrator: Integrator | None) -> bytes:
        """Encode the integrator's shares; empty if there are none. Raises `InvalidInput` for an invalid address."""
        return encode_integrator_data(integrator)
