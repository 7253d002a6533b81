"""`swapcli backtest`: the output of many orders at past blocks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption, SwapcliError
from swapcli.core.encoding.text import printable
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import LimitOptions, OutputOptions, argument, option, parse_workers, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli import BacktestOrder, BacktestQuote
    from swapcli.quoting.backtest import PastQuotes

PUBLIC = ()

app = CommandApp()

_BLOCKS = "Blocks and results"
_is_range = re.compile(r"([0-9][0-9,_]{0,23})\.\.([0-9][0-9,_]{0,23})").fullmatch


class BlockAnswer(NamedTuple):
    """The quotes at one block, or the error that ends the backtest."""

    quotes: "list[BacktestQuote]"
    error: SwapcliError | None = None


@app.command(formats=LIST_FORMATS)
def backtest(
    network: options.NetworkName,
    orders: Annotated[str, argument("FILE", "Orders, CSV or JSON (swapcli help history); - is stdin.")],
    *,
    blocks: Annotated[str | None, option("--blocks", "First and last block.", _BLOCKS, "A..B")] = None,
    every: Annotated[str | None, option("--every", "Quote at every K-th block.  [default: 1]", _BLOCKS, "K")] = None,
    results: Annotated[
        str | None, option("--results", "Write each quote to this file (.csv or .jsonl).", _BLOCKS, "FILE")
    ] = None,
    resume: Annotated[bool, option("--resume", "Continue after the last block in the file.", _BLOCKS)] = False,
    workers: Annotated[
        str | None, option("--workers", "Number of quoting processes.  [default: 1]", _BLOCKS, "N")
    ] = None,
    limits: LimitOptions,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    no_cache: options.NoCache = False,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Quote many orders at past blocks.

    \b
    Examples:
      swapcli backtest base orders.csv --blocks 23000000..23100000 --every 1000
      swapcli backtest base orders.csv --blocks 23000000..23000100 --workers 2

    Quotes every order at every K-th block, with that block's state and gas price. The summary shows the rates, and how
    often the split route beats the best single path after gas. --format csv prints each quote, and --results saves each
    one. Old blocks need an archive node. Data from final blocks is cached, so a second run needs no node.

    See also: swapcli help history.
    """
    numbers = _parse_blocks(blocks, every)
    worker_count = parse_workers(workers)
    if resume and results is None:
        raise InvalidOption("--resume needs the file with the earlier results", hint="add --results FILE")
    flags = settings_of(limits, store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url, formats=LIST_FORMATS)
    from swapcli import Backtest
    from swapcli.faces.cli.commands.backtest.orders import read_orders
    from swapcli.faces.cli.commands.backtest.results import CSV_COLUMNS, csv_rows, open_results
    from swapcli.faces.cli.progress import ProgressLine
    from swapcli.faces.garbage_collection import enable_garbage_collection
    from swapcli.state.clock import SYSTEM_CLOCK

    enable_garbage_collection()
    with session.open_known_market(network) as market:
        where, found = market.network, read_orders(orders, market.token, raw=limits.raw)
    opened = _Opener(session, network, found, use_cache=not no_cache)
    quotes: list[BacktestQuote] = []
    with ExitStack() as stack:
        with ExitStack() as opening:
            opened.open_quotes(opening).check(numbers[-1])
        file = None
        if results is not None:
            file = stack.enter_context(open_results(results, where, resume=resume))
            quotes = file.read_earlier(numbers, found, opened.quote_once)
        done = len(quotes) // len(found)
        stream = sys.stderr if sys.stderr.isatty() and not session.output.is_quiet else None
        progress = ProgressLine(SYSTEM_CLOCK, stream, "blocks", len(numbers), done)
        stack.enter_context(closing(progress))
        for answer in opened.answer_all(numbers[done:], worker_count):
            if answer.error is not None:
                if file is not None:
                    again = "--resume continues after the last block with results"
                    answer.error.hint = f"{answer.error.hint}; {again}" if answer.error.hint else again
                raise answer.error
            quotes += answer.quotes
            if file is not None:
                file.write(answer.quotes, found)
            progress.add()
    result = Backtest.of(where, numbers, found, quotes)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(result if results is None else result._replace(quotes=None))
    elif session.output.format is OutputFormat.CSV:
        session.output.print_rows(csv_rows(quotes, found, where), CSV_COLUMNS)
    else:
        from swapcli.faces.cli.commands.backtest.view import build_backtest_view

        session.output.print_details(build_backtest_view(result))
    return exit_codes.OK


class _Opener:
    """Opens the source of quotes at blocks: the node with its cache, and the known pools."""

    def __init__(self, session: Session, network: str, orders: "list[BacktestOrder]", *, use_cache: bool) -> None:
        self._session, self._network, self._orders, self._use_cache = session, network, orders, use_cache

    def open_quotes(self, stack: ExitStack) -> "PastQuotes":
        """Open the source of quotes at a block, until `stack` is closed."""
        market = stack.enter_context(self._session.open_known_market(self._network))
        return stack.enter_context(market.past_quotes(self._orders, use_cache=self._use_cache))

    def quote_once(self, block: int) -> "list[BacktestQuote]":
        """Return the quotes of one block."""
        with ExitStack() as stack:
            return self.open_quotes(stack).at(block)

    def answer_all(self, blocks: range, worker_count: int) -> Iterable[BlockAnswer]:
        """Yield the result of each block, in order. Public nodes are read by a single process, within their limits."""
        is_public = self._session.nodes.rules.named_nodes(self._session.networks.find(self._network)) is None
        if worker_count == 1 or is_public or len(blocks) == 1:
            with ExitStack() as stack:
                yield from map(self._open_answer(stack), blocks)
            return
        from swapcli.faces.cli.process_workers import answer_in_processes

        stacks = []

        def open_answer() -> Callable[[int], BlockAnswer]:
            stacks.append(ExitStack())  # until the process ends
            with redirect_stderr(StringIO()):  # notes on opening, already printed
                return self._open_answer(stacks[-1])

        yield from answer_in_processes(blocks, worker_count, open_answer, are_at_hand=True)

    def _open_answer(self, stack: ExitStack) -> Callable[[int], BlockAnswer]:
        past = self.open_quotes(stack)

        def answer(block: int) -> BlockAnswer:
            try:
                return BlockAnswer(past.at(block))
            except SwapcliError as error:
                return BlockAnswer([], error)

        return answer


def _parse_blocks(text: str | None, every: str | None) -> range:
    """Return the numbers of the blocks at which to quote. Raises `InvalidOption`."""
    example = "such as --blocks 23000000..23100000 --every 1000"
    if text is None:
        raise InvalidOption("a backtest needs a range of blocks", hint=example)
    match = _is_range(text.strip())
    if match is None:
        raise InvalidOption(f'--blocks: "{printable(text[:80])}" is not a range of blocks', hint=example)
    first, last = (int(part.replace(",", "").replace("_", "")) for part in match.groups())
    if last < first:
        raise InvalidOption(f"--blocks: the last block {last:,} comes before the first {first:,}", hint=example)
    step = 1
    if every is not None:
        plain = every.strip().replace(",", "").replace("_", "")
        if not (plain.isascii() and plain.isdecimal() and int(plain[:18]) > 0):
            raise InvalidOption("--every: expected a whole number above zero", hint=example)
        step = int(plain[:18])
    return range(first, last + 1, step)
