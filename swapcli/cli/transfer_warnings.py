"""What is said of tokens whose transfers are not known to be exact."""

from __future__ import annotations

from swapcli.cli.output import Output
from swapcli.cli.render.words import clean
from swapcli.engine.answer import Answer


def warn_of_transfers(output: Output, answer: Answer) -> None:
    """Warn of the tokens of a route that may not arrive as quoted, with the warning's code; once of each in a batch."""
    if not answer.transfers:
        return
    from swapcli.engine.routable import transfer_warnings

    for code, message in transfer_warnings(answer):
        sentence = clean(f"{message} ({code})")
        if sentence not in output.held:
            output.remark(sentence)
