"""The ticks of a chart's horizontal scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swapcli.quoting.pictures.svg_elements import NOTE_SIZE, px, text_element
from swapcli.quoting.pictures.text_width import text_width


def ticks_across(
    ticks: Iterable[tuple[float, str]], top: float, bottom: float, min_gap: float, zero: str | None = None
) -> Iterator[str]:
    """Yield a vertical line from `top` to `bottom` for each tick, from left to right. A tick is a position in pixels,
    and its label.

    A label closer than `min_gap` to the previous one is omitted. The line of the tick labelled `zero` stands out.
    """
    end = -1.0
    for x, label in ticks:
        yield f'<path class="{"zero" if label == zero else "grid"}" d="M{px(x)} {px(top)}V{px(bottom)}"/>'
        half = text_width(label, NOTE_SIZE) / 2
        if x - half > end:
            yield text_element("note", x, bottom + 16, "middle", label)
            end = x + half + min_gap
