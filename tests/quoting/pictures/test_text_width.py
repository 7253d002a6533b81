"""Text is cut or wrapped so that its estimated width fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.text import ELLIPSIS
from swapcli.quoting.pictures.text_width import fit_text, text_width, wrap_text

texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs", "Mn"]), max_size=60)
SIZE = 12.0


@given(texts, st.floats(20.0, 400.0), st.booleans())
def test_a_fitted_text_is_a_beginning_that_fits(text: str, width: float, is_bold: bool) -> None:
    fitted = fit_text(text, width, SIZE, is_bold=is_bold)
    assert text_width(fitted, SIZE, is_bold=is_bold) <= width + 1e-9
    assert fitted == text or (fitted.endswith(ELLIPSIS) and text.startswith(fitted.removesuffix(ELLIPSIS)))


@given(texts, st.floats(20.0, 400.0), st.integers(1, 4))
def test_wrapped_lines_fit_and_lose_no_word_silently(text: str, width: float, max_lines: int) -> None:
    lines = wrap_text(text, width, SIZE, max_lines)
    assert 1 <= len(lines) <= max_lines
    assert all(text_width(line, SIZE) <= width + 1e-9 for line in lines)
    assert any(ELLIPSIS in line for line in lines) or " ".join(lines).split() == text.split()
