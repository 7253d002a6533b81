"""Judge a swap by rehearsing it on a node: approvals, the swap, and then a sale of part of the bought tokens.

The sale goes through the payload's router and the pools that paid the output, one at a time. In addition, some of the
bought tokens are sent to such a pool and to a wallet, to distinguish a tax or a revert of the token from one of the
router. An owner who acts later can still deceive a rehearsal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_uint
from swapcli.core.errors import SimulationError, SwapcliError, UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.finding import Finding, FindingCode, Level, gravest_first
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_MAX_PRICE_LOSS_PPM, DEFAULT_PRICE_GUARD_PPM, PPM_PER_PERCENT
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import EncodedCall, RouterRouteParam, Transaction, UnsignedTransaction
from swapcli.core.model.units import PPM
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import Replay, replay
from swapcli.payload.checks.presign_checks import proven_block
from swapcli.payload.checks.simulated_variants import (
    HINT_NO_ROUTER,
    TradedTokens,
    describe_failure,
    describe_shortfall,
    expected_output,
)
from swapcli.payload.dialects import execution_of, router_dialect
from swapcli.payload.evm.simulation import (
    Rehearsal,
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    Trial,
    TrialRun,
    Watch,
)
from swapcli.payload.evm.token_powers import TokenPowers, powers_in
from swapcli.payload.simulation.rehearsal import WALLET, RehearsedSwap, TokenInspection, rehearse
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.payload.verdict.price_references import PricedOrder, Question, plan_references, read_references
from swapcli.payload.verdict.verdict import (
    PriceKind,
    PriceReference,
    TriedSale,
    Verdict,
    VerdictFacts,
)
from swapcli.state.rpc.node import BlockId, StateOverrideNode, block_number
from swapcli.state.transfers.transfer_trials import pool_holder

NOT_REHEARSED: Final = "the swap was not simulated"
_MAX_SALES: Final = 2
"""The maximum number of pools to sell in: the largest ones of the route are decisive."""
_TRANSFER: Final = "a9059cbb"
"""`transfer(address to, uint256 amount)` of ERC-20."""
_SHARE_UNITS: Final = 3
"""The largest loss seen in transfers of share-based tokens, such as stETH, which round balances, in base units."""
_SHARE_PPM: Final = 100
"""A loss of a few units counts as rounding if, as a tax, it would be less than a hundredth of a percent."""
_SALE_PPM: Final = 10_000
"""A pool pays less than its state shows if it has a hook or its own fee; a tax below one percent shows in the
transfer."""


class JudgedSwap(NamedTuple):
    """A payload to judge, with its route on `pools` (by key; None if their state is unknown).

    `network` has the router variant for which the payload is built. `known_tokens` are the addresses of tokens in the
    catalogue, None for a network without any.
    """

    payload: UnsignedTransaction
    result: RouteResult
    pools: Mapping[str, Pool] | None
    network: Network
    tokens: TradedTokens
    origin: StateSource
    known_tokens: Set[str] | None = None


class _PlannedSale(NamedTuple):
    """A sale of part of the output in one pool; `expected` is None if the pool's state cannot predict it."""

    pool: str
    token_out: str
    amount_in: int
    expected: int | None
    payload: UnsignedTransaction


class _Plan(NamedTuple):
    """The trials of a rehearsal: the sales, then transfers of `amount` to each of `receivers`."""

    sales: tuple[_PlannedSale, ...]
    amount: int
    receivers: tuple[str, ...]
    trials: tuple[Trial, ...]


class PriceGuard(NamedTuple):
    """The references to compare a quote with at a Unix time, and the losses (in ppm) above which to warn and to
    block."""

    questions: tuple[Question, ...]
    now_s: int
    warning_ppm: int = DEFAULT_PRICE_GUARD_PPM
    max_ppm: int = DEFAULT_MAX_PRICE_LOSS_PPM


NO_GUARD: Final = PriceGuard((), 0)


