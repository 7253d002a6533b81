"""Transactions in the form that the commands print for people: fees in gwei are read back to the wei."""

from __future__ import annotations

import pytest

from swapcli.payload.decode.printed_forms import parse_printed


@pytest.mark.parametrize(
    ("printed", "wei"),
    [
        ("0.000000015 gwei", 15),
        ("1 gwei", 10**9),
        ("1.000000001 gwei", 10**9 + 1),
        ("12,000.5 gwei", 12_000_500_000_000),
        ("15", 15),
    ],
)
def test_fees_are_read_in_gwei_and_in_wei(printed: str, wei: int) -> None:
    text = f"to {'0x' + '11' * 20}\nvalue 0\nmax fee {printed}\npriority fee {printed}\ncalldata 0x06fdde03\n"
    ((transaction,), _, _) = parse_printed(text)
    assert (transaction.max_fee_wei, transaction.max_priority_fee_wei) == (wei, wei)
