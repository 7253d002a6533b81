"""Simulate a swap before it is signed, once for each way in which the public router may read its payload.

How the public router reads its calls is not published. Payloads for each variant are simulated together, and the first
one that pays the replayed amount for its variant replaces the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import SimulationError
from swapcli.core.model.router_variant import DEFAULT_VARIANT
from swapcli.core.model.swap_terms import after_fee
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import EncodedCall, RouterCall, UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.payload.evm import decode_integrator_data
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.payloads_by_variant import FittingVariants, ReadPayload, RoutePayloads, VariantCertainty
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.payload.simulation.sender_balances import SenderBalances
from swapcli.payload.simulation.swap_simulation import SimulationGrant, SwapSimulation, simulate_swaps
from swapcli.state.rpc.node import BlockId, ChainHead, StateOverrideNode, block_number

_HINT_DO_NOT_SIGN: Final = "do not sign: the router may read payloads differently, or a token may take a cut"
_MIN_AMOUNT_PER_UNIT: Final = 10**7
"""A difference of one unit may be a router's rounding if it is less than this part of the output.

A wrong rate variant leaves at least a millionth of a token unsold.
"""
HINT_NO_ROUTER: Final = "check the router in the network's settings"
_HINT_OTHER_STATE: Final = "the quote used different state: quote again with this node"


class TradedTokens(NamedTuple):
    """The sold token and the bought token, one of which may be the native token, and the native token itself."""

    token_in: Token
    token_out: Token
    native: Token


class Simulation(NamedTuple):
    """The result of a simulated swap on the state after `block`; amounts in base units of the bought token.

    `gas_used` is the gas before refunds, which are at most a fifth of it. `assumed` names the balances and allowances
    that the sender lacks and that the simulation granted. `variant` is how the router reads the payload, None if other
    variants were not tried, or if the state was not the quote's, in which case nothing is proven.
    """

    block: int
    sender: str
    received: int
    expected: int
    gas_used: int
    assumed: tuple[str, ...]
    variant: FittingVariants | None = None

    @property
    def matches(self) -> bool:
        """Whether the swap paid exactly the quoted amount."""
        return self.received == self.expected


class VariantTrial(NamedTuple):
    """A payload for one variant, and its simulation."""

    read_payload: ReadPayload
    run: SimulationRun
    simulation: Simulation

    @property
    def payload(self) -> UnsignedTransaction:
        """The payload that was simulated."""
        return self.read_payload.payload

    @property
    def is_exact(self) -> bool:
        """Whether the swap paid exactly the quoted amount."""
        return self.run.status is SimulationStatus.DONE and self.simulation.matches

    @property
    def is_reported_truly(self) -> bool:
        """Whether the router returned the amount it paid. What it returns for an integrator's swap is not published."""
        call = self.payload.call
        if isinstance(call, EncodedCall) or call.integrator_data:
            return True
        return self.run.return_data == self.simulation.received.to_bytes(WORD, signed=True)

    @property
    def is_as_replayed(self) -> bool:
        """Whether the swap paid its replayed amount, up to one unit per swap, and the router returned that amount."""
        expected, difference = self.simulation.expected, self.simulation.received - self.simulation.expected
        tolerance = min(len(self.payload.router_call.swaps), expected // _MIN_AMOUNT_PER_UNIT)
        return self.run.status is SimulationStatus.DONE and abs(difference) <= tolerance and self.is_reported_truly


class TrialRunner(NamedTuple):
    """Simulates payloads that differ only in their variant, all in one request."""

    node: StateOverrideNode
    at: BlockId
    sender: str
    holdings: SenderBalances
    tokens: TradedTokens
    head: ChainHead

    def run(self, payloads: Sequence[ReadPayload]) -> list[VariantTrial]:
        """Simulate the payloads on the node in one request."""
        swaps = [SimulatedCall.from_payload(each.payload) for each in payloads]
        simulated = simulate_swaps(self.node, self.at, swaps, self.sender, self.holdings, self.head)
        block = block_number(self.at)
        return [
            VariantTrial(
                each, result.run, _describe_simulation(result, each.payload.call, block, self.sender, self.tokens)
            )
            for each, result in zip(payloads, simulated, strict=True)
        ]


def simulate_variants(
    runner: TrialRunner, payload: UnsignedTransaction, variants: RoutePayloads | None
) -> list[VariantTrial]:
    """Simulate the payload and its other variants together; if its variant is known, try the others only if it pays
    less."""
    if variants is None:
        return runner.run([ReadPayload(DEFAULT_VARIANT, payload)])
    first = ReadPayload(variants.network.router_variant, payload)
    if variants.certainty(first) is VariantCertainty.ASSUMED:
        return runner.run(variants.candidates(first))
    trials = runner.run([first])
    if trials[0].is_exact and trials[0].is_as_replayed:
        return trials
    others = variants.candidates(first)[1:]
    return trials + runner.run(others) if others else trials


def proven_trials(trials: Sequence[VariantTrial]) -> tuple[VariantTrial, ...]:
    """Return the trials that paid their replayed amounts, or only the exact ones if any of them paid to the unit."""
    near = [trial for trial in trials if trial.is_as_replayed]
    return tuple([trial for trial in near if trial.is_exact] or near)


def best_unproven(trials: Sequence[VariantTrial], tokens: TradedTokens, is_exact: bool) -> VariantTrial:
    """Return the trial that pays most among those that pay their minimum, for a state that is not the quote's.

    On the quote's state, or if no trial pays its minimum, raises `SimulationError` for the first trial.
    """
    first = trials[0]
    paying = [trial for trial in trials if _pays_minimum(trial) and trial.is_reported_truly]
    if not is_exact and paying:
        return max(paying, key=lambda trial: trial.simulation.received)
    require_expected(first, tokens, is_exact)
    raise _false_report_error(first, tokens)  # it paid enough: only the router's return value is wrong


def _false_report_error(trial: VariantTrial, tokens: TradedTokens) -> SimulationError:
    """Return the error for a router that paid enough, but returned a different amount than it paid."""
    simulation, return_data = trial.simulation, trial.run.return_data
    paid = in_tokens(simulation.received, tokens.token_out)
    returned = in_tokens(int.from_bytes(return_data[:WORD]), tokens.token_out)
    message = f"the router pays {paid} at block {simulation.block}, but returns {returned}"
    return _simulation_error(simulation, message, _HINT_DO_NOT_SIGN, return_data)


def _pays_minimum(trial: VariantTrial) -> bool:
    is_done = trial.run.status is SimulationStatus.DONE
    return is_done and trial.simulation.received >= trial.payload.call.route.min_received


def _describe_simulation(
    simulated: SwapSimulation, call: RouterCall | EncodedCall, block: int, sender: str, tokens: TradedTokens
) -> Simulation:
    words = {
        SimulationGrant.NATIVE: f"balance of {tokens.native.symbol}",
        SimulationGrant.TOKEN: f"balance of {tokens.token_in.symbol}",
        SimulationGrant.ALLOWANCE: "allowance",
    }
    assumed = tuple(words[each] for each in simulated.grants)
    return Simulation(block, sender, simulated.run.received, expected_output(call), simulated.run.gas_used, assumed)


def expected_output(call: RouterCall | EncodedCall) -> int:
    """Return the part of the quoted amount that the recipient gets: all of it if the recipient is the integrator
    too."""
    shares = call.integrator if isinstance(call, EncodedCall) else decode_integrator_data(call.integrator_data)
    if shares is None or shares.address == call.route.recipient:
        return call.route.amount_out
    return after_fee(call.route.amount_out, shares.fee_bps)


def require_expected(trial: VariantTrial, tokens: TradedTokens, is_exact: bool) -> None:
    """Raise `SimulationError` unless a trial paid its quote, or its minimum if the state was not the quote's."""
    run, simulation, payload = trial.run, trial.simulation, trial.payload
    where = f" at block {simulation.block}"
    if run.status is not SimulationStatus.DONE:
        hints = {
            SimulationStatus.NO_ROUTER: HINT_NO_ROUTER,
            SimulationStatus.REVERTED: _HINT_DO_NOT_SIGN if is_exact else _HINT_OTHER_STATE,
        }
        message = describe_failure(run, payload, tokens, where)
        raise _simulation_error(simulation, message, hints.get(run.status), run.return_data)
    due = simulation.expected if is_exact else payload.call.route.min_received
    if (is_exact and not simulation.matches) or simulation.received < due:
        message = describe_shortfall(simulation.received, due, tokens, where, is_exact=is_exact)
        raise _simulation_error(simulation, message, _HINT_DO_NOT_SIGN)


def describe_failure(run: SimulationRun, payload: UnsignedTransaction, tokens: TradedTokens, where: str = "") -> str:
    """Return the sentence for a simulated swap that fails."""
    if run.status is SimulationStatus.NO_ROUTER:
        return f"there is no contract at the router's address {payload.to}{where}"
    why = describe_revert(run.return_data)
    if run.status is SimulationStatus.NOT_APPROVED:
        return f"{tokens.token_in.symbol} rejects the approval{where}: {why}"
    return f"the swap reverts{where}: {why}"


def describe_shortfall(received: int, due: int, tokens: TradedTokens, where: str = "", *, is_exact: bool) -> str:
    """Return the sentence for a swap that pays too little: less than its quote if `is_exact`, otherwise less than its
    minimum."""
    pays, promised = (in_tokens(amount, tokens.token_out) for amount in (received, due))
    return f"the swap pays {pays}{where}, but {'the quote is' if is_exact else 'it promises at least'} {promised}"


def check_router(node: StateOverrideNode, payload: UnsignedTransaction, at: BlockId) -> None:
    """Raise `SimulationError` if the called address has no code, because funds sent to it would be lost.

    This costs a request, so the check is made only before a less serious error about the same payload is raised.
    """
    if not node.read_account(payload.to, at).code:
        block = block_number(at)
        message = f"there is no contract at the router's address {payload.to} at block {block}"
        raise SimulationError(message, hint=HINT_NO_ROUTER, details={"block": block})


def _simulation_error(simulation: Simulation, message: str, hint: str | None, output: bytes = b"") -> SimulationError:
    figures = {
        "block": simulation.block,
        "received": str(simulation.received),
        "expected": str(simulation.expected),
        "output": f"0x{output.hex()}",
    }
    return SimulationError(message, hint=hint, details=figures)
