"""The geometry of a route's picture: tokens as bars from left to right, pools as bands between them.

The width of a band is proportional to its flow. If a band's text is taller than the band, its row is as high as the
text, so labels never overlap. Lengths are in CSS pixels at the picture's full size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from swapcli.core.records import NamedTuple
from swapcli.quoting.pictures.flow_graph import SINK, SOURCE, Band, Detail, FlowGraph, TokenNode, build_flow_graph
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH
from swapcli.quoting.pictures.route_flow import WHOLE_ORDER, RouteFlow
from swapcli.quoting.pictures.route_words import (
    band_name,
    format_amount,
    format_exact_amount,
    format_flow,
    format_symbol,
)
from swapcli.quoting.pictures.svg_elements import TITLE_SIZE
from swapcli.quoting.pictures.text_width import fit_text, text_width, wrap_text

LABEL_SIZE = 12.0
MARGIN, FOOTER = 6.0, 24.0
TITLE_LINE, TITLE_GAP = 20.0, 14.0
BAR = 6.0
ROW_GAP, BLOCK_GAP = 3.0, 12.0
NODE_LABEL, SYMBOL_HEIGHT = 17.0, 13.0
SYMBOL_GAPS = (2.0, 3.0, 4.0, 5.0)
"""Distances between a symbol and its bar, in the order in which to try them."""
LINE, LABEL_PADDING = 14.0, 4.0
LABEL_INDENT = 6.0
MAX_LINES = 3
"""Maximum number of lines of a label. The longest protocol names take two in the narrowest gap, and the fee takes
one."""
THIN = 12.0
"""The width below which a ribbon is thinner than text. It then runs below its label, so that it does not strike through
the text."""
MIN_GAP_WIDTH = 110.0
"""The minimum gap between two layers, which is wide enough for the words in protocol names."""
NARROW_WIDTH = 560
MAX_STRETCH = 1.25
"""How much taller the rows may be than the flow alone before the scale grows. Steep curves are hard to follow."""
MIN_FLOW_HEIGHT, MAX_FLOW_HEIGHT, MAX_FLOW_HEIGHT_NARROW = 48.0, 320.0, 420.0
_HEIGHT_STEP = 8.0
RELAXATION_ROUNDS = 24
"""Rounds of centering blocks and tokens on each other; ten are enough for graphs of a dozen tokens."""

MAX_LABEL_WIDTH = 270.0

Edge = tuple[str, str]


class Box(NamedTuple):
    """A rectangle. `x` and `y` are its upper left corner."""

    x: float
    y: float
    width: float
    height: float


class TokenBar(NamedTuple):
    """A token: its bar, and a box above or below the bar for its symbol."""

    node: TokenNode
    bar: Box
    label: Box
    symbol: str


class BandRow(NamedTuple):
    """A band drawn as a ribbon of `thickness`. It leaves its token at `y_source`, runs at `y` from `x_start` to
    `x_end`, and joins the next token at `y_target`. All `y` values refer to the middle of the ribbon.

    `row` is the area reserved for the band. `label` is the part of it for text: the `lines` of the band's name on the
    left, and its share on the right of the last line.
    """

    band: Band
    thickness: float
    x_source: float
    y_source: float
    x_start: float
    y: float
    x_end: float
    x_target: float
    y_target: float
    row: Box
    label: Box
    lines: tuple[str, ...]
    share: str

    @property
    def text_boxes(self) -> tuple[Box, ...]:
        """The boxes of the name's lines, followed by the box of the share."""
        x, y, width, _ = self.label
        share_width = text_width(self.share, LABEL_SIZE, is_bold=True)
        names = (
            Box(x, y + LINE * number, text_width(line, LABEL_SIZE), LINE) for number, line in enumerate(self.lines)
        )
        return (*names, Box(x + width - share_width, y + LINE * (len(self.lines) - 1), share_width, LINE))


class RouteLayout(NamedTuple):
    """The picture of a route: its size, its tokens from left to right, and its bands.

    `titles` are the input and output amounts, on one line if they fit.
    """

    width: float
    height: float
    titles: tuple[str, str]
    has_one_title_line: bool
    tokens: tuple[TokenBar, ...]
    rows: tuple[BandRow, ...]


class _Block:
    """A box with a height in several columns: a token, or the bands between two tokens. `y` is its upper edge."""

    __slots__ = ("columns", "height", "neighbours", "y")

    def __init__(self, columns: range, height: float) -> None:
        self.columns = columns
        self.height = height
        self.y = 0.0
        self.neighbours: list[tuple[_Block, int]] = []

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


class _Blocks(NamedTuple):
    """The blocks of a picture from top to bottom, and those of inner tokens and of edges."""

    in_order: Sequence[_Block]
    tokens: Mapping[str, _Block]
    edges: Mapping[Edge, _Block]