def price_guard(
    swap: JudgedSwap, known_pools: Mapping[str, Pool], now_s: int, limits_ppm: tuple[int, int]
) -> PriceGuard:
    """Return the prices to compare a swap with at a Unix time, and the losses above which to warn and to block.

    `known_pools` (by key) trade the two tokens of the swap.
    """
    network, route = swap.network, swap.payload.call.route
    of_route = {step.pool_key for segment in swap.result.segments for hop in segment.hops for step in hop}
    ends = (swap.tokens.token_in, swap.tokens.token_out)
    token_in, token_out = (each._replace(address=network.to_wrapped(each.address)) for each in ends)
    order = PricedOrder(token_in, token_out, route.amount_in)
    is_wrapping = token_in.address == token_out.address
    questions = () if is_wrapping else plan_references(order, network, known_pools, of_route)
    return PriceGuard(questions, now_s, *limits_ppm)


def judge_swap(node: StateOverrideNode, swap: JudgedSwap, sender: str | None, guard: PriceGuard = NO_GUARD) -> Verdict:
    """Return the verdict on a swap by `sender`, by default the recipient.

    If the node cannot simulate, the verdict contains that fact.
    """
    recipient = swap.payload.call.route.recipient
    sender = sender or recipient
    try:
        block = proven_block(swap.origin)
        at: BlockId = node.read_head(_tag(swap.origin)).block if block is None else block
        is_exact = block is not None
        plan = _plan(swap, is_exact=is_exact)
        call = SimulatedCall.from_payload(swap.payload)
        calls = [call for question in guard.questions for call in question.calls]
        rehearsed = rehearse(node, at, call, sender, plan.trials, calls, swap.network.gas_price_wei)
    except (UpstreamError, SimulationError) as error:
        return not_rehearsed(error)
    found, inspected, answers = rehearsed.rehearsal, rehearsed.tokens, rehearsed.answers
    amount_out = swap.payload.call.route.amount_out
    references = read_references(guard.questions, answers, amount_out, guard.now_s)
    powers = tuple(_powers(swap, inspected))
    findings = (
        *_state_findings(swap, inspected, sender, found),
        *_difference_findings(rehearsed),
        *_outcome_findings(swap, plan, found, is_exact=is_exact),
        *price_findings(references, guard),
        *_power_findings(swap, powers),
    )
    done = found.run.status is SimulationStatus.DONE
    sales = tuple(_tried_sale(sale, run) for sale, run in zip(plan.sales, found.trials, strict=False))
    facts = VerdictFacts(block_number(at), sender, found.run.received if done else None, sales, powers, references)
    return Verdict(gravest_first(findings), facts)


def _tag(origin: StateSource) -> BlockTag:
    return BlockTag.PENDING if origin.tag is BlockTag.PENDING else BlockTag.LATEST


def not_rehearsed(error: SwapcliError) -> Verdict:
    """Return the verdict on a swap that could not be rehearsed because of an error."""
    hint = error.hint or "try again, or check it with a different node"
    message = f"{NOT_REHEARSED}: {error.message}"
    return Verdict((FindingCode.NOT_SIMULATED.finding(message, hint),), VerdictFacts())


def _plan(swap: JudgedSwap, *, is_exact: bool) -> _Plan:
    route = swap.payload.call.route
    if route.swap_type is SwapType.TOKEN_TO_NATIVE:
        return _Plan((), 0, (), ())
    sales = tuple(_planned_sales(swap, is_exact=is_exact))[:_MAX_SALES]
    amount = sales[0].amount_in if sales else route.min_received // 2
    holders = (pool_holder(swap.pools[sale.pool], swap.network) for sale in sales) if swap.pools else ()
    receivers = tuple(dict.fromkeys([*(holder for holder in holders if holder), WALLET])) if amount else ()
    trials = [_sale_trial(sale, route) for sale in sales]
    trials += [_transfer_trial(route, receiver, amount) for receiver in receivers]
    return _Plan(sales, amount, receivers, tuple(trials))


