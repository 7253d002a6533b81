"""The frame of all SVG pictures: a self-contained document with the colors of light and dark mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from swapcli.quoting.pictures.svg_elements import FONT, escape_text, px

ByMode = tuple[str, str]
"""The values for light and for dark mode."""
Rules = Iterable[tuple[str, str]]
"""Pairs of comma-separated selectors and their declarations."""


def svg_document(
    name: str, title: str, description: str, style: str, width: float, height: float, elements: Iterable[str]
) -> str:
    """Return a picture with the CSS class `swapcli-NAME`. Sizes are in pixels. Empty elements are omitted.

    `title` is the picture's label, and `description` is its text for people who cannot see it.
    """
    size = f'width="{px(width)}" height="{px(height)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="swapcli-{name}" role="img" aria-label="{escape_text(title)}"'
        f' {size} viewBox="0 0 {px(width)} {px(height)}">',
        f"<title>{escape_text(title)}</title>",
        f"<desc>{escape_text(description)}</desc>",
        f"<style>{style}</style>",
        f'<rect class="surface" {size} rx="8"/>',
        *elements,
        "</svg>\n",
    ]
    return "\n".join(line for line in lines if line)


def style_sheet(name: str, rules: Rules, colors: Callable[[int], Rules]) -> str:
    """Return a picture's style sheet: `rules`, and the result of `colors` for light (0) and dark (1) mode."""
    picture = f".swapcli-{name}"

    def written(rules: Rules) -> str:
        return "".join(
            f"{','.join(f'{picture} {each}' for each in selectors.split(','))}{{{declarations}}}"
            for selectors, declarations in rules
        )

    own = f"{picture}{{color-scheme:light dark;max-width:100%;height:auto;{FONT}}}"
    return f"{own}{written(rules)}{written(colors(0))}@media (prefers-color-scheme:dark){{{written(colors(1))}}}"


def paint(fills: Mapping[str, ByMode], strokes: Mapping[str, ByMode], mode: int) -> list[tuple[str, str]]:
    """Return the CSS rules for fill and stroke colors, as selectors with declarations, in light (0) or dark (1)
    mode."""
    return [
        *((selector, f"fill:{colors[mode]}") for selector, colors in fills.items()),
        *((selector, f"stroke:{colors[mode]}") for selector, colors in strokes.items()),
    ]
