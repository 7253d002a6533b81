"""Hypothesis strategies for the parts of random pools that most families share."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

ADDRESS: Final = "0x" + "ab" * 20
"""The address of a pool."""
TOKENS: Final = tuple(f"0x{k:040x}" for k in range(1, 9))
"""The addresses of eight tokens, in ascending order."""

fees_ppm = st.sampled_from([0, 100, 500, 3_000, 10_000])
decimals = st.sampled_from([6, 8, 18])
parts = st.floats(-6.0, -0.6).map(lambda exponent: 10.0**exponent)
"""The size of a trade as a part of the input reserve, from a millionth to a quarter."""


def log_uniform(low_bits: int, high_bits: int) -> st.SearchStrategy[int]:
    """Draw integers whose bit length is uniform."""
    return st.integers(low_bits, high_bits - 1).flatmap(lambda bits: st.integers(1 << bits, (2 << bits) - 1))


@st.composite
def depths(draw: st.DrawFn, places: tuple[int, ...], tilt: float) -> tuple[int, ...]:
    """Draw reserves in base units of tokens with `places` decimals.

    The reserves have a common size from 1 to 10^9 whole tokens, and each is within a factor e^`tilt` of it.
    """
    size = draw(st.floats(0.0, 9.0))
    return tuple(int(10 ** (places_k + size) * 2.718 ** draw(st.floats(-tilt, tilt))) for places_k in places)