def _planned_sales(swap: JudgedSwap, *, is_exact: bool) -> Iterator[_PlannedSale]:
    """Yield a sale for each pool that pays the output, the largest first, if it can buy back half of that."""
    if swap.pools is None:
        return
    route = swap.payload.call.route
    try:
        done = replay(swap.pools, swap.result.route, route.amount_in, execution_of(swap.network))
    except SwapcliError:
        return
    last = [step for step in done.steps if step.token_out == route.token_out]
    for step in sorted(last, key=lambda step: -step.amount_out):
        planned = _planned_sale(swap, done, step, is_exact=is_exact)
        if planned is not None:
            yield planned


def _planned_sale(swap: JudgedSwap, done: Replay, step: Step, *, is_exact: bool) -> _PlannedSale | None:
    pool, part = done.pools_after[step.pool], step.amount_out // 2
    if pool.is_wrapper or part == 0:
        return None
    try:
        expected, _ = pool.swap(step.token_out, step.token_in, part)
        payload = _sale_payload(swap, step, part, expected)
    except Exception as error:
        pass_request_errors(error)
        return None
    is_known = is_exact and not pool.is_single_use and not pool.is_sampled
    return _PlannedSale(step.pool, step.token_in, part, expected if is_known else None, payload)


def _sale_payload(swap: JudgedSwap, step: Step, part: int, expected: int) -> UnsignedTransaction:
    assert swap.pools is not None
    call, execution = swap.payload.call, execution_of(swap.network)
    route = RouterRouteParam(
        token_in=step.token_out,
        token_out=step.token_in,
        amount_in=part,
        amount_out=expected,
        min_received=1,
        recipient=call.route.recipient,
        swap_type=SwapType.TOKEN_TO_TOKEN,
    )
    steps = (Step(step.pool, step.token_out, step.token_in, execution.rate_scale, part, expected),)
    deadline_s = call.deadline_s if isinstance(call, EncodedCall) else None
    replayed = ReplayedSwap(route, steps, swap.pools, deadline_s=deadline_s)
    router, known = swap.payload.to, swap.network.dialect_router
    if router == known.spender and known.address is not None:
        router = known.address  # the contract that takes the tokens calls the router
    return router_dialect(swap.network).build_payload(replayed, router)


def _sale_trial(sale: _PlannedSale, route: RouterRouteParam) -> Trial:
    from swapcli.payload.evm import build_transactions

    watched = (Watch(route.token_out, route.recipient), Watch(sale.token_out, route.recipient))
    return Trial(route.recipient, watched, build_transactions(sale.payload))


def _transfer_trial(route: RouterRouteParam, receiver: str, amount: int) -> Trial:
    watched = (Watch(route.token_out, route.recipient), Watch(route.token_out, receiver))
    calldata = f"0x{_TRANSFER}{encode_address(receiver, 'to')}{encode_uint(amount, 256, 'amount')}"
    return Trial(route.recipient, watched, (Transaction(route.token_out, calldata),))


def _tried_sale(sale: _PlannedSale, run: TrialRun) -> TriedSale:
    _, received = run.grown
    return TriedSale(sale.pool, sale.amount_in, sale.token_out, received if run.is_done else None, sale.expected)


