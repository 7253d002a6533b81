"""The file of a plan and the part that is due, at any time of the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli import (
    InvalidInput,
    InvalidOption,
    InvalidPlan,
    Market,
    OutsidePriceBand,
    PartNotDue,
    PlanEnded,
    PlannedPart,
    PreparedSwap,
    RecordedPayload,
    SwapcliError,
    SwapQuote,
)
from swapcli.quoting.planning.due_part import BuiltPart, build_due_part, mark_part_done
from swapcli.quoting.planning.plan_file import open_plan, seal
from swapcli.quoting.planning.route_limits import narrow_limits
from swapcli.quoting.price_policy import PriceRequest

ME, OTHER = "0x" + "11" * 20, "0x" + "22" * 20
HOUR_S = 3_600


@pytest.fixture(scope="module")
def market() -> Market:
    return Market.embedded("base")


@pytest.fixture(scope="module")
def planned(market: Market) -> dict[str, Any]:
    return {**market.plan("ETH", "USDC", "30", over="4h", parts=3).document()}


@pytest.fixture
def file(planned: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(planned))
    return path


class Builder:
    """Builds parts on a market, and counts its quotes."""

    def __init__(self, market: Market, recipient: str = ME) -> None:
        self.network, self.source, self.settings = market.network, market.source, market.settings
        self.recipient, self._market, self.quotes = recipient, market, 0
        self.price_request = PriceRequest.OFFLINE
        self.limits = narrow_limits(None, market.network, market.settings, {})

    @staticmethod
    def name_option(parameter: str) -> str:
        return parameter

    def quote(self, part: PlannedPart) -> SwapQuote:
        self.quotes += 1
        return self._market.quote("ETH", "USDC", part.amount_in)

    def prepare(self, quote: SwapQuote) -> PreparedSwap:
        return self._market.prepare(quote, destination=self.recipient)


def build(file: Path, builder: Builder, now_s: float) -> BuiltPart:
    with open_plan(str(file)) as plan:
        return build_due_part(plan, builder, now_s)


def test_the_parts_of_a_plan_one_after_the_other(market: Market, planned: dict[str, Any], file: Path) -> None:
    builder, times = Builder(market), [part["time"] for part in planned["parts"]]
    sold = 0
    for number, time_s in enumerate(times, start=1):
        before = file.read_bytes()
        if number > 1:
            with pytest.raises(PartNotDue, match=f"part {number} of 3 is not due before"):
                build(file, builder, time_s - 1)
            assert file.read_bytes() == before
        built = build(file, builder, time_s)
        assert (built.part.number, built.is_repeated, built.notes) == (number, False, ())
        sold += int(json.loads(file.read_text())["parts"][number - 1]["inputAmount"])
        mark_part_done(str(file))
    assert sold == 30 * 10**18
    assert builder.quotes == 3
    with pytest.raises(PlanEnded, match=r"all 3 parts of .* are done"):
        build(file, builder, times[-1])


def test_a_part_is_built_once_until_its_payload_expires(market: Market, planned: dict[str, Any], file: Path) -> None:
    builder, start_s = Builder(market), planned["startsAt"]
    first = build(file, builder, start_s)
    recorded = file.read_bytes()
    again = build(file, builder, start_s + 1)
    assert again.is_repeated
    assert builder.quotes == 1
    assert file.read_bytes() == recorded
    assert again.payload.built.transactions()[-1].calldata == first.payload.built.transactions()[-1].calldata
    assert again.payload.safe_batch() == first.payload.safe_batch()
    assert again.payload.wallet_calls() == first.payload.wallet_calls()
    with pytest.raises(InvalidPlan, match=f"was built for the recipient {ME}"):
        build(file, Builder(market, OTHER), start_s + 1)
    ends_at_s = json.loads(recorded)["parts"][0]["payloadEndsAt"]
    renewed = build(file, builder, ends_at_s)
    assert (renewed.part.number, renewed.is_repeated, builder.quotes) == (1, False, 2)
    assert "can still be executed" in renewed.notes[0]


@pytest.mark.parametrize(
    ("field", "problem"),
    [("document", "DANGER, do not sign: the output goes to"), ("safeBatch", "DANGER, do not sign: the output goes to")],
)
def test_a_recorded_payload_of_somebody_else_is_never_shown(
    market: Market, planned: dict[str, Any], file: Path, field: str, problem: str
) -> None:
    honest = build(file, Builder(market), planned["startsAt"])
    document = json.loads(file.read_text())
    other = market.prepare(market.quote("ETH", "USDC", honest.part.amount_in), destination=OTHER)
    evil: dict[str, Any] = {"document": {**other.document()}, "safeBatch": {**other.safe_batch()}}
    document["parts"][0]["payload"][field] = json.loads(json.dumps(evil[field]))
    file.write_text(json.dumps(seal(document)))
    with pytest.raises(InvalidPlan) as error:
        build(file, Builder(market), planned["startsAt"] + 1)
    assert problem in error.value.message


def test_a_recorded_payload_of_another_order_is_never_shown(
    market: Market, planned: dict[str, Any], file: Path
) -> None:
    build(file, Builder(market), planned["startsAt"])
    document = json.loads(file.read_text())
    other = market.prepare(market.quote("ETH", "USDC", "29"), destination=ME)
    document["parts"][0]["payload"]["document"] = json.loads(json.dumps(other.document()))
    file.write_text(json.dumps(seal(document)))
    with pytest.raises(InvalidPlan, match="it is a different order"):
        build(file, Builder(market), planned["startsAt"] + 1)


def test_a_recorded_payload_with_a_lower_minimum_is_never_shown(
    market: Market, planned: dict[str, Any], file: Path
) -> None:
    honest = build(file, Builder(market), planned["startsAt"])
    document = json.loads(file.read_text())
    quote = market.quote("ETH", "USDC", honest.part.amount_in, slippage="2")
    document["parts"][0]["payload"]["document"] = json.loads(
        json.dumps(market.prepare(quote, destination=ME).document())
    )
    file.write_text(json.dumps(seal(document)))
    with pytest.raises(InvalidPlan, match=r"the minimum, .* is 2\.00% below"):
        build(file, Builder(market), planned["startsAt"] + 1)


@pytest.mark.parametrize(("options", "message"), [({"over": "0s"}, "over: "), ({"over": "1h", "parts": 0}, "parts: ")])
def test_programs_get_the_errors_of_the_command_line(market: Market, options: Any, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        market.plan("ETH", "USDC", "1", **options)


def test_recorded_warnings_keep_their_levels(market: Market, planned: dict[str, Any], file: Path) -> None:
    first = build(file, Builder(market), planned["startsAt"])
    again = build(file, Builder(market), planned["startsAt"] + 1)
    assert [(each.code, each.level) for each in again.payload.warnings] == [
        (each.code, each.level) for each in first.payload.warnings
    ]
    codes = ("ROUTER_UNKNOWN", "ROUTER_UNVERIFIED", "LIVE_UNAVAILABLE", "A_CODE_OF_A_SERVICE")
    document = {
        "minReceived": "1", "expiresAt": 2, "warnings": [{"code": code, "message": "a fact"} for code in codes],
    }  # fmt: skip
    older: Any = {"recipient": ME, "document": document}
    levels = ["warn", "block", "info", "block"]
    newer: Any = older | {"warningLevels": levels}
    assert [each.level for each in RecordedPayload(market.network, newer).warnings] == levels
    assert [each.level for each in RecordedPayload(market.network, older).warnings] == ["block", "warn", "info", "warn"]


def test_a_late_part_is_built_until_the_plan_ends(market: Market, planned: dict[str, Any], file: Path) -> None:
    builder = Builder(market)
    built = build(file, builder, planned["parts"][2]["time"])
    assert built.part.number == 1
    assert "part 1 is late" in built.notes[0]
    mark_part_done(str(file))
    assert planned["expiresAt"] == planned["endsAt"] + 4 * HOUR_S // 3
    assert build(file, builder, planned["expiresAt"]).part.number == 2
    mark_part_done(str(file))
    with pytest.raises(PlanEnded, match="before part 3 was done") as ended:
        build(file, builder, planned["expiresAt"] + 1)
    assert ended.value.hint == f"make a new plan for {int(planned['parts'][2]['inputAmount']) / 1e18:g} ETH"


@pytest.mark.parametrize(("scale", "side"), [(0.9, "above"), (1.1, "below")])
def test_a_price_outside_the_band_is_rejected(
    market: Market, planned: dict[str, Any], file: Path, scale: float, side: str
) -> None:
    band = {name: str(float(price) * scale) for name, price in planned["priceBand"].items()}
    file.write_text(json.dumps(seal(planned | {"priceBand": band})))
    before = file.read_bytes()
    with pytest.raises(OutsidePriceBand, match=f"USDC per ETH, {side} the plan's price band of"):
        build(file, Builder(market), planned["startsAt"])
    assert file.read_bytes() == before


def test_the_band_is_exact(planned: dict[str, Any], file: Path) -> None:
    part = planned["parts"][0]
    with open_plan(str(file)) as plan:
        low, high = (int(price * int(part["inputAmount"]) / 10**12) for price in (plan.low, plan.high))
        for amount_out in (low + 1, high):
            plan.check_price(plan.parts[0], amount_out)
        for amount_out in (low, high + 1):
            with pytest.raises(OutsidePriceBand):
                plan.check_price(plan.parts[0], amount_out)


def test_nothing_is_recorded_of_a_part_that_fails(market: Market, planned: dict[str, Any], file: Path) -> None:
    class Failing(Builder):
        def prepare(self, quote: SwapQuote) -> PreparedSwap:
            raise InvalidInput(f"refused: {quote}")

    before = file.read_bytes()
    with pytest.raises(InvalidInput, match="refused"):
        build(file, Failing(market), planned["startsAt"])
    assert file.read_bytes() == before


DAMAGE: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda _: "", "is not a complete plan: it is empty"),
    "truncated": (lambda text: text[: len(text) // 2], "is not a complete plan: it is not valid JSON"),
    "another document": (lambda _: '{"orders": []}', "is not a plan"),
    "a list": (lambda _: "[1]", "is not a plan"),
    "changed": (lambda text: text.replace('"planned"', '"done"', 1), "was changed after swapcli wrote it"),
    "of the future": (lambda text: text.replace('"planVersion": 1', '"planVersion": 2'), "is a plan of version 2"),
    "without a digest": (lambda text: text.replace('"digest"', '"signed"'), "was changed after swapcli wrote it"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_that_is_no_whole_plan_is_one_sentence_and_stays(file: Path, name: str) -> None:
    damage, problem = DAMAGE[name]
    file.write_text(damage(file.read_text()))
    before = file.read_bytes()
    for attempt in (lambda: mark_part_done(str(file)), lambda: open_plan(str(file)).__enter__()):
        with pytest.raises(InvalidPlan) as error:
            attempt()
        assert problem in error.value.message
        assert "\n" not in error.value.message
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"parts": [{}]}, {"parts": "none"}, {"priceBand": {"low": "x", "high": "1"}}, {"inputToken": None}]
)
def test_a_sealed_file_with_wrong_fields_is_rejected(
    planned: dict[str, Any], file: Path, change: dict[str, Any]
) -> None:
    file.write_text(json.dumps(seal(planned | change)))
    with pytest.raises(SwapcliError), open_plan(str(file)):
        pass


def test_another_network_is_rejected(file: Path, planned: dict[str, Any]) -> None:
    with pytest.raises(InvalidPlan, match="is a plan for base, not for monad"):
        build(file, Builder(Market.embedded("monad")), planned["startsAt"])


def test_only_a_built_part_can_be_done(file: Path) -> None:
    with pytest.raises(InvalidInput, match="has no part to mark as done: part 1 is not built"):
        mark_part_done(str(file))


def test_one_process_at_a_time(file: Path) -> None:
    """Locks belong to processes, so the other one is a child."""
    import os

    with open_plan(str(file)):
        child = os.fork()
        if not child:
            try:
                with open_plan(str(file)):
                    os._exit(1)
            except InvalidInput as error:
                os._exit(0 if "another process is using" in error.message else 2)
            os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_plan_is_written_to_a_new_file_only(market: Market, file: Path, tmp_path: Path) -> None:
    plan = market.plan("ETH", "USDC", "1", over="1h", parts=1)
    before = file.read_bytes()
    with pytest.raises(InvalidInput, match="already exists"):
        plan.write(str(file))
    assert file.read_bytes() == before
    new = tmp_path / "new.json"
    plan.write(str(new))
    assert json.loads(new.read_text()) == json.loads(json.dumps(plan.document()))
