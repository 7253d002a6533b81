"""Every table at 80 and 120 columns: a line for each row, heads above their columns, and addresses whole."""

from __future__ import annotations

import ast
import codecs
import io
import re
from decimal import Decimal
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import swapcli.faces.cli
from swapcli.core.encoding.text import ELLIPSIS
from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.catalogue import network_names
from swapcli.faces.cli.commands import balance, config, keys, protocols, schema, tokens
from swapcli.faces.cli.commands.backtest import view as backtest_view
from swapcli.faces.cli.commands.compare.view import comparison_columns
from swapcli.faces.cli.commands.decode import view as decode_view
from swapcli.faces.cli.commands.depth.view import level_columns, point_columns
from swapcli.faces.cli.commands.health.view import health_columns
from swapcli.faces.cli.commands.hindsight import view as hindsight_view
from swapcli.faces.cli.commands.networks import view as networks_view
from swapcli.faces.cli.commands.plan.view import cost_columns, part_columns, progress_columns
from swapcli.faces.cli.commands.prove import view as prove_view
from swapcli.faces.cli.commands.record import view as record_view
from swapcli.faces.cli.commands.sync.view import SKIPPED_COLUMNS, UNEXPLAINED_COLUMNS
from swapcli.faces.cli.commands.verify import view as verify_view
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.node_view import NODE_LIST_COLUMNS
from swapcli.faces.cli.render.pool_and_price_views import POOL_COLUMNS, price_columns
from swapcli.faces.cli.render.store_view import HOLDING_COLUMNS, STORE_COLUMNS
from swapcli.faces.cli.render.table_fit import shorten_cell
from swapcli.faces.cli.render.terminal_tables import new_console, print_list
from swapcli.faces.cli.similar_characters import SIMILAR, replace_with_similar
from tests.examples import examples, few
from tests.support.command import run_swapcli

WIDTHS = (80, 120)
codecs.register_error(SIMILAR, replace_with_similar)
LONG_SYMBOL = "A Symbol That Is Longer Than It Should Be"

TABLES: dict[str, tuple[Column, ...]] = {
    "commands/backtest/view": backtest_view.COLUMNS,
    "commands/balance": balance.COLUMNS,
    "commands/compare/view": comparison_columns(LONG_SYMBOL),
    "commands/config": config.COLUMNS,
    "commands/decode/view": decode_view.COLUMNS,
    "commands/depth/view levels": level_columns("USDC", LONG_SYMBOL),
    "commands/depth/view points": point_columns(LONG_SYMBOL, "USDC", has_bars=True),
    "commands/health/view": health_columns(has_messages=True),
    "commands/health/view with nodes": health_columns(has_messages=True, has_nodes=True),
    "commands/hindsight/view protocols": hindsight_view.VENUE_COLUMNS,
    "commands/hindsight/view swaps": hindsight_view.SWAP_COLUMNS,
    "commands/hindsight/view not explained": hindsight_view.REASON_COLUMNS,
    "commands/keys": keys.LISTED_COLUMNS,
    "commands/keys usage": keys.USAGE_COLUMNS,
    "commands/networks/view networks": networks_view.NETWORK_COLUMNS,
    "commands/networks/view routers": networks_view.ROUTER_COLUMNS,
    "commands/networks/view tokens": networks_view.TOKEN_COLUMNS,
    "commands/networks/view protocols": networks_view.PROTOCOL_COLUMNS,
    "commands/networks/view venues": networks_view.VENUE_COLUMNS,
    "commands/networks/view checks": networks_view.CHECK_COLUMNS,
    "commands/networks/view sources": networks_view.SOURCE_COLUMNS,
    "commands/plan/view costs": cost_columns(LONG_SYMBOL),
    "commands/plan/view parts": part_columns("USDC", LONG_SYMBOL),
    "commands/plan/view progress": progress_columns(LONG_SYMBOL),
    "commands/protocols": protocols.COLUMNS,
    "commands/prove/view differences": prove_view.DIFFERENCE_COLUMNS,
    "commands/prove/view stages": prove_view.STAGE_COLUMNS,
    "commands/record/view": record_view.COLUMNS,
    "commands/schema": schema.COLUMNS,
    "commands/sync/view skipped": SKIPPED_COLUMNS,
    "commands/sync/view unexplained": UNEXPLAINED_COLUMNS,
    "commands/tokens": tokens.COLUMNS,
    "commands/verify/view": verify_view.COLUMNS,
    "commands/verify/view recent": verify_view.RECENT_COLUMNS,
    "commands/verify/view different": verify_view.DIFFERENCE_COLUMNS,
    "render/node_view": NODE_LIST_COLUMNS,
    "render/pool_and_price_views pools": POOL_COLUMNS,
    "render/pool_and_price_views prices": price_columns(LONG_SYMBOL),
    "render/store_view stores": STORE_COLUMNS,
    "render/store_view holdings": HOLDING_COLUMNS,
}
"""The columns of every list that a command prints, by the module that builds it."""