def _outcome_findings(swap: JudgedSwap, plan: _Plan, found: Rehearsal, *, is_exact: bool) -> Iterator[Finding]:
    if found.run.status is not SimulationStatus.DONE:
        yield _failed_swap(swap, found.run)
        return
    yield from _output_findings(swap, found, is_exact=is_exact)
    if not plan.trials:
        return
    sales, transfers = found.trials[: len(plan.sales)], found.trials[len(plan.sales) :]
    symbol = swap.tokens.token_out.symbol
    gained = [_gained(run, plan.amount) for run in transfers]
    to_pools, to_wallet = gained[:-1], gained[-1]
    taxed = [amount for amount in to_pools if amount is not None and _is_taxed(amount, plan.amount)]
    if taxed:
        yield _taxed(FindingCode.TAXED_ON_SALE, f"{symbol} taxes its sale", min(taxed), plan.amount)
    elif sales and not any(run.is_done for run in sales):
        why = describe_revert(sales[0].return_data)
        message = f"{symbol} cannot be sold again: after the swap, selling half of it reverts: {why}"
        yield FindingCode.CANNOT_BE_SOLD.finding(message, "do not buy it: it may be a trap")
    elif to_pools and all(amount is None for amount in to_pools):
        message = f"{symbol} cannot be sent to the pools that trade it"
        yield FindingCode.CANNOT_BE_SOLD.finding(message, "do not buy it: it may be a trap")
    else:
        yield from _sale_findings(symbol, plan, sales)
    if to_wallet is None:
        message = f"{symbol} cannot be transferred: after the swap, sending half of it fails"
        yield FindingCode.TRANSFERS_REFUSED.finding(message, "check that its transfers are enabled")
    elif _is_taxed(to_wallet, plan.amount) and not taxed:
        yield _taxed(FindingCode.TAXED_ON_TRANSFER, f"{symbol} taxes transfers", to_wallet, plan.amount)
    amounts = [*(sale.amount_in for sale in plan.sales), *(plan.amount for _ in transfers)]
    if any(-run.grown[0] > amount + _SHARE_UNITS for run, amount in zip(found.trials, amounts, strict=True)):
        message = f"{symbol} takes more from its holder than the holder sells or sends"
        yield FindingCode.BALANCE_IRREGULAR.finding(message, "do not buy it: it takes what you hold")
    elif any(run.grown[1] > plan.amount + _SHARE_UNITS for run in transfers):
        message = f"{symbol} delivers more than is sent"
        hint = "expect balances that change by themselves"
        yield FindingCode.BALANCE_IRREGULAR.finding(message, hint, Level.WARN)


def _difference_findings(rehearsed: RehearsedSwap) -> Iterator[Finding]:
    """Yield a finding if contracts treat the two simulations differently, or if only one was possible."""
    if not rehearsed.is_alike:
        message = "the token or the router treats a sender without code differently, so it may detect simulations"
        yield FindingCode.SIMULATIONS_DIFFER.finding(message, "do not sign: it may be a trap")
    elif not rehearsed.is_complete:
        message = "the swap was simulated only for a sender with code, which a token can detect"
        hint = "check it with a node that supports eth_simulateV1"
        yield FindingCode.NOT_SIMULATED.finding(message, hint)


def _powers(swap: JudgedSwap, inspected: Mapping[str, TokenInspection]) -> Iterator[TokenPowers]:
    """Yield the powers over each traded token, if there are any."""
    symbols = {token.address: token.symbol for token in swap.tokens}
    for address, seen in inspected.items():
        found = powers_in(seen.code, seen.slots)
        if found:
            yield TokenPowers(address, symbols.get(address, address), found, seen.owner)


def _state_findings(
    swap: JudgedSwap, inspected: Mapping[str, TokenInspection], sender: str, found: Rehearsal
) -> Iterator[Finding]:
    """Yield the reason why a swap or a later trial fails, if a token reports it."""
    is_all_done = found.run.status is SimulationStatus.DONE and all(run.is_done for run in found.trials)
    if is_all_done:
        return
    symbols = {token.address: token.symbol for token in swap.tokens}
    for address, seen in inspected.items():
        symbol = symbols.get(address, address)
        if seen.is_paused:
            message = f"{symbol} reports that it is paused"
            yield FindingCode.TRANSFERS_PAUSED.finding(message, "wait until its transfers are enabled again")
        for account in seen.blocked:
            who = "sender" if account == sender else "recipient"
            message = f"{symbol} blocks the {who} {display_address(account, swap.network.kind)}"
            yield FindingCode.ACCOUNT_BLOCKED.finding(message, "trade from and to a different address")


