"""What can be said of a payload before anybody signs it: what its sender holds, and what a node makes of the swap.

Where the quote rests on a block of the network, that block is asked about, and what arrives must be what was quoted, to
the unit. Any other quote (on modelled state, or of a service that does not say what it rests on) is held against the
newest block, as is one where the node turns out to ignore which block it is asked about: there the swap must pay the
least that it promises, and by how much it misses the quote is told.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from swapcli.chain.multicall import find_answering_block
from swapcli.chain.node import BlockId, ChainHead, StateOverrideNode, block_number
from swapcli.chain.revert_reason import describe_revert
from swapcli.chain.sender_balances import SenderBalances, read_sender_balances
from swapcli.chain.simulation import SimulationGrant, SwapSimulation, simulate_swap
from swapcli.errors import InsufficientBalance, SimulationError
from swapcli.evm import decode_integrator_data
from swapcli.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import after_fee
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import RouterCall, UnsignedTransaction

_DIFFERS: Final = "the router may read payloads otherwise, or a token take a cut: do not sign"
_ELSEWHERE: Final = "the quote rests on another state: quote anew, on that of the node"


class Ends(NamedTuple):
    """What is sold and what is bought, the native token under its own name; and the native token."""

    token_in: Token
    token_out: Token
    native: Token


class Wanted(NamedTuple):
    """Which checks: `sender` is whose holdings are checked. Without one, a simulation is for the receiver."""

    simulate: bool = False
    sender: str | None = None


class Simulation(NamedTuple):
    """What the swap does on the state after `block`: amounts in base units of what is bought. `gas_used` is before
    refunds, which are a fifth of it at most; `assumed` is what the sender lacks, in words."""

    block: int
    sender: str
    received: int
    expected: int
    gas_used: int
    assumed: tuple[str, ...]

    @property
    def matches(self) -> bool:
        """Does exactly what was quoted arrive?"""
        return self.received == self.expected


class Checked(NamedTuple):
    """What was found. `holdings` are those of the sender that was named, None without one; `gas_wei` is about what the
    transaction costs, None where unknown. `is_rounded`: a token keeps shares, so that the quote is not exact."""

    ends: Ends
    holdings: SenderBalances | None
    simulation: Simulation | None
    gas_wei: int | None
    is_rounded: bool = False

    @property
    def allowance(self) -> int | None:
        """What the router may take of what is sold; None where nobody looked, and for native currency."""
        return self.holdings.allowance if self.holdings else None


def check_payload(
    node: StateOverrideNode,
    wanted: Wanted,
    payload: UnsignedTransaction,
    origin: StateSource,
    ends: Ends,
    gas_wei: int | None = None,
    *,
    rounded: bool = False,
) -> Checked:
    """`gas_wei` is what was estimated; a simulation makes up for none. `rounded` says that a token keeps shares, so
    that what arrives need only be the minimum.

    Raises `InsufficientBalance` where the named sender holds less than the swap takes; `SimulationError` where the swap
    reverts, pays what was not quoted, or cannot be simulated; `UpstreamError`.
    """
    head = node.head()
    at, is_exact = _state(origin, head)
    sender, swap = wanted.sender or payload.call.route.recipient, SimulatedCall.from_payload(payload)
    holdings = read_sender_balances(node, at, sender, swap)
    if wanted.sender and holdings.balance_in < swap.amount_in:
        raise _too_little(holdings.balance_in, swap.amount_in, ends.token_in)
    simulation = None
    if wanted.simulate:
        told = simulate_swap(node, at, swap, sender, holdings)
        simulation = _simulation(told, payload.call, block_number(at), sender, ends)
        if is_exact and simulation.block and not (told.run.status is SimulationStatus.DONE and simulation.matches):
            # A node that ignores block numbers has simulated on another state than the one that was quoted on.
            answered = find_answering_block(node, simulation.block - 1)
            is_exact = answered is None or answered == simulation.block - 1
        _check(told.run, simulation, payload, ends, is_exact and not rounded)
        gas_wei = simulation.gas_used * head.gas_price_wei if gas_wei is None else gas_wei
    return Checked(ends, holdings if wanted.sender else None, simulation, gas_wei, rounded)


def _state(origin: StateSource, head: ChainHead) -> tuple[BlockId, bool]:
    """The block to ask about, and whether it is the one that was quoted on; what a service says of it is not proven."""
    if origin.service_url is None and origin.is_live and origin.block is not None:
        return origin.block, True
    return head.block, False


def _simulation(told: SwapSimulation, call: RouterCall, block: int, sender: str, ends: Ends) -> Simulation:
    words = {
        SimulationGrant.NATIVE: f"balance of {ends.native.symbol}",
        SimulationGrant.TOKEN: f"balance of {ends.token_in.symbol}",
        SimulationGrant.ALLOWANCE: "allowance",
    }
    assumed = tuple(words[each] for each in told.grants)
    return Simulation(block, sender, told.run.received, _due(call), told.run.gas_used, assumed)


def _due(call: RouterCall) -> int:
    """What the receiver gets of what was quoted: all where he earns the fee himself."""
    shares = decode_integrator_data(call.integrator_data)
    if shares is None or shares.address == call.route.recipient:
        return call.route.amount_out
    return after_fee(call.route.amount_out, shares.fee_bps)


def _check(
    run: SimulationRun, simulation: Simulation, payload: UnsignedTransaction, ends: Ends, is_exact: bool
) -> None:
    where = f"at block {simulation.block}"
    match run.status:
        case SimulationStatus.NO_ROUTER:
            problem = f"nothing is deployed at the router's address {payload.to} {where}"
            raise _failed(simulation, problem, "see the router in the network's settings")
        case SimulationStatus.NOT_APPROVED:
            why = describe_revert(run.return_data)
            raise _failed(
                simulation, f"{ends.token_in.symbol} refuses to be approved {where}: {why}", None, run.return_data
            )
        case SimulationStatus.REVERTED:
            hint = _DIFFERS if is_exact else _ELSEWHERE
            raise _failed(
                simulation, f"the swap reverts {where}: {describe_revert(run.return_data)}", hint, run.return_data
            )
    least = simulation.expected if is_exact else payload.call.route.min_received
    if (is_exact and not simulation.matches) or simulation.received < least:
        pays, due = (in_tokens(amount, ends.token_out) for amount in (simulation.received, least))
        promise = "the quote says" if is_exact else "it promises at least"
        raise _failed(simulation, f"the swap pays {pays} {where}, and {promise} {due}", _DIFFERS)


def _failed(simulation: Simulation, message: str, hint: str | None, output: bytes = b"") -> SimulationError:
    figures = {
        "block": simulation.block,
        "amount_received": str(simulation.received),
        "expected": str(simulation.expected),
        "output": f"0x{output.hex()}",
    }
    return SimulationError(message, hint=hint, details=figures)


def _too_little(held: int, needed: int, token: Token) -> InsufficientBalance:
    holds, takes = in_tokens(held, token), in_tokens(needed, token)
    return InsufficientBalance(
        f"Insufficient balance: the sender holds {holds}, and the swap takes {takes}",
        hint="sell less, or from an address that holds as much",
        details={"token": token.address, "held": str(held), "needed": str(needed)},
    )
