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

_HINT_DO_NOT_SIGN: Final = "the router may read payloads otherwise, or a token take a cut: do not sign"
_HINT_OTHER_STATE: Final = "the quote rests on another state: quote anew, on that of the node"


class TradedTokens(NamedTuple):
    """What is sold and what is bought, the native token under its own name; and the native token."""

    token_in: Token
    token_out: Token
    native: Token


class CheckOptions(NamedTuple):
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


class PayloadCheck(NamedTuple):
    """What was found. `holdings` are those of the sender that was named, None without one; `gas_wei` is about what the
    transaction costs, None where unknown. `is_rounded`: a token keeps shares, so that the quote is not exact."""

    tokens: TradedTokens
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
    options: CheckOptions,
    payload: UnsignedTransaction,
    origin: StateSource,
    tokens: TradedTokens,
    gas_wei: int | None = None,
    *,
    is_rounded: bool = False,
) -> PayloadCheck:
    """`gas_wei` is what was estimated; a simulation makes up for none. `rounded` says that a token keeps shares, so
    that what arrives need only be the minimum.

    Raises `InsufficientBalance` where the named sender holds less than the swap takes; `SimulationError` where the swap
    reverts, pays what was not quoted, or cannot be simulated; `UpstreamError`.
    """
    head = node.head()
    at, is_exact = _block_to_check(origin, head)
    sender, swap = options.sender or payload.call.route.recipient, SimulatedCall.from_payload(payload)
    holdings = read_sender_balances(node, at, sender, swap)
    if options.sender and holdings.balance_in < swap.amount_in:
        raise _insufficient_balance(holdings.balance_in, swap.amount_in, tokens.token_in)
    simulation = None
    if options.simulate:
        swap_simulation = simulate_swap(node, at, swap, sender, holdings)
        simulation = _describe_simulation(swap_simulation, payload.call, block_number(at), sender, tokens)
        if (
            is_exact
            and simulation.block
            and not (swap_simulation.run.status is SimulationStatus.DONE and simulation.matches)
        ):
            # A node that ignores block numbers has simulated on another state than the one that was quoted on.
            answering_block = find_answering_block(node, simulation.block - 1)
            is_exact = answering_block is None or answering_block == simulation.block - 1
        _require_expected(swap_simulation.run, simulation, payload, tokens, is_exact and not is_rounded)
        gas_wei = simulation.gas_used * head.gas_price_wei if gas_wei is None else gas_wei
    return PayloadCheck(tokens, holdings if options.sender else None, simulation, gas_wei, is_rounded)


def _block_to_check(origin: StateSource, head: ChainHead) -> tuple[BlockId, bool]:
    """The block to ask about, and whether it is the one that was quoted on; what a service says of it is not proven."""
    if origin.service_url is None and origin.is_live and origin.block is not None:
        return origin.block, True
    return head.block, False


def _describe_simulation(
    simulated: SwapSimulation, call: RouterCall, block: int, sender: str, tokens: TradedTokens
) -> Simulation:
    words = {
        SimulationGrant.NATIVE: f"balance of {tokens.native.symbol}",
        SimulationGrant.TOKEN: f"balance of {tokens.token_in.symbol}",
        SimulationGrant.ALLOWANCE: "allowance",
    }
    assumed = tuple(words[each] for each in simulated.grants)
    return Simulation(block, sender, simulated.run.received, _expected_output(call), simulated.run.gas_used, assumed)


def _expected_output(call: RouterCall) -> int:
    """What the receiver gets of what was quoted: all where he earns the fee himself."""
    shares = decode_integrator_data(call.integrator_data)
    if shares is None or shares.address == call.route.recipient:
        return call.route.amount_out
    return after_fee(call.route.amount_out, shares.fee_bps)


def _require_expected(
    run: SimulationRun, simulation: Simulation, payload: UnsignedTransaction, tokens: TradedTokens, is_exact: bool
) -> None:
    where = f"at block {simulation.block}"
    match run.status:
        case SimulationStatus.NO_ROUTER:
            problem = f"nothing is deployed at the router's address {payload.to} {where}"
            raise _simulation_error(simulation, problem, "see the router in the network's settings")
        case SimulationStatus.NOT_APPROVED:
            why = describe_revert(run.return_data)
            raise _simulation_error(
                simulation, f"{tokens.token_in.symbol} refuses to be approved {where}: {why}", None, run.return_data
            )
        case SimulationStatus.REVERTED:
            hint = _HINT_DO_NOT_SIGN if is_exact else _HINT_OTHER_STATE
            raise _simulation_error(
                simulation, f"the swap reverts {where}: {describe_revert(run.return_data)}", hint, run.return_data
            )
    minimum = simulation.expected if is_exact else payload.call.route.min_received
    if (is_exact and not simulation.matches) or simulation.received < minimum:
        pays, due = (in_tokens(amount, tokens.token_out) for amount in (simulation.received, minimum))
        promise = "the quote says" if is_exact else "it promises at least"
        raise _simulation_error(simulation, f"the swap pays {pays} {where}, and {promise} {due}", _HINT_DO_NOT_SIGN)


def _simulation_error(simulation: Simulation, message: str, hint: str | None, output: bytes = b"") -> SimulationError:
    figures = {
        "block": simulation.block,
        "amount_received": str(simulation.received),
        "expected": str(simulation.expected),
        "output": f"0x{output.hex()}",
    }
    return SimulationError(message, hint=hint, details=figures)


def _insufficient_balance(balance: int, needed: int, token: Token) -> InsufficientBalance:
    holds, takes = in_tokens(balance, token), in_tokens(needed, token)
    return InsufficientBalance(
        f"Insufficient balance: the sender holds {holds}, and the swap takes {takes}",
        hint="sell less, or from an address that holds as much",
        details={"token": token.address, "held": str(balance), "needed": str(needed)},
    )
