"""Check a payload before it is signed: the balances of its sender, and a simulation of the swap on a node.

A quote on a block of the network is simulated on that block, and the swap must then pay the quoted amount to the unit.
Any other quote (on modelled state, or from a remote service that does not report its state) is simulated on the latest
block, or on the current pending state for a quote on a pending block. The same applies to a quote on a block if the
node turns out to ignore block numbers. The swap must then pay at least the minimum of the payload, and the result shows
how much it differs from the quote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.errors import InsufficientBalance
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_MAX_FEE_USD
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.payload.checks.simulated_variants import (
    Simulation,
    TradedTokens,
    TrialRunner,
    best_unproven,
    check_router,
    proven_trials,
    require_expected,
    simulate_variants,
)
from swapcli.payload.evm.simulation import SimulatedCall
from swapcli.payload.payloads_by_variant import ReadPayload, RoutePayloads
from swapcli.payload.signing.signing_fields import SigningPlan
from swapcli.payload.simulation.sender_balances import SenderBalances, read_sender_balances
from swapcli.state.rpc.multicall import find_answering_block
from swapcli.state.rpc.node import BlockId, ChainHead, StateOverrideNode, block_number

if TYPE_CHECKING:
    from swapcli.payload.starknet.invoke_transaction import InvokeTransaction


class CheckOptions(NamedTuple):
    """Which checks to run. Without a `sender`, no balances are checked, and the recipient is the sender.

    `max_fee_usd` is the maximum gas cost of all transactions. `allows_fees` turns the rejection of a node's gas, fees
    or nonce into a warning.
    """

    simulate: bool = False
    sender: str | None = None
    max_fee_usd: float = DEFAULT_MAX_FEE_USD
    allows_fees: bool = False


class PayloadCheck(NamedTuple):
    """The results of the checks.

    `read_payload` is the payload for the variant that pays, None if other variants were not tried. `proven` are all
    payloads that paid the expected amount. `holdings` are the balances of the sender, None if no sender was given.
    `gas_wei` estimates the cost of the transaction, None if unknown. `is_rounded` means that a token stores balances as
    shares, so that the quote is not exact. `signing` has the fields that only a node can provide. `sender` and
    `signing` are None if no sender was given. `tag` names the block of the quote, on which the gas is estimated too.
    `invoke` is the transaction of an account on Starknet, with the fee that a node has estimated.
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
    invoke: InvokeTransaction | None = None

    @property
    def allowances(self) -> tuple[int, ...]:
        """The amounts that each spender in the payload's approvals may spend; empty if they were not read."""
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
    variants: RoutePayloads | None = None,
) -> PayloadCheck:
    """Return the results of the checks that `options` request.

    `gas_wei` is the estimated cost; without one, the simulation provides it. `is_rounded` means that a token stores
    balances as shares, so the swap need only pay the minimum. `variants` builds the payload for other variants of the
    router. Raises `InsufficientBalance` if the sender has less than the swap sells, `SimulationError` if the swap
    reverts, pays a different amount or cannot be simulated, and `UpstreamError`. If there are several causes, the most
    serious one is raised.
    """
    head = node.read_head(BlockTag.PENDING if origin.tag is BlockTag.PENDING else BlockTag.LATEST)
    at, is_exact = _block_to_check(origin, head)
    sender, swap = options.sender or payload.call.route.recipient, SimulatedCall.from_payload(payload)
    holdings = read_sender_balances(node, at, sender, swap)
    if options.sender and holdings.balance_in < swap.amount_in:
        check_router(node, payload, at)
        raise _insufficient_balance(holdings.balance_in, swap.amount_in, tokens.token_in)
    checked = PayloadCheck(tokens, holdings if options.sender else None, None, gas_wei, is_rounded, options.sender)
    checked = checked._replace(tag=_tag_to_estimate_on(origin, head))
    if not options.simulate:
        return checked
    checked = _check_by_simulation(
        TrialRunner(node, at, sender, holdings, tokens, head), checked, payload, variants, is_exact
    )
    if gas_wei is None and checked.simulation:
        return checked._replace(gas_wei=checked.simulation.gas_used * head.gas_price_wei)
    return checked


def _check_by_simulation(
    runner: TrialRunner,
    checked: PayloadCheck,
    payload: UnsignedTransaction,
    variants: RoutePayloads | None,
    is_exact: bool,
) -> PayloadCheck:
    """Return `checked` with the simulation. `is_exact` means that the quote is for the block."""
    node, tokens, block = runner.node, runner.tokens, block_number(runner.at)
    trials = simulate_variants(runner, payload, variants)
    if is_exact and block and not any(trial.is_exact for trial in trials):
        # A node that ignores block numbers has simulated on a different state from the quoted one.
        answering_block = find_answering_block(node, block - 1)
        is_exact = answering_block is None or answering_block == block - 1
    must_match = is_exact and not checked.is_rounded
    if variants is None:
        require_expected(trials[0], tokens, must_match)
        return checked._replace(simulation=trials[0].simulation)
    proven = proven_trials(trials) if is_exact else ()
    trial = proven[0] if proven else best_unproven(trials, tokens, must_match)
    read = tuple(trial.read_payload for trial in proven)
    simulation = trial.simulation._replace(variant=variants.fitting(read) if read else None)
    return checked._replace(simulation=simulation, read_payload=trial.read_payload, proven=read)


def _block_to_check(origin: StateSource, head: ChainHead) -> tuple[BlockId, bool]:
    """Return the block to simulate on, and whether the quote is for it."""
    block = proven_block(origin)
    return (head.block, False) if block is None else (block, True)


def proven_block(origin: StateSource) -> int | None:
    """Return the block of a quote, or None if unknown.

    A block reported by a service is unproven, and a pending one may have changed since.
    """
    is_fixed = origin.is_live and origin.tag is not BlockTag.PENDING
    return origin.block if origin.service_url is None and is_fixed else None


def _tag_to_estimate_on(origin: StateSource, head: ChainHead) -> BlockTag:
    """Return the tag of a quote's block; the latest block's, unless the quote is on state of this node."""
    if origin.tag is BlockTag.PENDING:
        return head.tag or BlockTag.LATEST  # the latest, if the node has no pending state
    return origin.tag if origin.tag and origin.service_url is None else BlockTag.LATEST


def _insufficient_balance(balance: int, needed: int, token: Token) -> InsufficientBalance:
    holds, takes = in_tokens(balance, token), in_tokens(needed, token)
    return InsufficientBalance(
        f"Insufficient balance: the sender holds {holds}, but the swap takes {takes}",
        hint="sell less, or use an address that holds enough",
        details={"token": token.address, "held": str(balance), "needed": str(needed)},
    )
