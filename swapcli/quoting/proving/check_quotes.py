"""The second stage: quote sample orders on live state, and simulate each payload at the block of its quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import SwapcliError
from swapcli.core.model.number_format import format_bps_rounded_up
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.model.token import in_tokens
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext
from swapcli.quoting.quote_results import LocalQuote

if TYPE_CHECKING:
    from swapcli.quoting.proving.sample_orders import SampleOrder
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote

_MAX_IMPACT_PERCENT: Final = 100
"""The impact limit for simulations. A large order on a thin network is simulated too, because nobody signs it."""
_SYMBOL_CHARACTERS: Final = 12  # in the name of a file


def check_quotes(run: RunContext) -> Iterator[ProofItem]:
    """Yield an item for each sample order that has none yet, and write its proof to the run's folder."""
    for number, order in enumerate(run.orders, start=1):
        if run.journal.find(ProofStage.QUOTES, order.id):
            continue
        if reason := run.why_spent():
            yield run.not_checked(ProofStage.QUOTES, order.id, order.title, reason)
            continue
        yield _check_order(run, order, proof_name(number, order))


def proof_name(number: int, order: SampleOrder) -> str:
    """Return the name of the proof of a sample order's quote, without a file extension."""
    symbols = (_plain(each.symbol) for each in (order.token_in, order.token_out))
    return "-".join([f"{number:02}", *symbols, str(order.size_usd)])


def _plain(symbol: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", symbol)[:_SYMBOL_CHARACTERS]


def _check_order(run: RunContext, order: SampleOrder, name: str) -> ProofItem:
    item = run.not_checked(ProofStage.QUOTES, order.id, order.title, "")
    try:
        quote = run.market.quote(order.token_in, order.token_out, f"${order.size_usd}", certify=True, proof=True)
    except SwapcliError as error:
        return run.failed(item, error)
    item = item._replace(block=quote.state.block, facts=_facts(quote, _write_proof(run, quote, name)))
    item = item.comparing(quote.amount_out, None, order.token_out)
    try:
        prepared = run.market.prepare(quote, destination=UNOWNED_ADDRESS, simulate=True, max_impact=_MAX_IMPACT_PERCENT)
    except SwapcliError as error:
        paid = error.details.get("received")
        found = int(paid) if isinstance(paid, str) else None
        return run.failed(item._replace(found=found), error)
    return _compared(item, prepared)


def _compared(item: ProofItem, prepared: PreparedSwap) -> ProofItem:
    """Return the item with the simulated output."""
    simulation = prepared.simulation
    if simulation is None:
        return item._replace(reason="the payload was not simulated")
    item = item._replace(expected=simulation.expected, found=simulation.received)
    item = item._replace(facts={**item.facts, "gas used": f"{simulation.gas_used:,}"})
    if simulation.matches and simulation.block == item.block:
        return item._replace(outcome=ProofOutcome.MATCH)
    if prepared.built.checked and prepared.built.checked.is_rounded:
        return item._replace(reason="a token keeps balances as shares, so amounts are not exact to the base unit")
    if simulation.block == item.block:
        difference = simulation.received - simulation.expected
        reason = f"it pays {abs(difference):,} base units {'more' if difference > 0 else 'less'} than its quote"
        return item._replace(outcome=ProofOutcome.DIFFERENCE, reason=reason)
    return item._replace(reason=f"it was simulated at block {simulation.block:,}, not at the block of the quote")


def _facts(quote: SwapQuote, proof: str) -> dict[str, str]:
    facts = {"sells": in_tokens(quote.amount_in, quote.token_in)}
    if quote.certificate is not None:
        facts["any route pays at most"] = f"{format_bps_rounded_up(quote.certificate.acyclic_gap_bps)} bps more"
    pools = quote.answer.pools if isinstance(quote.answer, LocalQuote) else {}
    protocols = dict.fromkeys(pools[key].protocol for key in quote.route.pool_keys if key in pools)
    if protocols:
        facts["protocols"] = ", ".join(protocols)
    return {**facts, "proof": proof}


def _write_proof(run: RunContext, quote: SwapQuote, name: str) -> str:
    """Write the proof of a quote. Return its file name, or the reason why there is none."""
    file = run.journal.proof_file(name)
    with suppress(OSError):
        file.unlink(missing_ok=True)
    try:
        quote.proof().write(str(file))
    except SwapcliError as error:
        return f"none: {error.message}"
    return file.name
