"""A part's payload as recorded in the plan's file, with all data of a prepared swap that output formats need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.errors import InvalidOption
from swapcli.core.model.finding import Finding, FindingCode, Level
from swapcli.core.model.network import Network
from swapcli.core.model.transaction import Purpose
from swapcli.core.records import NamedTuple
from swapcli.payload.handoff.wallet_calls import wallet_calls_document
from swapcli.payload.transactions_to_send import RenderedTransaction

if TYPE_CHECKING:
    from swapcli.interface.document_types import CalldataDocumentJson
    from swapcli.interface.handoff_types import SafeBatchJson, WalletCallsRequestJson
    from swapcli.interface.plan_types import PartPayloadJson
    from swapcli.quoting.planning.route_limits import PlanRouteLimits
    from swapcli.quoting.swap_quote import PreparedSwap


class RecordedFigures(NamedTuple):
    """The figures of a recorded payload in base units and Unix seconds, with the warnings at the time it was built."""

    min_received: int
    expires_at_s: int
    warnings: tuple[Finding, ...]


class RecordedTransactions(NamedTuple):
    """The transactions of a recorded payload, in the order in which to send them. The results of earlier checks are
    unknown."""

    rendered: tuple[RenderedTransaction, ...]
    checked: None = None

    def transactions(self) -> list[RenderedTransaction]:
        """Return the approvals, then the swap."""
        return list(self.rendered)


class RecordedPayload(NamedTuple):
    """A payload from a plan file, built earlier on `network`."""

    network: Network
    payload: PartPayloadJson

    @property
    def built(self) -> RecordedTransactions:
        """The transactions."""
        return RecordedTransactions(tuple(map(_read_transaction, self.payload["document"]["transactions"])))

    @property
    def figures(self) -> RecordedFigures:
        """The figures."""
        document = self.payload["document"]
        warnings = tuple(_read_warnings(document["warnings"], self.payload.get("warningLevels", ())))
        return RecordedFigures(int(document["minReceived"]), document["expiresAt"], warnings)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings from the time when the payload was built."""
        return self.figures.warnings

    def document(self) -> CalldataDocumentJson:
        """Return the JSON of the payload."""
        return cast("CalldataDocumentJson", self.payload["document"])

    def safe_batch(self) -> SafeBatchJson:
        """Return the payload as a file for Safe's Transaction Builder. Raises `InvalidOption` on Starknet."""
        if "safeBatch" not in self.payload:
            raise InvalidOption(f"a Safe batch needs an EVM network, not {self.network.name}", hint="use --json")
        return cast("SafeBatchJson", self.payload["safeBatch"])

    def wallet_calls(self) -> WalletCallsRequestJson:
        """Return the payload as a `wallet_sendCalls` request. The CLI uses it only on EVM networks."""
        return wallet_calls_document(self.built.transactions(), self.network.chain_id)


def record_payload(prepared: PreparedSwap, limits: PlanRouteLimits) -> PartPayloadJson:
    """Return the data about a payload that is recorded in a plan's file. `limits` are those of its route."""
    transactions = prepared.built.transactions()
    record: PartPayloadJson = {
        "recipient": prepared.payload.call.route.recipient,
        "routeLimits": limits.as_fields(),
        "warningLevels": [each.level.value for each in prepared.warnings],
        "document": {**prepared.document()},
    }
    if all(each.request is not None for each in transactions):
        record["safeBatch"] = {**prepared.safe_batch()}
    return record


def _read_transaction(recorded: Mapping[str, Any]) -> RenderedTransaction:
    request = {name: value for name, value in recorded.items() if name != "what"}
    is_call = "calldata" in request
    return RenderedTransaction(
        Purpose(recorded["what"]),
        request["to"],
        request["calldata"] if is_call else request["data"],
        request["value"] if is_call else str(int(str(request["value"]), 0)),
        request.get("entrypoint"),
        "the router",
        None if is_call else request,
    )


def _read_warnings(warnings: Sequence[Mapping[str, str]], levels: Sequence[object]) -> Iterator[Finding]:
    """Yield recorded warnings. Older files record no levels; each code's usual level then applies."""
    for position, each in enumerate(warnings):
        level = levels[position] if position < len(levels) else None
        yield Finding(each["code"], _usual_level(each["code"], level), each["message"])


def _usual_level(code: str, level: object) -> Level:
    if level in tuple(Level):
        return Level(str(level))
    return FindingCode(code).level if code in tuple(FindingCode) else Level.WARN
