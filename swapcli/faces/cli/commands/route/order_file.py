"""Read one order for `swapcli calldata` from an order file for `swapcli route --batch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli import InvalidInput, InvalidOption
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.model.written_amount import AmountUnit, WrittenAmount
from swapcli.faces.cli.command_app import UsageError
from swapcli.faces.cli.files import read_lines, shown_name
from swapcli.faces.cli.order_entries import EXAMPLE, is_named_csv, parse_order, read_entries
from swapcli.faces.cli.quote_context import OrderWords
from swapcli.quoting.amounts import read_amount

_MAX_SHOWN_IDS: Final = 5


def read_order_of_file(file: str | None, order_id: str | None, words: Sequence[str], *, is_reverse: bool) -> OrderWords:
    """Return the order with the id `order_id` in a file, or its only order.

    Raises `InvalidOption`, `UsageError` if the command line also has an order, and `InvalidInput` for a malformed line.
    """
    if file is None:
        raise InvalidOption("--id needs --order", hint="add --order FILE")
    if words:
        raise UsageError("--order takes the order from its file: give only NETWORK")
    entries = [entry for _, entry in read_entries(read_lines(file), shown_name(file), expects_csv=is_named_csv(file))]
    name = printable(file)
    if not entries:
        raise InvalidInput(f"{name} contains no orders", hint=EXAMPLE)
    if order_id is not None:
        ids = [str(entry["id"]) for entry in entries]
        entries = [entry for entry in entries if str(entry["id"]) == order_id]
        which = f'with the id "{printable(truncate(order_id, 40))}"'
        if not entries:
            first = ", ".join(map(printable, ids[:_MAX_SHOWN_IDS]))
            listed = f"its ids are {first}" if len(ids) <= _MAX_SHOWN_IDS else f"its first ids are {first}"
            raise InvalidInput(
                f"{name} has no order {which}", hint=did_you_mean(closest_names(order_id, ids)) or listed
            )
        if len(entries) > 1:
            raise InvalidInput(f"{name} has {len(entries)} orders {which}, not one", hint="give each its own id")
    if len(entries) != 1:
        raise InvalidInput(f"{name} has {len(entries)} orders, not one", hint="choose one order with --id")
    found = parse_order(entries[0], is_reverse=is_reverse)
    if isinstance(found.amount, str):
        return OrderWords(found.token_in, found.token_out, read_amount(found.amount))
    amount = WrittenAmount(str(found.amount), AmountUnit.SMALLEST, str(found.amount))
    return OrderWords(found.token_in, found.token_out, amount)
