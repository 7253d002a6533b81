"""The verdict on a swap before it is signed: whether it is fine, needs a second thought, or must not be signed."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from swapcli.core.model.finding import Finding, Level, worst_level
from swapcli.core.model.network import Kind
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.json_types import TokenPowersJson, TriedSaleJson, VerdictJson
from swapcli.payload.evm.token_powers import TokenPowers


class TriedSale(NamedTuple):
    """A sale of part of the bought tokens in the pool that sold them. Amounts are in base units.

    `received` is the amount of `token_out` paid, None if the sale failed; `expected` is the amount according to the
    pool's state, None if that was not the state of the simulation.
    """

    pool: str
    amount_in: int
    token_out: str
    received: int | None
    expected: int | None


class PriceKind(StrEnum):
    """The source of a price outside the route."""

    AVERAGE = "average"
    """An average in a pool over time."""
    ORACLE = "oracle"
    FEED = "feed"


class PriceReference(NamedTuple):
    """A price outside the route: its `source`, the value of the input in base units of the output, and by how many ppm
    the quote is below that value (negative if above)."""

    kind: PriceKind
    source: str
    amount_out: int
    loss_ppm: int


class VerdictFacts(NamedTuple):
    """The facts behind a verdict: the block and the sender of the simulation, the swap's output (None if it failed),
    the tried sales, the powers of the tokens' owners, and the prices outside the route."""

    block: int | None = None
    sender: str | None = None
    received: int | None = None
    sales: tuple[TriedSale, ...] = ()
    powers: tuple[TokenPowers, ...] = ()
    references: tuple[PriceReference, ...] = ()


class Verdict(NamedTuple):
    """A verdict: its findings, the most serious first, and the facts behind them."""

    findings: tuple[Finding, ...]
    facts: VerdictFacts

    @property
    def level(self) -> Level:
        """The most serious level of all findings."""
        return worst_level(self.findings)

    @property
    def status(self) -> str:
        """The level as a word in the JSON: "ok", "warn" or "block"."""
        return "ok" if self.level is Level.INFO else self.level.value

    def document(self) -> VerdictJson:
        """Return the JSON of the verdict."""
        facts = self.facts
        return {
            "status": self.status,
            "reasons": [
                {"code": str(each.code), "status": each.level.value, "message": each.message, "hint": each.hint or ""}
                for each in self.findings
            ],
            "facts": {
                "block": facts.block,
                "sender": None if facts.sender is None else display_address(facts.sender, Kind.EVM),
                "received": _text(facts.received),
                "sales": [_render_sale(sale) for sale in facts.sales],
                "powers": [_render_powers(each) for each in facts.powers],
                "priceReferences": [
                    {
                        "kind": each.kind.value,
                        "source": each.source,
                        "outputAmount": str(each.amount_out),
                        "lossPercent": each.loss_ppm / PPM_PER_PERCENT,
                    }
                    for each in facts.references
                ],
            },
        }

    def settle(self, name_setting: Callable[[str], str] = str) -> None:
        """Raise `VerdictBlocks` if a finding blocks. `name_setting` is as in `settle`."""
        if self.level is Level.BLOCK:
            from swapcli.payload.checks.settlement import settle

            settle(self.findings, name_setting=name_setting, details={"verdict": self.document()})


def _render_powers(powers: TokenPowers) -> TokenPowersJson:
    return {
        "token": display_address(powers.token, Kind.EVM),
        "owner": None if powers.owner is None else display_address(powers.owner, Kind.EVM),
        "powers": [{"power": each.power.value, "evidence": each.evidence} for each in powers.powers],
    }


def _render_sale(sale: TriedSale) -> TriedSaleJson:
    is_address = len(sale.pool) == len(sale.token_out)
    return {
        "pool": display_address(sale.pool, Kind.EVM) if is_address else sale.pool,
        "inputAmount": str(sale.amount_in),
        "tokenOut": display_address(sale.token_out, Kind.EVM),
        "received": _text(sale.received),
        "expected": _text(sale.expected),
    }


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