class _Columns(NamedTuple):
    """The horizontal division of a picture: layers of tokens, and gaps between them with labels between curves."""

    width: float
    hops: int

    @property
    def gap(self) -> float:
        return (self.width - 2 * MARGIN - (self.hops + 1) * BAR) / self.hops

    @property
    def curve(self) -> float:
        """The width of the curves on either side of a label."""
        return min(max(0.16 * self.gap - 8, 12.0), 72.0)

    def bar(self, layer: int) -> float:
        """The left edge of the bars of a layer."""
        return MARGIN + layer * (BAR + self.gap)

    def span(self, graph: FlowGraph, band: Band) -> tuple[float, float]:
        """Return where the curves of a band begin and end."""
        layers = {node.key: node.layer for node in graph.nodes}
        return self.bar(layers[band.source]) + BAR, self.bar(layers[band.target])

    def label_width(self, graph: FlowGraph, band: Band) -> float:
        """Return the room for the text of a band."""
        start, end = self.span(graph, band)
        return min(end - start - 2 * self.curve - LABEL_INDENT, MAX_LABEL_WIDTH)


class _Label(NamedTuple):
    """The text of a band: lines of its name, and its share on the last line."""

    lines: tuple[str, ...]
    share: str

    @property
    def height(self) -> float:
        return LINE * len(self.lines)


class _Drawing(NamedTuple):
    """A graph with everything that determines its geometry. `labels` are those of its bands, in order."""

    graph: FlowGraph
    columns: _Columns
    labels: tuple[_Label, ...]
    scale: float
    top: float

    def height(self, flow: int) -> float:
        """Return the height of a flow."""
        return self.scale * flow / WHOLE_ORDER

    def row_height(self, band: Band, label: _Label) -> float:
        """Return the height of a row: that of its ribbon or its text, or of both if the ribbon is thin."""
        return _row_height(self.height(band.flow), label)


def lay_out(flow: RouteFlow, width: int = DEFAULT_WIDTH) -> RouteLayout:
    """Lay out a route in a picture that is `width` pixels wide. The layout determines the height."""
    graph = build_flow_graph(flow, detail_for(width))
    columns = _Columns(float(width), graph.hop_count)
    labels = tuple(_label(band, columns.label_width(graph, band)) for band in graph.bands)
    titles, has_one_title_line = _titles(flow, width - 2 * MARGIN)
    top = (1 if has_one_title_line else 2) * TITLE_LINE + TITLE_GAP
    drawing = _Drawing(graph, columns, labels, _scale(graph.bands, labels, width), top)
    blocks = _build_blocks(drawing)
    _place(blocks.in_order)
    rows, tokens = _draw(drawing, blocks)
    bottom = top + max(block.y + block.height for block in blocks.in_order)
    return RouteLayout(columns.width, bottom + FOOTER, titles, has_one_title_line, tokens, rows)


def detail_for(width: int) -> Detail:
    """Return how much detail fits into a picture that is `width` pixels wide."""
    hops = max(1, int((width - 2 * MARGIN - BAR) / (MIN_GAP_WIDTH + BAR)))
    is_narrow = width < NARROW_WIDTH
    return Detail(max_hops=min(hops, 6), max_tokens=6 if is_narrow else 9, max_bands=20 if is_narrow else 32)


def _titles(flow: RouteFlow, room: float) -> tuple[tuple[str, str], bool]:
    """Return the amounts, exact if they fit on one line, and whether they do."""
    ends = ((flow.amount_in, flow.token_in), (flow.amount_out, flow.token_out))
    exact, short = (tuple(write(*end) for end in ends) for write in (format_exact_amount, format_amount))
    for titles in (exact, short):
        if sum(text_width(title, TITLE_SIZE, is_bold=True) for title in titles) + 24 <= room:
            return (titles[0], titles[1]), True
    first, second = (fit_text(title, room, TITLE_SIZE, is_bold=True) for title in short)
    return (first, second), False


def _label(band: Band, width: float) -> _Label:
    share = format_flow(band.flow)
    lines = wrap_text(band_name(band), width, LABEL_SIZE, MAX_LINES)
    if text_width(lines[-1], LABEL_SIZE) + 6 + text_width(share, LABEL_SIZE, is_bold=True) > width:
        lines.append("")
    return _Label(tuple(lines), share)


def _row_height(thickness: float, label: _Label) -> float:
    if thickness < THIN:
        return label.height + thickness + LABEL_PADDING
    return max(thickness, label.height + LABEL_PADDING)