def price_findings(references: Sequence[PriceReference], guard: PriceGuard) -> Iterator[Finding]:
    """Yield a finding if the quote is far below one kind of price. The finding blocks if the quote is far below all
    kinds.

    The price of a kind is the median of its references; for an even number, the one with the smaller loss.
    """
    by_kind: dict[PriceKind, list[PriceReference]] = {}
    for each in sorted(references, key=lambda each: each.loss_ppm):
        by_kind.setdefault(each.kind, []).append(each)
    medians = [found[(len(found) - 1) // 2] for found in by_kind.values()]
    worst = max(medians, key=lambda each: each.loss_ppm, default=None)
    if worst is None or worst.loss_ppm <= guard.warning_ppm:
        return
    is_far = all(each.loss_ppm > guard.max_ppm for each in medians)
    hint = "compare the price before you sign"
    if is_far:
        hint = "do not sign; to accept the loss, raise the setting max_price_loss"
    level = Level.BLOCK if is_far else Level.WARN
    message = f"the quote is {worst.loss_ppm / PPM_PER_PERCENT:.3g}% below a price outside its route: {worst.source}"
    yield FindingCode.PRICE_BELOW_REFERENCES.finding(message, hint, level)


def _power_findings(swap: JudgedSwap, powers: tuple[TokenPowers, ...]) -> Iterator[Finding]:
    """Yield a finding if the bought token is not in the catalogue and its owner can do harm."""
    if swap.known_tokens is None:
        return
    bought = swap.payload.call.route.token_out
    for each in powers:
        if each.token == bought and each.token not in swap.known_tokens:
            can = ", ".join(each.names)
            message = f"{each.symbol} is not in the catalogue, and its owner may be able to: {can}"
            yield FindingCode.OWNER_POWERS.finding(message, "trade it only if you trust its owner")


def _failed_swap(swap: JudgedSwap, run: SimulationRun) -> Finding:
    hints = {
        SimulationStatus.NO_ROUTER: HINT_NO_ROUTER,
        SimulationStatus.NOT_APPROVED: "do not sign: the swap would fail",
    }
    hint = hints.get(run.status, "quote again; --simulate tries other variants of the router too")
    return FindingCode.SWAP_REVERTS.finding(describe_failure(run, swap.payload, swap.tokens), hint)


def _output_findings(swap: JudgedSwap, found: Rehearsal, *, is_exact: bool) -> Iterator[Finding]:
    """Yield a finding if the swap pays less than its minimum, or less than its quote on the same state."""
    route, received = swap.payload.call.route, found.run.received
    due = expected_output(swap.payload.call) if is_exact else route.min_received
    least = max(route.min_received, due - _SHARE_UNITS - due * _SHARE_PPM // PPM)
    if received >= least:
        return
    message = describe_shortfall(received, due, swap.tokens, is_exact=is_exact)
    yield FindingCode.PAYS_TOO_LITTLE.finding(message, "do not sign: the token or the router takes a cut")


def _sale_findings(symbol: str, plan: _Plan, sales: tuple[TrialRun, ...]) -> Iterator[Finding]:
    for sale, run in zip(plan.sales, sales, strict=True):
        if run.is_done and sale.expected is not None:
            received = run.grown[1]
            if received * PPM < sale.expected * (PPM - _SALE_PPM):
                yield _taxed(FindingCode.TAXED_ON_SALE, f"{symbol} taxes its sale", received, sale.expected)
                return


def _gained(run: TrialRun, amount: int) -> int | None:
    """Return the amount that a transfer delivered, or None if it failed or returned false."""
    is_false = len(run.return_data) >= WORD and not any(run.return_data[:WORD])
    if not run.is_done or is_false or (run.grown[1] <= 0 < amount):
        return None
    return run.grown[1]


def _is_taxed(gained: int, amount: int) -> bool:
    missing = amount - gained
    return missing > _SHARE_UNITS or missing * PPM > _SHARE_PPM * amount


def _taxed(code: FindingCode, problem: str, received: int, due: int) -> Finding:
    percent = 100 * (due - received) / due
    hint = "do not buy it unless you accept this tax" if code is FindingCode.TAXED_ON_SALE else "expect this tax"
    return code.finding(f"{problem}: {percent:.3g}% of it is lost", hint)
