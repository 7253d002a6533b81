"""Alternative ways to fill an order, with their outputs and costs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast

from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote import GasValueSource
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.units import BPS
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import (
    render_certificate,
    render_state_source,
    render_swap_token,
    render_warning_list,
)
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.interface.document_types import AlternativeJson, ComparisonJson, FailureJson
    from swapcli.quoting.aggregators.ask_aggregator import AggregatorOffer
    from swapcli.quoting.proof import Proof


class AlternativeKind(StrEnum):
    """The way in which an alternative fills the order."""

    SPLIT = "split"
    SINGLE_PATH = "singlePath"
    DIRECT = "direct"
    PROTOCOL = "protocol"
    SERVICE = "service"
    AGGREGATOR = "aggregator"


REMOTE_KINDS: Final = frozenset({AlternativeKind.SERVICE, AlternativeKind.AGGREGATOR})
"""The kinds that are computed elsewhere."""


class SimulationOutcome(StrEnum):
    """The result of simulating an alternative."""

    PAID = "paid"
    """Its payload was simulated and succeeded."""
    REPLAYED = "replayed"
    """Only its pools were replayed here, like those of the split route, whose payload succeeded."""
    FAILED = "failed"
    """Its payload was simulated and failed."""
    NOT_SIMULATED = "notSimulated"
    """It has no payload that could be simulated."""


class AlternativeSimulation(NamedTuple):
    """The simulation of an alternative on the state after `block`. Amounts are in base units; None if nothing was
    swapped.

    `gas_units` is before refunds. `reason` says why a payload failed or was not simulated. `is_node_error` means that
    the node did not execute the payload.
    """

    outcome: SimulationOutcome
    reason: str = ""
    block: int | None = None
    amount_out: int | None = None
    gas_units: int | None = None
    gas_usd: float | None = None
    output_after_gas: int | None = None
    is_node_error: bool = False


class Alternative(NamedTuple):
    """One way to fill the order, with its figures, or with the error if it failed.

    `name` is the display name of the only protocol or of the aggregator, or the URL of the service; empty for other
    kinds. Amounts are in base units, None if unknown. `time_s` is the response time; None for the single path, which is
    found as part of the split quote. `state` is the state of the quote. `simulation` is None unless aggregators were
    queried. `package` is the installed package, with its version, that adds the aggregator; empty for all other
    alternatives.
    """

    kind: AlternativeKind
    name: str = ""
    amount_out: int | None = None
    gas_units: int | None = None
    gas_usd: float | None = None
    output_after_gas: int | None = None
    time_s: float | None = None
    state: StateSource | None = None
    error: SwapcliError | None = None
    simulation: AlternativeSimulation | None = None
    package: str = ""

    @property
    def amount_paid(self) -> int | None:
        """The simulated output, or the quoted output if nothing was simulated; None if the alternative failed."""
        return self.amount_out if self._says_only else self._simulated.amount_out

    @property
    def paid_after_gas(self) -> int | None:
        """The amount paid, less the cost of its gas."""
        return self.output_after_gas if self._says_only else self._simulated.output_after_gas

    @property
    def gas_paid(self) -> tuple[int | None, float | None]:
        """The simulated gas, or the quoted gas if nothing was simulated, in units and in dollars."""
        shown = self if self._says_only else self._simulated
        return shown.gas_units, shown.gas_usd

    @property
    def shown_amounts(self) -> tuple[int | None, int | None]:
        """The output, and the output after gas. If offers are simulated, the amounts of services and aggregators are
        the simulated ones, or None for an offer that was not simulated."""
        if self.kind not in REMOTE_KINDS or self.simulation is None:
            return self.amount_out, self.output_after_gas
        return (None, None) if self._says_only else (self.amount_paid, self.paid_after_gas)

    @property
    def _says_only(self) -> bool:
        return self.simulation is None or self.simulation.outcome is SimulationOutcome.NOT_SIMULATED

    @property
    def _simulated(self) -> AlternativeSimulation:
        assert self.simulation is not None
        return self.simulation


class Comparison(NamedTuple):
    """All alternatives for an order, best first. They are ranked by output after gas, or by output if the gas is
    unknown.

    Alternatives proven by a simulation come before those that only claim an output, and alternatives whose payload
    failed come last. `quoted` is the split quote, and `figures` are its figures; both are None if it failed. `hosts`
    are the aggregators' hosts that were queried on behalf of `sender`, which is None if no aggregator was queried.
    """

    network: Network
    order: Order
    alternatives: tuple[Alternative, ...]
    figures: QuoteFigures | None
    hosts: tuple[str, ...] = ()
    sender: str | None = None
    quoted: QuoteResult | None = None

    def proof(self) -> Proof:
        """Return the proof of the split route's certificate. Raises the same errors as `SwapQuote.proof`, or the split
        route's error if it failed."""
        from swapcli.quoting.proof import prove

        if self.quoted is None:
            assert self.split.error is not None
            raise self.split.error
        return prove(self.quoted)

    def write_proof(self, path: str | PathLike[str]) -> Comparison:
        """Write the proof to a file, as `SwapQuote.write_proof` does."""
        self.proof().write(path)
        assert self.figures is not None
        return self._replace(figures=self.figures._replace(proof_file=os.fspath(path)))

    @own_document
    def document(self) -> ComparisonJson:
        """Return the JSON that `swapcli compare` prints. Amounts are strings of base units."""
        order, figures, kind = self.order, self.figures, self.network.kind
        document: ComparisonJson = {
            "network": self.network.name,
            "inputToken": render_swap_token(order.token_in, self.network),
            "outputToken": render_swap_token(order.token_out, self.network),
            "inputAmount": str(order.amount),
            "state": render_state_source(figures.state) if figures else None,
            "unreadGainBps": figures.unread_gain_bps if figures else None,
            "warnings": render_warning_list(figures.warnings) if figures else [],
            "gasValueSource": self.gas_value_source,
            "hostsContacted": list(self.hosts),
            "sender": None if self.sender is None else display_address(self.sender, kind),
            "alternatives": [self._nested(*each) for each in zip(self.rows(), self.alternatives, strict=True)],
        }
        if figures and figures.certificate:
            document["certificate"] = render_certificate(figures.certificate, is_complete=figures.is_search_complete)
        if figures and figures.proof_file is not None:
            document["proofFile"] = figures.proof_file
        return document

    @property
    def gas_value_source(self) -> GasValueSource | None:
        """The source of the gas value used in amounts after gas. It comes from the split quote, if there is one.

        Without a split quote, each service uses its own value.
        """
        if self.figures is not None:
            return self.figures.gas_value_source
        is_known = any(each.output_after_gas is not None for each in self.alternatives)
        return GasValueSource.SERVICE if is_known else None

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return the alternatives as JSON objects without nested values, best first."""
        return tuple(map(self._row, self.alternatives))

    def _row(self, each: Alternative) -> dict[str, Any]:
        simulation, (amount_out, output_after_gas) = each.simulation, each.shown_amounts
        return {
            "kind": each.kind.value,
            "name": each.name or None,
            "package": each.package or None,
            "outputAmount": _text(amount_out),
            "promisedAmount": _text(each.amount_out) if each.kind in REMOTE_KINDS else None,
            "versusSplitBps": self.versus_split_bps(each),
            "gasUnits": _text(each.gas_units),
            "gasUsd": each.gas_usd,
            "outputAfterGas": _text(output_after_gas),
            "versusBestBps": self.versus_best_bps(each),
            "timeS": each.time_s,
            "block": each.state.block if each.state else None,
            "simulation": simulation.outcome.value if simulation else None,
            "simulationReason": (simulation.reason or None) if simulation else None,
            "simulatedBlock": simulation.block if simulation else None,
            "simulatedOutput": _text(simulation.amount_out) if simulation else None,
            "simulatedGasUnits": _text(simulation.gas_units) if simulation else None,
            "simulatedGasUsd": simulation.gas_usd if simulation else None,
            "simulatedAfterGas": _text(simulation.output_after_gas) if simulation else None,
            "error": each.error.message if each.error else None,
        }

    def _nested(self, row: Mapping[str, Any], each: Alternative) -> AlternativeJson:
        """Return the object of a row with its state, its simulation and its error."""
        simulation = {
            "outcome": row["simulation"],
            "reason": row["simulationReason"],
            "block": row["simulatedBlock"],
            "outputAmount": row["simulatedOutput"],
            "gasUnits": row["simulatedGasUnits"],
            "gasUsd": row["simulatedGasUsd"],
            "outputAfterGas": row["simulatedAfterGas"],
        }
        nested = {name: value for name, value in row.items() if not name.startswith("simulat")} | {
            "state": render_state_source(each.state) if each.state else None,
            "simulation": simulation if each.simulation else None,
            "error": _failure(each.error) if each.error else None,
        }
        return cast("AlternativeJson", nested)

    @property
    def split(self) -> Alternative:
        """The split quote computed in this process."""
        return next(each for each in self.alternatives if each.kind is AlternativeKind.SPLIT)

    @property
    def is_simulated(self) -> bool:
        """Whether any payload was simulated."""
        simulations = (each.simulation for each in self.alternatives)
        return any(each is not None and each.outcome is not SimulationOutcome.NOT_SIMULATED for each in simulations)

    def versus_split_bps(self, alternative: Alternative) -> float | None:
        """Return how much more an alternative pays than the split quote, in basis points before gas; None if
        unknown."""
        return _difference_bps(alternative.amount_paid, self.split.amount_paid)

    def versus_best_bps(self, alternative: Alternative) -> float | None:
        """Return how much more an alternative pays than the best one, in basis points after gas: 0 for the best,
        otherwise negative; None if unknown."""
        return _difference_bps(alternative.paid_after_gas, self.alternatives[0].paid_after_gas)


class AnsweredAlternative(NamedTuple):
    """An alternative together with the quote and its figures, or with the aggregator's offer."""

    alternative: Alternative
    quoted: QuoteResult | None = None
    figures: QuoteFigures | None = None
    offer: AggregatorOffer | None = None


def _difference_bps(amount: int | None, reference: int | None) -> float | None:
    if amount is None or reference is None or reference <= 0:
        return None
    return round(BPS * (amount - reference) / reference, 4)


def _failure(error: SwapcliError) -> FailureJson:
    return {"code": error.code, "message": error.message, "retryable": error.is_retryable}


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