def _scale(bands: Sequence[Band], labels: Sequence[_Label], width: int) -> float:
    """Return the height of the whole order: as small as possible without stretching the rows much.

    Labels do not scale with the flow, so the smaller the height, the more the labels stretch the rows.
    """
    height, most = MIN_FLOW_HEIGHT, MAX_FLOW_HEIGHT_NARROW if width < NARROW_WIDTH else MAX_FLOW_HEIGHT
    while height < most:
        height_of_rows = sum(
            _row_height(height * band.flow / WHOLE_ORDER, label)
            for band, label in zip(bands, labels, strict=True)
            if band.source == SOURCE
        )
        if height_of_rows <= MAX_STRETCH * height:
            break
        height += _HEIGHT_STEP
    return height


def _build_blocks(drawing: _Drawing) -> _Blocks:
    graph = drawing.graph
    position, layers = _order(graph), {node.key: node.layer for node in graph.nodes}
    tokens = {
        node.key: _Block(range(2 * node.layer, 2 * node.layer + 1), NODE_LABEL + drawing.height(node.flow))
        for node in graph.nodes[1:-1]
    }
    edges: dict[Edge, _Block] = {}
    for band, label in zip(graph.bands, drawing.labels, strict=True):
        edge = (band.source, band.target)
        columns = range(2 * layers[band.source] + 1, 2 * layers[band.target])
        block = edges.setdefault(edge, _Block(columns, -ROW_GAP))
        block.height += drawing.row_height(band, label) + ROW_GAP
        for key in edge:
            if key in tokens:
                block.neighbours.append((tokens[key], band.flow))
                tokens[key].neighbours.append((block, band.flow))
    placed = [(position[key, key], block) for key, block in tokens.items()]
    placed += [(position[edge], block) for edge, block in edges.items()]
    return _Blocks([block for _, block in sorted(placed, key=lambda each: each[0])], tokens, edges)


def _order(graph: FlowGraph) -> dict[Edge, float]:
    """Return the vertical order of edges, and of the inner tokens as `(key, key)`.

    The direct edge and the tokens are inserted in order of flow, largest first, each closest to the tokens with which
    it exchanges flow. Other edges lie between their tokens. Paths drawn together come last.
    """
    flows: dict[Edge, int] = {}
    for band in graph.bands:
        edge = (band.source, band.target)
        flows[edge] = flows.get(edge, 0) + band.flow
    sizes = {node.key: node.flow for node in graph.nodes[1:-1]} | {SOURCE: flows.get((SOURCE, SINK), 0)}
    ranking: list[str] = []
    for key in sorted(sizes, key=lambda key: (-sizes[key], key)):
        orders = [[*ranking[:at], key, *ranking[at:]] for at in range(len(ranking), -1, -1)]
        ranking = min(orders, key=lambda order: _distance(order, flows))
    position = {key: float(number) for number, key in enumerate(ranking)}
    order = {(key, key): position[key] for key in position}
    for source, target in flows:
        ends = [position[key] for key in (source, target) if key not in (SOURCE, SINK)]
        order[source, target] = sum(ends) / len(ends) if ends else position[SOURCE]
    return order


def _distance(order: Sequence[str], flows: Mapping[Edge, int]) -> int:
    position = {key: number for number, key in enumerate(order)}
    inner = ((edge, flow) for edge, flow in flows.items() if edge[0] != SOURCE and edge[1] != SINK)
    return sum(
        flow * abs(position[source] - position[target])
        for (source, target), flow in inner
        if source in position and target in position
    )


def _place(blocks: Sequence[_Block]) -> None:
    """Set `y` of all blocks, which are in order from top to bottom: first close together, then centered on each
    other."""
    _push_down(blocks, [0.0] * len(blocks))
    bottom = max(block.y + block.height for block in blocks)
    for _ in range(RELAXATION_ROUNDS):
        _push_down(blocks, [_centered(block) for block in blocks])
        _push_up(blocks, bottom)


def _centered(block: _Block) -> float:
    """Return the upper edge that centers a block on its neighbours."""
    total = sum(flow for _, flow in block.neighbours)
    if not total:
        return block.y
    return sum(other.middle * flow for other, flow in block.neighbours) / total - block.height / 2


def _push_down(blocks: Sequence[_Block], preferred: Sequence[float]) -> None:
    cursor: dict[int, float] = {}
    for block, y in zip(blocks, preferred, strict=True):
        block.y = max(y, *(cursor.get(column, 0.0) for column in block.columns))
        cursor |= dict.fromkeys(block.columns, block.y + block.height + BLOCK_GAP)


def _push_up(blocks: Sequence[_Block], bottom: float) -> None:
    limit: dict[int, float] = {}
    for block in reversed(blocks):
        block.y = min(block.y, min(limit.get(column, bottom) for column in block.columns) - block.height)
        limit |= dict.fromkeys(block.columns, block.y - BLOCK_GAP)


