"""The options `--permit` and `--signature`, for the permits of `quoting.permits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli import InvalidOption, Network, SwapTerms
from swapcli.faces.cli.options import PayloadOptions
from swapcli.faces.cli.output import COMMON_FORMATS
from swapcli.faces.cli.session import Session
from swapcli.payload.signing.deadlines import parse_deadline_s
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli import RouteResult


def parse_permit_deadline(options: PayloadOptions, signature: str | None) -> int | None:
    """Return the Unix time of --deadline, or None if it is missing.

    Raises `InvalidOption` for --permit or --signature without a deadline, or for both, and `InvalidDeadline`.
    """
    if options.permit and signature is not None:
        raise InvalidOption(
            "--permit prints a message to sign, and --signature takes its signature: use only one of them"
        )
    flag = "--permit" if options.permit else "--signature"
    if (options.permit or signature is not None) and options.deadline is None:
        hint = (
            "--deadline +1200" if options.permit else "use the --deadline that you gave with --permit, as Unix seconds"
        )
        raise InvalidOption(f"{flag} needs --deadline, the time when the permit expires", hint=hint)
    return None if options.deadline is None else parse_deadline_s(options.deadline, SYSTEM_CLOCK.now_s())


def print_permit(
    session: Session, network: Network, route: tuple[RouteResult, SwapTerms], router: str, owner: str | None
) -> None:
    """Print, as JSON, the message that lets a router take a route's input. The `owner`, otherwise the recipient, has to
    sign it. Raises `InvalidOption`."""
    from swapcli.quoting.permits import PermittedSwap, permit_message

    result, terms = route
    if terms.deadline_s is None:
        raise InvalidOption("a permit needs a --deadline", hint="for example --deadline +20m")
    swap = PermittedSwap(result, network, router, owner or terms.required_recipient, terms.deadline_s)
    message = permit_message(session.nodes, swap, "--permit")
    if session.output.format not in COMMON_FORMATS:
        raise InvalidOption(
            f"--permit prints a message, which cannot be printed with --format {session.output.format}",
            hint="remove --format",
        )
    session.output.note(
        f"after you have signed it: swapcli execute ROUTE --deadline {swap.deadline_s} --signature SIGNATURE"
    )
    session.output.print_document(message)
