"""The calls inside `__execute__`, in the encodings of accounts in Cairo 0 and Cairo 1."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.payload.starknet.account_transactions import entrypoint_name, parse_account_calls
from swapcli.payload.starknet.felts import APPROVE_SELECTOR, SWAP_SELECTOR

TOKEN, ROUTER = 0x4718F5A0FC34CC1AF16A1CDEE98FFB20C31F5CD61D6AB07201858F4287C938D, 0xF6F4CF62E3C010E0AC2451CC7807B5E
APPROVE_FELTS, SWAP_FELTS = (ROUTER, 10**21, 0), (TOKEN, 7, 8, 9, 10)
CAIRO_1 = (2, TOKEN, APPROVE_SELECTOR, 3, *APPROVE_FELTS, ROUTER, SWAP_SELECTOR, 5, *SWAP_FELTS)
CAIRO_0 = (2, TOKEN, APPROVE_SELECTOR, 0, 3, ROUTER, SWAP_SELECTOR, 3, 5, 8, *APPROVE_FELTS, *SWAP_FELTS)


@pytest.mark.parametrize("felts", [CAIRO_1, CAIRO_0])
def test_both_encodings_give_the_calls(felts: tuple[int, ...]) -> None:
    approve, swap = parse_account_calls(felts)
    assert (int(approve.to, 16), approve.entrypoint, approve.felts) == (TOKEN, "approve", APPROVE_FELTS)
    assert (int(swap.to, 16), swap.entrypoint, swap.felts) == (ROUTER, "swap", SWAP_FELTS)


def test_an_unknown_selector_stays_a_number() -> None:
    (call,) = parse_account_calls((1, TOKEN, 0x1234, 0))
    assert (call.entrypoint, call.felts) == ("0x1234", ())
    assert entrypoint_name("0x1234") == "0x1234"
    assert entrypoint_name(hex(SWAP_SELECTOR)) == entrypoint_name("swap") == "swap"


@pytest.mark.parametrize(
    "felts",
    [
        (),
        (0,),
        (3,),
        (*CAIRO_1, 1),
        CAIRO_1[:-1],
        (*CAIRO_0, 4),
        CAIRO_0[:-1],
        (1, 0, SWAP_SELECTOR, 0),
        (2, TOKEN, APPROVE_SELECTOR, 1, 3, ROUTER, SWAP_SELECTOR, 3, 5, 8, *APPROVE_FELTS, *SWAP_FELTS),
    ],
)
def test_felts_of_no_encoding_are_an_error(felts: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        parse_account_calls(felts)


def test_every_felt_is_read_if_one_is_added_or_removed() -> None:
    rng = Random("felts of an account")
    for felts in (CAIRO_1, CAIRO_0):
        for _ in range(60):
            at = rng.randrange(len(felts) + 1)
            for changed in ((*felts[:at], rng.choice((0, 1, 5)), *felts[at:]), felts[:at] + felts[at + 1 :]):
                try:
                    calls = parse_account_calls(changed)
                except InvalidInput:
                    continue
                read = sum(len(call.felts) for call in calls) + 1
                read += len(calls) * (3 if felts is CAIRO_1 else 4) + (felts is CAIRO_0)
                assert len(changed) == read, changed
