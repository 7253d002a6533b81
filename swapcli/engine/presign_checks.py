"""Checks of a payload before it is signed: the balances of its sender, and a simulation of the swap on a node.

A quote on a block of the network is simulated on that block, and the swap must then pay the quoted amount to the unit.
Any other quote (on modelled state, or from a remote service that does not report its state) is simulated on the newest
block, one on a pending block on what is pending now. So is a quote on a block if the node turns out to ignore block
numbers. The swap must then pay at least the minimum of the payload, and the result says how much it differs from the
quote.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from swapcli.chain.multicall import find_answering_block
from swapcli.chain.node import BlockId, ChainHead, StateOverrideNode, block_number
from swapcli.chain.revert_reason import describe_revert
from swapcli.chain.sender_balances import SenderBalances, read_sender_balances
from swapcli.chain.simulation import SimulationGrant, SwapSimulation, simulate_swap
from swapcli.engine.signing_fields import SigningPlan
from swapcli.errors import InsufficientBalance, SimulationError
from swapcli.evm import decode_integrator_data
from swapcli.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.model.block_tag import BlockTag
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import after_fee
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import EncodedCall, RouterCall, UnsignedTransaction

_HINT_DO_NOT_SIGN: Final = "the router may read payloads otherwise, or a token take a cut: do not sign"
_HINT_OTHER_STATE: Final = "the quote used other state: quote again on the state of the node"


class TradedTokens(NamedTuple):
    """The sold and the bought token, either may be the native one; and the native token."""

    token_in: Token
    token_out: Token
    native: Token


class CheckOptions(NamedTuple):
    """Which checks to run. Without a `sender`, no balances are checked, and the recipient is the sender."""

    simulate: bool = False
    sender: str | None = None


class Simulation(NamedTuple):
    """The result of a simulated swap on the state after `block`; amounts in base units of the bought token.

    `gas_used` is before refunds, which are at most a fifth of it. `assumed` names the balances and allowances that the
    sender lacks and that the simulation granted.
    """

    block: int
    sender: str
    received: int
    expected: int
    gas_used: int
    assumed: tuple[str, ...]

    @property
    def matches(self) -> bool:
        """Whether the swap paid exactly the quoted amount."""
        return self.received == self.expected


class PayloadCheck(NamedTuple):
    """The results of the checks.

    `holdings` are the balances of the sender, None if no sender was given. `gas_wei` estimates the cost of the
    transaction, None if unknown. `is_rounded` means that a token stores balances as shares, so that the quote is not
    exact. `signing` has the fields that only a node knows. `sender` and
    `signing` are None if no sender was given.
    """

    tokens: TradedTokens
    holdings: SenderBalances | None
    simulation: Simulation | None
    gas_wei: int | None
    is_rounded: bool = False
    sender: str | None = None
    signing: SigningPlan | None = None

    @property
    def allowances(self) -> tuple[int, ...]:
        """What each spender of the payload's approvals may spend; empty if it was not read."""
        return self.holdings.allowances if self.holdings else ()


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
    """Return the results of the checks that `options` request.

    `gas_wei` is the estimated cost; without one, the simulation provides it. `is_rounded` means that a token stores
    balances as shares, so that the swap need only pay the minimum. Raise `InsufficientBalance` if the sender has less
    than the swap sells, `SimulationError` if the swap reverts, pays another amount or cannot be simulated, and
    `UpstreamError`.
    """
    head = node.read_head(BlockTag.PENDING if origin.tag is BlockTag.PENDING else BlockTag.LATEST)
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
    return PayloadCheck(tokens, holdings if options.sender else None, simulation, gas_wei, is_rounded, options.sender)


def _block_to_check(origin: StateSource, head: ChainHead) -> tuple[BlockId, bool]:
    """Return the block to simulate on, and whether the quote is for it. A block that a service reports is unproven, and
    a pending one may have changed since."""
    is_fixed = origin.is_live and origin.tag is not BlockTag.PENDING
    if origin.service_url is None and is_fixed and origin.block is not None:
        return origin.block, True
    return head.block, False


def _describe_simulation(
    simulated: SwapSimulation, call: RouterCall | EncodedCall, block: int, sender: str, tokens: TradedTokens
) -> Simulation:
    words = {
        SimulationGrant.NATIVE: f"balance of {tokens.native.symbol}",
        SimulationGrant.TOKEN: f"balance of {tokens.token_in.symbol}",
        SimulationGrant.ALLOWANCE: "allowance",
    }
    assumed = tuple(words[each] for each in simulated.grants)
    return Simulation(block, sender, simulated.run.received, _expected_output(call), simulated.run.gas_used, assumed)


def _expected_output(call: RouterCall | EncodedCall) -> int:
    """Return how much of the quoted amount the recipient gets: all of it if the integrator's fee is also theirs."""
    shares = call.integrator if isinstance(call, EncodedCall) else decode_integrator_data(call.integrator_data)
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