ADDRESSES = {"address", "pool of an unknown version, read at every block"}
"""The columns of addresses, and of ids that stay whole."""
WHOLE_CELLS = {
    "chain id": st.integers(1, 2**64).map(str),
    "sample": st.text("ab→ 1", min_size=1, max_size=90).map(lambda text: " ".join(text.split()) or "-"),
    "healthy": st.sampled_from(["yes", "no"]),
    "liquidity": st.integers(0, 10**15).map("${:,}".format),
    "created": st.just("2026-11-28 03:00 UTC"),
    "revoked": st.sampled_from(["-", "2026-11-28 03:00 UTC"]),
    "limit": st.sampled_from(["-", "1000000/hour"]),
    "streams": st.sampled_from(["-", "100000"]),
    "quota": st.sampled_from(["-", "1000000000000/month"]),
    "expires": st.sampled_from(["-", "2027-01-01"]),
    "last used": st.sampled_from(["-", "2026-11-28 03:00 UTC"]),
    "time": st.just("2026-11-28 03:00:00 UTC"),
    "part": st.integers(1, 100).map(str),
    "status": st.sampled_from(["planned", "built", "done"]),
    "day": st.just("2026-11-28"),
    "requests": st.integers(0, 10**9).map("{:,}".format),
    "rejections": st.integers(0, 10**9).map("{:,}".format),
    "CPU seconds": st.floats(0, 1e6).map("{:,.3f}".format),
    "quotes": st.sampled_from(["exact", "sampled, not compared", "not supported"]),
    "log scale": st.integers(0, 24).map("█".__mul__),
}
"""What can be in the columns that are never shortened; in others at most ten digits."""


LETTERS = st.characters(exclude_categories=("M", "C", "Z")).filter(cell_len)
WORDS = st.text(LETTERS, min_size=1, max_size=40) | st.text("aZ9.,-é漢", min_size=1, max_size=40)
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)
AMOUNTS = st.tuples(st.integers(0, 2**256 - 1), st.integers(0, 24)).map(lambda drawn: whole_tokens(*drawn))


def addresses(digits: int) -> st.SearchStrategy[str]:
    return st.integers(0, 16**digits - 1).map(lambda number: f"0x{number:0{digits}x}")


@st.composite
def lists(draw: st.DrawFn, columns: tuple[Column, ...]) -> ListView:
    """Draw rows of a table: addresses of one network, and any text and any amount where cells may be shortened."""
    address = addresses(draw(st.sampled_from([40, 64])))

    def cells(column: Column) -> st.SearchStrategy[str]:
        if column.title in ADDRESSES or (column.title == "pool" and column.is_whole):
            return address
        if column.is_whole:
            return WHOLE_CELLS.get(column.title, st.text("0123456789", max_size=10))
        pairs = st.tuples(address, address).map(" → ".join)
        return TEXTS | AMOUNTS | pairs | address if column.has_pool_ids else TEXTS | AMOUNTS | pairs

    return ListView(columns, tuple(draw(st.lists(st.tuples(*map(cells, columns)), max_size=6))))


