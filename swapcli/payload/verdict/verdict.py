"""The verdict on a swap before it is signed: whether it is fine, to be thought over, or not to be signed."""

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
    """A sale of part of what was bought, in the pool that had sold it. Amounts are in base units.

    `received` of `token_out` was paid, None where the sale failed; `expected` is what the pool's state says, None where
    that was not the state of the simulation.
    """

    pool: str
    amount_in: int
    token_out: str
    received: int | None
    expected: int | None


class PriceKind(StrEnum):
    """Where a price outside the route comes from."""

    AVERAGE = "average"
    """Of a pool over time."""
    ORACLE = "oracle"
    FEED = "feed"


class PriceReference(NamedTuple):
    """A price outside the route: of its `source`, what the input is worth in base units of the output, and by how many
    ppm of that the quote is below it; negative where it is above."""

    kind: PriceKind
    source: str
    amount_out: int
    loss_ppm: int


class VerdictFacts(NamedTuple):
    """What the verdict rests on: the block and the sender of the simulation, what the swap paid, None where it failed,
    the sales that were tried, what the owners of the tokens can do, and the prices outside the route."""

    block: int | None = None
    sender: str | None = None
    received: int | None = None
    sales: tuple[TriedSale, ...] = ()
    powers: tuple[TokenPowers, ...] = ()
    references: tuple[PriceReference, ...] = ()


class Verdict(NamedTuple):
    """A verdict: its findings, the gravest first, and the facts behind them."""

    findings: tuple[Finding, ...]
    facts: VerdictFacts

    @property
    def level(self) -> Level:
        """The worst level of all findings."""
        return worst_level(self.findings)

    @property
    def status(self) -> str:
        """The level in the words of the JSON: "ok", "warn" or "block"."""
        return "ok" if self.level is Level.INFO else self.level.value

    def document(self) -> VerdictJson:
        """Return the JSON of the self."""
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
