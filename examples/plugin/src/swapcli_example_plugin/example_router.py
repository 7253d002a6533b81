"""The dialect of a router with one method: swap(pool, tokenIn, amountIn, minOut, to)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli import InvalidRoute
from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.router_execution import Execution
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Approval, EncodedCall, Transaction, UnsignedTransaction
from swapcli.payload.evm.transactions import build_transactions

_SELECTOR: Final = keccak256(b"swap(address,address,uint256,uint256,address)")[:4].hex()


class ExampleRouter:
    """A `RouterDialect`: routes of one pool, of ERC-20 tokens only, without a deadline."""

    name: Final = "example_router"
    execution: Final = Execution(executes_paths=True)
    pays_integrators: Final = False
    pays_surplus: Final = False
    permit_kind: Final = None
    enforces_deadline: Final = False

    def __init__(self, network: Network) -> None:
        self._network = network

    def executable_pool(self, pool: Pool) -> Pool | None:
        """Return every pool that has an address of its own; not the wrapper of the native token."""
        return None if self.refusal_reason(pool) else pool

    def refusal_reason(self, pool: Pool) -> str:
        """Same as `RouterDialect.refusal_reason`."""
        return "it swaps ERC-20 tokens only" if pool.is_wrapper else ""

    def build_payload(self, swap: ReplayedSwap, router: str) -> UnsignedTransaction:
        """Encode the call. Raises `InvalidRoute` for more than one pool, native currency, or an integrator."""
        route = swap.route
        if len(swap.steps) != 1:
            raise InvalidRoute(f"the router {self.name} swaps through one pool", hint="give --direct --max-pools 1")
        if route.swap_type is not SwapType.TOKEN_TO_TOKEN:
            raise InvalidRoute(f"the router {self.name} swaps ERC-20 tokens only", hint="wrap the native token first")
        if swap.integrator is not None:
            raise InvalidRoute(f"the router {self.name} pays no integrator")
        words = (
            encode_address(swap.pools[swap.steps[0].pool].address, "pool"),
            encode_address(route.token_in, "tokenIn"),
            encode_uint(route.amount_in, 256, "amountIn"),
            encode_uint(route.min_received, 256, "minOut"),
            encode_address(route.recipient, "to"),
        )
        approval = Approval(route.token_in, router, route.amount_in)
        return UnsignedTransaction(
            EncodedCall(route), router, 0, f"0x{_SELECTOR}{''.join(words)}", approvals=(approval,)
        )

    def build_transactions(
        self, payload: UnsignedTransaction, allowances: Sequence[int] = ()
    ) -> tuple[Transaction, ...]:
        """See `RouterDialect.build_transactions`: the approvals that are missing, then the swap."""
        return build_transactions(payload, allowances)