def draw_list(listing: ListView, width: int, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a list on a terminal."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding, errors=SIMILAR, newline="\n")
    print_list(listing, new_console("never", stream, width))
    stream.flush()
    return raw.getvalue().decode(encoding).split("\n")[:-1]


def cells_of(line: str) -> list[str]:
    """Return the characters of a line by the cells of the terminal; a wide one is followed by an empty text."""
    return [cell for character in line for cell in (character, *[""] * (cell_len(character) - 1))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", few(TABLES, 14))
@settings(max_examples=examples(3, full=100))
@given(data=st.data())
def test_each_row_of_a_table_is_a_line_under_its_heads(name: str, width: int, data: st.DataObject) -> None:
    listing = data.draw(lists(TABLES[name])).without_empty_columns()
    lines = draw_list(listing, width)
    assert all(cell_len(line) <= width for line in lines)
    end = next((number for number, line in enumerate(lines) if line.startswith(f"In {width} columns")), len(lines))
    lines, note = lines[:end], " ".join(lines[end:])
    height = len(listing.rows) + 1
    below = [number for number, column in enumerate(listing.columns) if column.goes_below]
    filled = tuple(row for row in listing.rows if any(row[number] for number in below))
    tables = [(lines, listing.rows)]
    if len(lines) != height:
        tables = [(lines[:height], listing.rows), (lines[height + 1 :], filled)]
    hidden = set(listing.titles)
    for (heads, *rows), listed in tables:
        for head in re.finditer(r"\S+(?: \S+)*", heads):
            title = next(each.title for each in listing.columns if is_short_of(head[0], each.heading))
            hidden.discard(title)
            number = listing.titles.index(title)
            for shown, row in zip(map(cells_of, rows), listed, strict=True):
                assert not "".join(shown[max(head.start() - 2, 0) : head.start()]).strip()
                if title in ADDRESSES:
                    assert "".join(shown[head.start() :]).split(" ")[0] == row[number]
    assert all(column.drop_order for column in listing.columns if column.title in hidden)
    assert all(title in note for title in hidden)


def is_short_of(shown: str, text: str) -> bool:
    """Return whether a text was shortened at its end, or not at all, to what is shown."""
    return shown == text or (shown.endswith(ELLIPSIS) and text.startswith(shown.removesuffix(ELLIPSIS)))


def test_every_list_of_a_command_is_tested_here() -> None:
    folder = Path(swapcli.faces.cli.__file__).parent
    tested = {name.split(" ")[0].removesuffix("/__init__") for name in TABLES}
    building = {
        file.relative_to(folder).with_suffix("").as_posix()
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ListView"
    }
    assert building == tested | {"render/terminal_tables"}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@given(text=TEXTS, width=st.integers(60, 130))
def test_a_table_fits_where_an_ellipsis_is_three_characters(encoding: str, text: str, width: int) -> None:
    listing = ListView((Column("name"), Column("address")), ((text, "0x" + "1" * 40), ("b" * 90, "0x" + "2" * 40)))
    heads, *rows, note = draw_list(listing, width, encoding)
    assert all(cell_len(line) <= width for line in (heads, *rows, note))
    assert all(cells_of(row)[heads.index("Address") :][:2] == ["0", "x"] for row in rows)


@given(text=TEXTS | AMOUNTS | AMOUNTS.map("{} USDC".format), width=st.integers(5, 90))
def test_a_shortened_cell_fits_and_says_so(text: str, width: int) -> None:
    for keeps_end in (False, True):
        short = shorten_cell(text, width, cell_len, keeps_end=keeps_end)
        assert cell_len(short) <= width
        assert short == text or ELLIPSIS in short or "e+" in short


@given(amount=AMOUNTS, unit=st.sampled_from(["", " USDC"]), width=st.integers(5, 90))
def test_a_shortened_amount_never_looks_smaller(amount: str, unit: str, width: int) -> None:
    short = shorten_cell(f"{amount}{unit}", width)
    number = short.removesuffix(unit).removesuffix(ELLIPSIS).replace(",", "")
    exact = Decimal(amount.replace(",", ""))
    if number:
        assert Decimal(number) >= exact * Decimal("0.5") - 1
        assert "e" in number or int(Decimal(number)) == int(exact)


@pytest.mark.parametrize(
    ("amount", "width", "shown"),
    [
        ("0.1 USDC", 6, "…"),
        ("0.123 USDC", 7, "…"),
        ("12.345 USDC", 7, "1e+1"),
        ("12.345 USDC", 8, "1.200e+1"),
        ("12.345 USDC", 9, "12.… USDC"),
        ("12.345 USDC", 10, "12.3… USDC"),
    ],
)
def test_an_amount_without_its_decimals_says_so(amount: str, width: int, shown: str) -> None:
    """Neither 0.1 as 0, nor 12.345 as 12."""
    assert shorten_cell(amount, width) == shown


def test_addresses_inside_of_a_text_become_short_ids() -> None:
    address = "0xB2cc224c1c9feE385f8ad6a55b4d94E92359DC59"
    assert shorten_cell(f"{address}/USDC", 20) == "0xb2cc…dc59/USDC"
    assert shorten_cell("/home/me/.local/share/swapcli/base.sqlite", 20, keeps_end=True) == "/home/me/.…se.sqlite"


COMMANDS: tuple[tuple[str, ...], ...] = (
    *((command, network) for command in ("tokens", "protocols", "pools") for network in network_names()),
    ("networks",),
    ("pools", "base", "--verbose", "--limit", "0"),
    ("pools", "base", "--router-dialect", "settler"),
    ("price", "base", "ETH", "cbBTC", "AERO"),
    ("price", "starknet", "ETH", "STRK"),
    ("compare", "base", "cbBTC", "DAI", "2"),
    ("compare", "starknet", "ETH", "USDC", "2"),
    ("depth", "citrea", "cBTC", "ctUSD"),
    ("plan", "base", "ETH", "USDC", "500", "--over", "4h", "--parts", "3"),
    ("route", "base", "cbBTC", "DAI", "20", "--verbose"),
    ("route", "starknet", "ETH", "USDC", "2000", "--verbose"),
    ("health",),
    ("config", "show"),
    ("schema",),
)


def list_heights(text: str, titles: set[str]) -> set[int]:
    """Return the numbers of lines of the lists in an output, which begin with one of these titles."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    lists = [block for block in blocks if re.split(" {2,}", block[0])[0] in titles]
    return {len([*takewhile(lambda line: not line.startswith("In "), block)]) for block in lists}


@pytest.mark.parametrize("command", few(COMMANDS, 6), ids=" ".join)
def test_a_command_prints_a_line_for_each_row(command: tuple[str, ...]) -> None:
    plain = run_swapcli(*command, "--format=plain").stdout
    titles = {column.heading for columns in TABLES.values() for column in columns}
    for width in WIDTHS:
        ran = run_swapcli(*command, "--format=table", env={"COLUMNS": str(width)})
        assert ran.exit_code == 0
        assert max(map(cell_len, ran.stdout.splitlines())) <= width
        if command[0] == "route":
            assert re.findall(r" #\d+ ", ran.stdout) == re.findall(r" #\d+ ", plain)
            assert re.findall(r"(?m)^#\d+ +(\S+)", ran.stdout) == re.findall(r"(?m)^#\d+ +(\S+)", plain)
        else:
            # A list of columns that went below may be shorter: it leaves out rows that say nothing.
            assert max(list_heights(ran.stdout, titles)) == max(list_heights(plain, titles))