def _draw(drawing: _Drawing, blocks: _Blocks) -> tuple[tuple[BandRow, ...], tuple[TokenBar, ...]]:
    rows = _rows(drawing, blocks)
    top, bottom = drawing.top, max(row.row.y + row.row.height for row in rows)
    bars = {}
    for node in drawing.graph.nodes:
        height = drawing.height(node.flow)
        if node.key in blocks.tokens:
            y = top + blocks.tokens[node.key].y + NODE_LABEL
        else:
            ends = [row for row in rows if node.key in (row.band.source, row.band.target)]
            middle = sum(row.y * row.band.flow for row in ends) / WHOLE_ORDER
            y = min(max(middle - height / 2, top), max(bottom - height, top))
        bars[node.key] = Box(drawing.columns.bar(node.layer), y, BAR, height)
    sources, targets = _ports(rows, bars)
    joined = tuple(row._replace(y_source=sources[number], y_target=targets[number]) for number, row in enumerate(rows))
    tokens = tuple(_name_tokens(drawing, bars, rows))
    return joined, tokens


def _name_tokens(drawing: _Drawing, bars: Mapping[str, Box], rows: Sequence[BandRow]) -> Iterator[TokenBar]:
    """Yield the tokens, each with its symbol above or below its bar.

    If other text leaves no room for a symbol, the symbol is cut to the width between the labels on both sides.
    """
    room = 2 * drawing.columns.curve + BAR
    cut = {key: _centered_on(bar, room, bar.y - SYMBOL_GAPS[0] - SYMBOL_HEIGHT) for key, bar in bars.items()}
    lowest = max(row.row.y + row.row.height for row in rows)
    used = [box for row in rows for box in row.text_boxes]
    for node in drawing.graph.nodes:
        bar, symbol = bars[node.key], format_symbol(node.token)
        width = min(text_width(symbol, LABEL_SIZE, is_bold=True), drawing.columns.gap)
        others = [*used, *(box for key, box in cut.items() if key != node.key)]
        above = [bar.y - SYMBOL_HEIGHT - gap for gap in SYMBOL_GAPS[:2]]
        below = [bar.y + bar.height + gap for gap in SYMBOL_GAPS]
        places = [_centered_on(bar, width, y) for y in (*above, *below)]
        free = (
            box for box in places if box.y + box.height <= lowest and not any(_overlap(box, each) for each in others)
        )
        box = cut[node.key] if node.key in (SOURCE, SINK) else next(free, cut[node.key])
        used.append(box)
        yield TokenBar(node, bar, box, fit_text(symbol, box.width, LABEL_SIZE, is_bold=True))


def _centered_on(bar: Box, width: float, y: float) -> Box:
    return Box(bar.x + BAR / 2 - width / 2, y, width, SYMBOL_HEIGHT)


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def _rows(drawing: _Drawing, blocks: _Blocks) -> list[BandRow]:
    """Return the rows of all bands, with their ends not yet attached to their tokens."""
    cursor: dict[Edge, float] = {}
    rows, columns = [], drawing.columns
    for band, label in zip(drawing.graph.bands, drawing.labels, strict=True):
        edge = (band.source, band.target)
        top, thickness = cursor.get(edge, drawing.top + blocks.edges[edge].y), drawing.height(band.flow)
        height = drawing.row_height(band, label)
        cursor[edge] = top + height + ROW_GAP
        x_source, x_target = columns.span(drawing.graph, band)
        x_start, x_end = x_source + columns.curve, x_target - columns.curve
        is_thin = thickness < THIN
        y = top + height - thickness / 2 - 1 if is_thin else top + height / 2
        label_y = top if is_thin else y - label.height / 2
        width = columns.label_width(drawing.graph, band)
        rows.append(
            BandRow(
                band, thickness, x_source, y, x_start, y, x_end, x_target, y,
                row=Box(x_start, top, x_end - x_start, height),
                label=Box(x_start + LABEL_INDENT, label_y, width, label.height),
                lines=label.lines,
                share=label.share,
            )
        )  # fmt: skip
    return rows


def _ports(rows: Sequence[BandRow], bars: Mapping[str, Box]) -> tuple[list[float], list[float]]:
    """Return the middle lines at which the ribbons leave and join their tokens, in the order of the rows."""
    ends: list[list[float]] = []
    for side in ("source", "target"):
        cursor = {key: bar.y for key, bar in bars.items()}
        middles = [0.0] * len(rows)
        for number in sorted(range(len(rows)), key=lambda number: rows[number].y):
            key = getattr(rows[number].band, side)
            middles[number] = cursor[key] + rows[number].thickness / 2
            cursor[key] += rows[number].thickness
        ends.append(middles)
    return ends[0], ends[1]
