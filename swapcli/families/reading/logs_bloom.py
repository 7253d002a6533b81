"""The Bloom filter in a block header: the addresses and topics that the block's events can have.

Each item sets three of 2,048 bits (Ethereum's yellow paper, section 4.3.1). An item that is not in the filter is in no
event. An item in the filter may be there by chance, more likely so the fuller the filter is. A filter of 0 carries no
information: not all networks fill it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from swapcli.core.encoding.keccak import keccak256

BITS: Final = 2_048  # bits of a block's Bloom filter
_CACHED_MASKS: Final = 1 << 15
"""The number of masks kept in memory, of some 300 bytes each."""


@lru_cache(_CACHED_MASKS)
def bloom_mask(item: str) -> int:
    """Return the bits of the filter that an address or topic, in hex, sets."""
    digest = keccak256(bytes.fromhex(item[2:]))
    bits = 0
    for offset in (0, 2, 4):
        bits |= 1 << (int.from_bytes(digest[offset : offset + 2]) % BITS)
    return bits


def may_contain(bloom: int, *items: str) -> bool:
    """Return whether an event with all of these addresses and topics may be in the block."""
    return all(bloom & (bits := bloom_mask(item)) == bits for item in items)


def is_selective(bloom: int) -> bool:
    """Return whether false positives in the filter are rare enough to make a query worthwhile.

    In a half-full filter, an address and a topic that are in no event both appear once in 64 times.
    """
    return 0 < bloom.bit_count() <= BITS // 2
