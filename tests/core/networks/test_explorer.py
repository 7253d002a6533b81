"""Links of block explorers name transactions."""

from __future__ import annotations

import pytest

from swapcli.core.networks.explorer import transaction_of_link

HASH = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"


@pytest.mark.parametrize(
    "link",
    [
        f"https://basescan.org/tx/{HASH}",
        f"https://basescan.org/tx/{HASH}#eventlog",
        f"https://base.blockscout.com/tx/{HASH}?tab=index",
        f"https://www.okx.com/web3/explorer/base/tx/{HASH}/",
        f"https://voyager.online/tx/{HASH}",
        f"https://monadvision.com/tx/{HASH}",
        f"http://localhost:5100/transaction/{HASH}",
        HASH,
    ],
)
def test_the_hash_is_taken_from_a_link(link: str) -> None:
    assert transaction_of_link(link) == HASH


@pytest.mark.parametrize(
    "text",
    ["", "swaps.txt", "https://basescan.org/address/0x12", f"ftp://basescan.org/tx/{HASH}", "https://x/tx/", "0x1"],
)
def test_other_texts_stay(text: str) -> None:
    assert transaction_of_link(text) == text
