"""Checks of a payload before it is signed: the balances of its sender, and a simulation of the swap on a node.

A quote on a block of the network is simulated on that block, and the swap must then pay the quoted amount to the unit.
Any other quote (on modelled state, or from a remote service that does not report its state) is simulated on the newest
block, one on a pending block on what is pending now. So is a quote on a block if the node turns out to ignore block
numbers. The swap must then pay at least the minimum of the payload, and the result says how much it differs from the
quote.

How the public router reads its calls is not published. Payloads for each reading are simulated together, and the first
one that pays what the replay under its reading says takes the place of the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InsufficientBalance, SimulationError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.router_reading import DEFAULT_READING
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_MAX_FEE_USD, after_fee
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import EncodedCall, RouterCall, UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.payload.evm import decode_integrator_data
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.payloads_by_reading import FittingReadings, ReadingCertainty, ReadPayload, RoutePayloads
from swapcli.payload.signing.signing_fields import SigningPlan
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.payload.simulation.sender_balances import SenderBalances, read_sender_balances
from swapcli.payload.simulation.swap_simulation import SimulationGrant, SwapSimulation, simulate_swaps
from swapcli.state.rpc.multicall import find_answering_block
from swapcli.state.rpc.node import BlockId, ChainHead, StateOverrideNode, block_number

_HINT_DO_NOT_SIGN: Final = "the router may read payloads otherwise, or a token take a cut: do not sign"
_MIN_AMOUNT_PER_UNIT: Final = 10**7
"""A unit of difference may be a router's rounding if it is a smaller part of the output. A wrong reading of a rate
leaves at least a millionth of a token unsold."""
_HINT_OTHER_STATE: Final = "the quote used other state: quote again on the state of the node"


class TradedTokens(NamedTuple):
    """The sold and the bought token, either may be the native one; and the native token."""

    token_in: Token
    token_out: Token
    native: Token


class CheckOptions(NamedTuple):
    """Which checks to run. Without a `sender`, no balances are checked, and the recipient is the sender.

    `max_fee_usd` is what the gas of all transactions may cost; `allows_fees` makes a warning of a refusal of a node's
    gas, fees or nonce.
    """

    simulate: bool = False
    sender: str | None = None
    max_fee_usd: float = DEFAULT_MAX_FEE_USD
    allows_fees: bool = False


class Simulation(NamedTuple):
    """The result of a simulated swap on the state after `block`; amounts in base units of the bought token.

    `gas_used` is before refunds, which are at most a fifth of it. `assumed` names the balances and allowances that the
    sender lacks and that the simulation granted. `reading` is how the router reads the payload, None if other readings
    were not tried, or if the state was not the quote's, which proves nothing.
    """

    block: int
    sender: str
    received: int
    expected: int
    gas_used: int
    assumed: tuple[str, ...]
    reading: FittingReadings | None = None

    @property
    def matches(self) -> bool:
        """Whether the swap paid exactly the quoted amount."""
        return self.received == self.expected


class PayloadCheck(NamedTuple):
    """The results of the checks.

    `read_payload` is the payload in the reading that pays, None if other readings were not tried. `proven` are all
    payloads that paid what they should.
    `holdings` are the balances of the sender, None if no sender was given. `gas_wei` estimates the cost of the
    transaction, None if unknown. `is_rounded` means that a token stores balances as shares, so that the quote is not
    exact. `signing` has the fields that only a node knows. `sender` and
    `signing` are None if no sender was given. `tag` names the block of the quote, on which the gas is estimated too.
    """

    tokens: TradedTokens
    holdings: SenderBalances | None
    simulation: Simulation | None
    gas_wei: int | None
    is_rounded: bool = False
    sender: str | None = None
    signing: SigningPlan | None = None
    read_payload: ReadPayload | None = None
    proven: tuple[ReadPayload, ...] = ()
    tag: BlockTag = BlockTag.LATEST

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
    readings: RoutePayloads | None = None,
) -> PayloadCheck:
    """Return the results of the checks that `options` request.

    `gas_wei` is the estimated cost; without one, the simulation provides it. `is_rounded` means that a token stores
    balances as shares, so that the swap need only pay the minimum. `readings` builds the payload for other readings of
    the router. Raise `InsufficientBalance` if the sender has less than the swap sells, `SimulationError` if the swap
    reverts, pays another amount or cannot be simulated, and `UpstreamError`.
    """
    head = node.read_head(BlockTag.PENDING if origin.tag is BlockTag.PENDING else BlockTag.LATEST)
    at, is_exact = _block_to_check(origin, head)
    sender, swap = options.sender or payload.call.route.recipient, SimulatedCall.from_payload(payload)
    holdings = read_sender_balances(node, at, sender, swap)
    if options.sender and holdings.balance_in < swap.amount_in:
        raise _insufficient_balance(holdings.balance_in, swap.amount_in, tokens.token_in)
    checked = PayloadCheck(tokens, holdings if options.sender else None, None, gas_wei, is_rounded, options.sender)
    checked = checked._replace(tag=_tag_to_estimate_on(origin, head))
    if not options.simulate:
        return checked
    checked = _check_by_simulation(
        _TrialRunner(node, at, sender, holdings, tokens), checked, payload, readings, is_exact
    )
    if gas_wei is None and checked.simulation:
        return checked._replace(gas_wei=checked.simulation.gas_used * head.gas_price_wei)
    return checked


def _check_by_simulation(
    runner: _TrialRunner,
    checked: PayloadCheck,
    payload: UnsignedTransaction,
    readings: RoutePayloads | None,
    is_exact: bool,
) -> PayloadCheck:
    """Return `checked` with the simulation. `is_exact` says whether the quote is for the block."""
    node, tokens, block = runner.node, runner.tokens, block_number(runner.at)
    trials = _simulate_readings(runner, payload, readings)
    if is_exact and block and not any(trial.is_exact for trial in trials):
        # A node that ignores block numbers has simulated on another state than the one that was quoted on.
        answering_block = find_answering_block(node, block - 1)
        is_exact = answering_block is None or answering_block == block - 1
    must_match = is_exact and not checked.is_rounded
    if readings is None:
        _require_expected(trials[0], tokens, must_match)
        return checked._replace(simulation=trials[0].simulation)
    proven = _proven(trials) if is_exact else ()
    trial = proven[0] if proven else _best_unproven(trials, tokens, must_match)
    read = tuple(trial.read_payload for trial in proven)
    simulation = trial.simulation._replace(reading=readings.fitting(read) if read else None)
    return checked._replace(simulation=simulation, read_payload=trial.read_payload, proven=read)


class _Trial(NamedTuple):
    """A payload for one reading, and its simulation."""

    read_payload: ReadPayload
    run: SimulationRun
    simulation: Simulation

    @property
    def payload(self) -> UnsignedTransaction:
        return self.read_payload.payload

    @property
    def is_exact(self) -> bool:
        """Whether the swap paid exactly the quoted amount."""
        return self.run.status is SimulationStatus.DONE and self.simulation.matches

    @property
    def is_reported_truly(self) -> bool:
        """Whether the router returned what it paid. What it returns for an integrator's swap is not published."""
        call = self.payload.call
        if isinstance(call, EncodedCall) or call.integrator_data:
            return True
        return self.run.return_data == self.simulation.received.to_bytes(WORD, signed=True)

    @property
    def is_as_replayed(self) -> bool:
        """Whether the swap paid the amount of its replay, but for a unit a swap, and the router returned it."""
        expected, difference = self.simulation.expected, self.simulation.received - self.simulation.expected
        tolerance = min(len(self.payload.router_call.swaps), expected // _MIN_AMOUNT_PER_UNIT)
        return self.run.status is SimulationStatus.DONE and abs(difference) <= tolerance and self.is_reported_truly


class _TrialRunner(NamedTuple):
    """Simulates payloads that differ only in their reading, together."""

    node: StateOverrideNode
    at: BlockId
    sender: str
    holdings: SenderBalances
    tokens: TradedTokens

    def run(self, payloads: Sequence[ReadPayload]) -> list[_Trial]:
        swaps = [SimulatedCall.from_payload(each.payload) for each in payloads]
        simulated = simulate_swaps(self.node, self.at, swaps, self.sender, self.holdings)
        block = block_number(self.at)
        return [
            _Trial(each, result.run, _describe_simulation(result, each.payload.call, block, self.sender, self.tokens))
            for each, result in zip(payloads, simulated, strict=True)
        ]


def _simulate_readings(
    runner: _TrialRunner, payload: UnsignedTransaction, readings: RoutePayloads | None
) -> list[_Trial]:
    """Simulate the payload and its other readings: together, or after it if its reading is known and it pays less."""
    if readings is None:
        return runner.run([ReadPayload(DEFAULT_READING, payload)])
    first = ReadPayload(readings.network.router_reading, payload)
    if readings.certainty(first) is ReadingCertainty.ASSUMED:
        return runner.run(readings.candidates(first))
    trials = runner.run([first])
    if trials[0].is_exact and trials[0].is_as_replayed:
        return trials
    others = readings.candidates(first)[1:]
    return trials + runner.run(others) if others else trials


def _proven(trials: Sequence[_Trial]) -> tuple[_Trial, ...]:
    """Return the trials that paid the amount of their replay, to the unit if there are any such."""
    near = [trial for trial in trials if trial.is_as_replayed]
    return tuple([trial for trial in near if trial.is_exact] or near)


def _best_unproven(trials: Sequence[_Trial], tokens: TradedTokens, is_exact: bool) -> _Trial:
    """Return the trial that pays the most of those that pay their minimum, if the state was not the quote's.

    On the quote's state, and if none pays enough, the first one raises the error.
    """
    first = trials[0]
    paying = [trial for trial in trials if _pays_minimum(trial) and trial.is_reported_truly]
    if not is_exact and paying:
        return max(paying, key=lambda trial: trial.simulation.received)
    _require_expected(first, tokens, is_exact)
    simulation = first.simulation
    returned = int.from_bytes(first.run.return_data[:WORD])
    raise _simulation_error(
        simulation,
        f"the router pays {in_tokens(simulation.received, tokens.token_out)} at block {simulation.block}, but returns"
        f" {in_tokens(returned, tokens.token_out)}",
        _HINT_DO_NOT_SIGN,
        first.run.return_data,
    )


def _pays_minimum(trial: _Trial) -> bool:
    is_done = trial.run.status is SimulationStatus.DONE
    return is_done and trial.simulation.received >= trial.payload.call.route.min_received


def _block_to_check(origin: StateSource, head: ChainHead) -> tuple[BlockId, bool]:
    """Return the block to simulate on, and whether the quote is for it."""
    block = proven_block(origin)
    return (head.block, False) if block is None else (block, True)


def proven_block(origin: StateSource) -> int | None:
    """Return the block that a quote is for; None if it is unknown. A block that a service reports is unproven, and a
    pending one may have changed since."""
    is_fixed = origin.is_live and origin.tag is not BlockTag.PENDING
    return origin.block if origin.service_url is None and is_fixed else None


def _tag_to_estimate_on(origin: StateSource, head: ChainHead) -> BlockTag:
    """Return the name of the block of a quote; the newest block's, unless the quote is on state of this node."""
    if origin.tag is BlockTag.PENDING:
        return head.tag  # the latest, if the node has no pending state
    return origin.tag if origin.tag and origin.service_url is None else BlockTag.LATEST


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
    """Return how much of the quoted amount the recipient gets: all of it if the integrator's fee is also theirs."""
    shares = call.integrator if isinstance(call, EncodedCall) else decode_integrator_data(call.integrator_data)
    if shares is None or shares.address == call.route.recipient:
        return call.route.amount_out
    return after_fee(call.route.amount_out, shares.fee_bps)


def _require_expected(trial: _Trial, tokens: TradedTokens, is_exact: bool) -> None:
    run, simulation, payload = trial.run, trial.simulation, trial.payload
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
