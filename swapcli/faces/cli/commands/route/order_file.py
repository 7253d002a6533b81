"""Read one order for `swapcli calldata` from an order file for `swapcli route --batch`."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli import InvalidInput, InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.model.written_amount import AmountUnit, WrittenAmount
from swapcli.faces.cli.command_app import UsageError
from swapcli.faces.cli.files import read_lines
from swapcli.faces.cli.order_entries import parse_order, read_entries
from swapcli.faces.cli.quote_context import OrderWords
from swapcli.quoting.amounts import read_amount


def read_order_of_file(file: str | None, order_id: str | None, words: Sequence[str], *, is_reverse: bool) -> OrderWords:
    """Return the order with the id `order_id` in a file, or its only order.

    Raises `InvalidOption`, `UsageError` if the command line also has an order, and `InvalidInput` for a malformed line.
    """
    if file is None:
        raise InvalidOption("--id needs --order", hint="add --order FILE")
    if words:
        raise UsageError("--order takes the order from its file: give only NETWORK")
    entries = [entry for _, entry in read_entries(read_lines(file), "the batch")]
    name = printable(file)
    if order_id is not None:
        entries = [entry for entry in entries if str(entry["id"]) == order_id]
    if order_id is not None and not entries:
        raise InvalidInput(f"{name} has no order with the id {printable(order_id)}", hint="check the id")
    if len(entries) != 1:
        which = "" if order_id is None else f" with the id {printable(order_id)}"
        raise InvalidInput(f"{name} has {len(entries)} orders{which}, not one", hint="choose one order with --id")
    found = parse_order(entries[0], is_reverse=is_reverse)
    if isinstance(found.amount, str):
        return OrderWords(found.token_in, found.token_out, read_amount(found.amount))
    amount = WrittenAmount(str(found.amount), AmountUnit.SMALLEST, str(found.amount))
    return OrderWords(found.token_in, found.token_out, amount)
