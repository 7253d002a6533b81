"""`swapcli compare`: compare the ways to fill one order, including offers of services with the same API."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.model.live_and_check_modes import CHECK_MODES, CheckMode
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, OptionalValue
from swapcli.faces.cli.files import check_folder
from swapcli.faces.cli.options import (
    SOURCE,
    LimitOptions,
    LocalSourceOptions,
    OutputOptions,
    option,
    settings_of,
    split_lists,
    split_names,
)
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import QuoteContext, open_local_context, read_order, split_words
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swapcli.quoting.aggregator_options import AggregatorOptions
    from swapcli.quoting.sources.quote_source import QuoteSource

PUBLIC = ()

app = CommandApp()

AGGREGATORS = "Aggregators"


def _names_aggregators(word: str) -> bool:
    """Return whether the word after --aggregators is the name of a packaged aggregator."""
    from swapcli.quoting.openers.choose_aggregators import ALL, packaged_names

    return any(name in (ALL, *packaged_names()) for name in split_lists([word]))


def _names_own_aggregators(word: str, words: "Sequence[str]") -> bool:
    """Return whether the word after --aggregators names an aggregator from the settings or a package, not a network."""
    from swapcli.core.networks.definition_files import packaged_networks
    from swapcli.core.plugins import AGGREGATOR_GROUP, plugins
    from swapcli.faces.cli.errors import peek_setting

    own = peek_setting("aggregators", words)
    if word.lower() in packaged_networks():
        return False
    known = own if isinstance(own, dict) else {}
    return any(name in known or name in plugins(AGGREGATOR_GROUP) for name in split_lists([word]))


@app.command(formats=LIST_FORMATS)
def compare(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    limits: LimitOptions,
    certify: options.Certify = False,
    proof: options.ProofFile = None,
    api_url: Annotated[
        list[str] | None, option("--api-url", "Also compare this service (repeatable).", SOURCE, "URL")
    ] = None,
    api_key_file: options.ApiKeyFile = None,
    aggregators: Annotated[
        list[str] | None,
        option(
            "--aggregators",
            "Also send the order to aggregators: a,b,c.  [default: all]",
            AGGREGATORS,
            "[NAMES]",
            OptionalValue("all", _names_aggregators, _names_own_aggregators),
        ),
    ] = None,
    sender: Annotated[
        str | None,
        option("--from", "Sender for offers and simulations.  [default: an unused address]", AGGREGATORS, "ADDRESS"),
    ] = None,
    check: Annotated[
        str | None,
        option(
            "--check",
            "Simulate on your nodes; `always` adds public ones.  [default: auto]",
            AGGREGATORS,
            f"[{'|'.join(CHECK_MODES)}]",
            OptionalValue(CheckMode.ALWAYS.value, CHECK_MODES.__contains__),
        ),
    ] = None,
    source: LocalSourceOptions,
    output: OutputOptions,
) -> int:
    """Compare routes, services and aggregators for an order.

    \b
    Examples:
      swapcli compare base ETH USDC 25
      swapcli compare base ETH USDC 25 --api-url https://api.example.com
      swapcli compare base ETH USDC 25 --aggregators lifi,kyberswap

    Compares the split route, the best single path, the best direct swap, each protocol on its own, and services. The
    best output after gas comes first. All routes computed on this machine use the same state. If a service fails, the
    exit status is still 0. An API key is sent only to the service in the settings or, if you give exactly one
    --api-url, to that service.

    --aggregators sends the tokens, the amount and the sender to the aggregators. Their offers are simulated on a node
    and ranked by the simulated output. See swapcli help aggregators.
    """
    session = open_session(
        output,
        settings_of(limits, source, api_key_file=api_key_file, check=check),
        rpc_url=source.rpc_url,
        offline=source.offline,
        quotes_past_blocks=True,
        formats=LIST_FORMATS,
    )
    network, words = split_words(session, (network, token_in, token_out, amount))
    written = read_order(words, "compare", network, raw=limits.raw)
    names = split_names("--aggregators", aggregators)
    if names and session.setup.block is not None:
        raise InvalidOption("aggregators quote on their own state, so --block cannot be combined with --aggregators")
    if proof is not None:
        check_folder("--proof", proof)
    context = open_local_context(session, network, certify=certify, proof=proof is not None)
    order = context.build_order(written)
    urls = _service_urls(session, api_url or (), is_past=session.setup.block is not None)
    asked = _aggregator_options(context, names, sender)
    from swapcli.faces.cli.commands.compare.view import build_comparison_details, csv_documents

    with ExitStack() as stack:
        services = _open_services(session, context.network.name, urls)
        for each in services:
            stack.enter_context(closing(each[1]))
        found = context.market.compare_order(order, context.options, services, asked)
    failure = found.split.error
    if failure and all(each.amount_out is None for each in found.alternatives):
        raise failure
    if proof is not None:
        found = found.write_proof(proof)
    if found.figures:
        session.output.warn(found.figures.warnings, is_labelled=session.output.is_for_people)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    elif session.output.format is OutputFormat.CSV:
        session.output.print_rows(csv_documents(found))
    else:
        session.output.print_details(build_comparison_details(found))
    return exit_codes.status_of(failure) if failure else exit_codes.OK


def _service_urls(session: Session, given: "tuple[str, ...] | list[str]", *, is_past: bool) -> list[str]:
    if is_past:
        if given:
            raise InvalidOption("a service quotes on its own state, so --block cannot be combined with --api-url")
        return []
    if session.setup.is_offline and given:
        raise InvalidOption(
            "a service is reached over the network, so --offline cannot be combined with --api-url",
            hint="use only one of them",
        )
    configured = [session.settings.api_url] if session.settings.api_url and not session.setup.is_offline else []
    return list(dict.fromkeys(given or configured))


def _aggregator_options(context: QuoteContext, names: list[str], sender: str | None) -> "AggregatorOptions | None":
    """Return the aggregators to query; None if none are named. Raises `InvalidOption`, `InvalidAddress`."""
    if not names:
        if sender is not None:
            raise InvalidOption("--from is used only with --aggregators", hint="add --aggregators")
        return None
    session, network = context.session, context.network
    if session.setup.is_offline:
        raise InvalidOption(
            "aggregators are queried over the network, so --offline cannot be combined with --aggregators",
            hint="use only one of them",
        )
    from swapcli.core.networks.address import display_address
    from swapcli.faces.cli.account_options import SENDER, parse_account_option

    address = None if sender is None else parse_account_option(sender, network, session, SENDER)
    chosen = context.market.choose_aggregators(names, address)
    assert chosen is not None
    whose = " (an address without an owner)" if sender is None else ""
    shown = display_address(chosen.sender, network.kind)
    session.output.note(f"the tokens, the amount and the sender {shown}{whose} are sent to {', '.join(chosen.hosts)}")
    if chosen.left_out:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in chosen.left_out.items())
        session.output.note(f"not queried: {reasons}")
    return chosen


def _open_services(session: Session, network: str, urls: list[str]) -> "list[tuple[str, QuoteSource]]":
    """Return the sources of services by URL. Raises `ConfigError` for an invalid one."""
    opened = []
    for url in urls:
        sends_key = len(urls) == 1 or url == session.settings.api_url
        service = session.sources.open_service(network, url, sends_key=sends_key)
        opened.append((service.state_source.service_url or url, service))
    return opened
