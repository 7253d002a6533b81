"""The options of `swapcli route` for many orders."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Sequence
from typing import Annotated

from swapcli import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import UsageError
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.options import OutputOptions, option, parse_workers
from swapcli.faces.cli.output import FormatOptions, OutputFormat

_BATCH = "Many orders"


class BatchOptions(NamedTuple):
    """Options for which orders to quote, in how many processes, and where to write the results."""

    batch: Annotated[str | None, option("--batch", "Quote the orders in this file; - is stdin.", _BATCH, "FILE")] = None
    workers: Annotated[str | None, option("--workers", "Number of quoting processes.  [default: 1]", _BATCH, "N")] = (
        None
    )
    results: Annotated[str | None, option("--results", "Write the results to this file.", _BATCH, "FILE")] = None
    resume: Annotated[bool, option("--resume", "Continue after the last result in the file.", _BATCH)] = False

    @property
    def worker_count(self) -> int:
        """The number of processes. Raises `InvalidOption`."""
        return parse_workers(self.workers)

    def with_format_of_results(self, output: OutputOptions) -> OutputOptions:
        """Return the output options, with the format that the results file's name implies. Raises the same errors as
        `format_of_file`."""
        from swapcli.faces.cli.output_file import format_of_file
        from swapcli.faces.cli.results_file import RESULTS

        assert self.results is not None
        requested = FormatOptions(output.json, output.format)
        found = format_of_file(self.results, requested, (OutputFormat.JSON, OutputFormat.CSV), option=RESULTS)
        return output._replace(format=found) if found == OutputFormat.CSV else output

    def check_absent(self) -> None:
        """Raise `InvalidOption` if an option that needs a batch is given without one."""
        for name, value in (("--workers", self.workers), ("--results", self.results), ("--resume", self.resume)):
            if value is not None and value is not False:
                raise InvalidOption(f"{name} needs --batch", hint="add --batch FILE")

    def check(self, words: Sequence[str], output: OutputOptions, market: object, *, proof: str | None) -> None:
        """Raise an error if the command line has words or options that cannot be combined with --batch."""
        if proof is not None:
            raise InvalidOption(
                "--proof writes the proof of one quote, so it cannot be combined with --batch",
                hint="quote one order with --proof; --certify adds its bounds to each line of a batch",
            )
        if words:
            raise UsageError("--batch reads the orders from a file: give only NETWORK")
        if output.format in (OutputFormat.PLAIN, OutputFormat.TABLE):
            raise InvalidOption(f"--batch prints JSON or CSV, so it cannot be combined with --format {output.format}")
        if self.batch == STDIN == str(market):
            raise InvalidOption("--batch and --market cannot both read stdin")
        if self.resume and self.results is None:
            raise InvalidOption("--resume needs the file with the earlier results", hint="add --results FILE")
        if self.resume and output.get is not None:
            raise InvalidOption(
                "--resume needs complete results, so it cannot be combined with --get", hint="remove --get"
            )
