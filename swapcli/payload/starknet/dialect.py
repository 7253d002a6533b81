"""The dialect of the public router on Starknet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.router_execution import RATES
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, Transaction, UnsignedTransaction
from swapcli.payload.starknet.account_calls import build_account_calls, build_transaction
from swapcli.payload.starknet.router_params import build_call
from swapcli.payload.starknet.swap_call_felts import deserialise_call


class StarknetDialect:
    """The `InterfaceDialect` of a Starknet network: felts in Cairo's serialisation."""

    name: Final = FIBROUS
    pays_integrators: Final = False
    pays_surplus: Final = False
    execution: Final = RATES
    enforces_deadline: Final = False
    permit_kind: Final = None

    def __init__(self, network: Network) -> None:
        self._network = network

    def executable_pool(self, pool: Pool) -> Pool | None:
        """Return the pool itself: the router executes every family by calling the pool."""
        return pool

    def refusal_reason(self, pool: Pool) -> str:
        """Return an empty string: the router executes every pool."""
        del pool
        return ""

    def build_payload(self, swap: ReplayedSwap, router: str) -> UnsignedTransaction:
        """Same as `RouterDialect.build_payload`."""
        return self.build_transaction(self.build_call(swap.route, swap.steps, swap.pools, swap.integrator), router)

    def build_call(
        self, route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], integrator: Integrator | None
    ) -> RouterCall:
        """Build the call that executes `steps`. Raises `InvalidRoute`."""
        integrator_data = self.encode_integrator_data(integrator)
        return build_call(route, steps, pools, self._network)._replace(integrator_data=integrator_data)

    def build_transaction(self, call: RouterCall, router: str) -> UnsignedTransaction:
        """Serialise a call to the router at an address. Raises `InvalidAddress` and `InvalidInput`."""
        return build_transaction(call, self._network, router)

    def build_transactions(
        self, payload: UnsignedTransaction, allowances: Sequence[int] = ()
    ) -> tuple[Transaction, ...]:
        """Return the approval and the swap, which an account executes together. Allowances are not used."""
        del allowances
        return build_account_calls(payload)

    def decode_call(self, calldata: str, felts: Sequence[int], amount_out: int) -> RouterCall:
        """Deserialise felts, which do not contain the quoted output. Raises `InvalidInput`."""
        del calldata
        return deserialise_call(felts, amount_out=amount_out)

    def encode_integrator_data(self, integrator: Integrator | None) -> bytes:
        """Return no data. Raises `InvalidRoute` for an integrator with shares."""
        if integrator and (integrator.fee_bps or integrator.surplus_bps):
            raise InvalidRoute(f"the router on {self._network.name} cannot pay an integrator")
        return b""
