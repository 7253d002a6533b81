"""Render the report as one HTML page, without scripts and external files and with all text escaped, for light mode,
dark mode and print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from swapcli.core.encoding.text import printable, shorten_id
from swapcli.core.model.number_format import format_time
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.model.token import whole_tokens
from swapcli.core.version import __version__
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.prove_report import OUTCOMES, ProveReport, outcome_word

_TITLES: Final = {
    ProofStage.NODES: (
        "Nodes",
        "The features each node supports, and whether its latest block is recent by this machine's clock.",
    ),
    ProofStage.QUOTES: (
        "Live quotes",
        "Each order was quoted at the latest block, and its payload simulated at the same block. A match paid the"
        " quoted amount to the base unit.",
    ),
    ProofStage.SWAPS: (
        "Mined swaps",
        "The latest swaps of each protocol, each quoted on the state just before it. In a match, the quote equals "
        "the mined amount to the base unit.",
    ),
    ProofStage.OFFERS: (
        "Aggregators",
        "Simulated offers from aggregators that need no key. A match paid the promised amount, within slippage.",
    ),
    ProofStage.PROOFS: (
        "Certificates",
        "The proof of each quote, checked by a program that shares no code with swapcli. The files are in the folder"
        " proofs next to this page.",
    ),
}
_HIDDEN_FACTS: Final = frozenset({"sha256"})
_ID_CHARACTERS: Final = 40
"""The length above which hex words are hashes or addresses. The page shortens them, and the JSON has them in full."""

_STYLE: Final = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #16191d; --muted: #5a6472; --line: #dfe3e8;
  --good: #12703c; --bad: #b3261e; --open: #7a5b00; }
@media (prefers-color-scheme: dark) { :root { --page: #111418; --card: #1a1f25; --text: #e8ebef; --muted: #9aa5b1;
  --line: #303840; --good: #5fd08e; --bad: #ff8a80; --open: #e0bd5a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem; display: grid; gap: 1.25rem;
  grid-template-columns: minmax(0, 1fr); }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 1.15rem; } p { margin: .3rem 0; }
section, header { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.25rem; }
.verdict { font-size: 1.1rem; font-weight: 600; }
.muted, dt, th { color: var(--muted); }
.counts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin-top: .75rem; }
.counts b { font-size: 1.6rem; font-variant-numeric: tabular-nums; }
.match { color: var(--good); } .difference { color: var(--bad); } .notChecked { color: var(--open); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .75rem 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: .75rem; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { font-weight: 500; border-top: 0; white-space: nowrap; }
td[data-name=What] { min-width: 11rem; } td[data-name=Block] { white-space: nowrap; }
td.amount { min-width: 5rem; } td[data-name=Expected], td[data-name=Found] { min-width: 10rem; }
td.outcome { font-weight: 600; white-space: nowrap; } td.amount { font-variant-numeric: tabular-nums; }
td small { display: block; color: var(--muted); } code { font-size: .85rem; overflow-wrap: anywhere; }
li { margin: .2rem 0; overflow-wrap: anywhere; } ul { margin: .5rem 0 0; padding-left: 1.2rem; }
@media (max-width: 40rem) { main { padding: .75rem; } section, header { padding: 1rem; }
  table, tbody, tr, td { display: block; width: 100%; } thead { display: none; }
  tr { border-top: 1px solid var(--line); padding: .5rem 0; }
  td, td[data-name] { border: 0; padding: .1rem 0; min-width: 0; } td:empty { display: none; }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--muted); } }
@media print { :root { --page: #fff; --card: #fff; --text: #000; --muted: #444; --line: #bbb; --good: #0a5a2d;
  --bad: #9b1c15; --open: #5f4700; } body { font-size: 10pt; } main { padding: 0; display: block; }
  section, header { border: 0; padding: 0; margin: 0 0 1rem; } tr { break-inside: avoid; } h2 { break-after: avoid; } }
"""


def render_page(report: ProveReport) -> str:
    """Return the page as a complete HTML document."""
    title = f"swapcli on {report.network.name}: what was checked"
    sections = "".join(_section(report, stage) for stage in ProofStage)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{_header(report, title)}{sections}{_limits(report)}{_repeat(report)}</main>\n</body>\n</html>\n"
    )


def _header(report: ProveReport, title: str) -> str:
    counts = "".join(
        f'<div><b class="{outcome.value}">{count}</b> {outcome_word(outcome, count)}</div>'
        for outcome in ProofOutcome
        for count in [report.count(outcome)]
    )
    blocks = "none" if report.blocks is None else " to ".join(f"{block:,}" for block in dict.fromkeys(report.blocks))
    facts = {
        "Network": f"{report.network.name}, chain {report.network.chain_id}",
        "Blocks": blocks,
        "Time": f"{format_time(report.started_at_s)} to {format_time(report.finished_at_s)}",
        "Contacted": ", ".join(report.hosts),
        "Account": f"{UNOWNED_ADDRESS}, which has no owner",
        "Requests": f"{report.requests:,} to nodes, of {report.max_requests:,} allowed; {report.time_s:,.0f} s",
        "Versions": f"swapcli {__version__}, Python {report.python}",
    }
    if report.resumed_items:
        facts["Earlier runs"] = f"{report.resumed_items:,} checks come from earlier runs in this folder"
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in facts.items())
    verdict, kind = _verdict(report)
    return (
        f'<header><h1>{_text(title)}</h1><p class="verdict {kind.value}">{_text(verdict)}</p>'
        f'<div class="counts">{counts}</div><dl>{rows}</dl></header>\n'
    )


def _verdict(report: ProveReport) -> tuple[str, ProofOutcome]:
    differences, matches = report.count(ProofOutcome.DIFFERENCE), report.count(ProofOutcome.MATCH)
    tail = " The run was interrupted." if report.was_interrupted else ""
    if differences:
        return (
            f"{differences} {outcome_word(ProofOutcome.DIFFERENCE, differences)} found.{tail}",
            ProofOutcome.DIFFERENCE,
        )
    if matches:
        return f"Everything that could be checked matches.{tail}", ProofOutcome.MATCH
    return f"Nothing could be checked.{tail}", ProofOutcome.NOT_CHECKED


def _section(report: ProveReport, stage: ProofStage) -> str:
    title, explanation = _TITLES[stage]
    items = sorted(report.of(stage), key=lambda item: OUTCOMES.index(item.outcome))
    counts = report.counts_in_words(stage)
    head = f'<section><h2>{title}</h2><p class="muted">{explanation}</p><p>{counts or "Nothing was checked."}</p>'
    return f"{head}{_table(items)}</section>\n"


def _table(items: list[ProofItem]) -> str:
    if not items:
        return ""
    has_amounts = any(item.expected is not None or item.found is not None for item in items)
    names = ["Outcome", "What", *(["Expected", "Found"] if has_amounts else []), "Block", "Reason and figures"]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(f"<tr>{''.join(_cells(item, has_amounts=has_amounts))}</tr>" for item in items)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cells(item: ProofItem, *, has_amounts: bool) -> Iterator[str]:
    yield f'<td class="outcome {item.outcome.value}">{outcome_word(item.outcome, 1)}</td>'
    yield f'<td data-name="What">{_text(item.title)}</td>'
    if has_amounts:
        for name, amount in (("Expected", item.expected), ("Found", item.found)):
            yield f'<td class="amount" data-name="{name}">{_amount(item, amount)}</td>'
    yield f'<td class="amount" data-name="Block">{"" if item.block is None else f"{item.block:,}"}</td>'
    yield f"<td>{_text(item.reason)}{_small(item)}</td>"


def _small(item: ProofItem) -> str:
    shown = "; ".join(f"{name}: {value}" for name, value in item.facts.items() if name not in _HIDDEN_FACTS)
    return f"<small>{_text(shown)}</small>" if shown else ""


def _amount(item: ProofItem, amount: int | None) -> str:
    return "" if amount is None else _text(f"{whole_tokens(amount, item.decimals)} {item.token}")


def _limits(report: ProveReport) -> str:
    rows = "".join(f"<li>{_text(sentence)}</li>" for sentence in report.unchecked)
    return f"<section><h2>What was not checked</h2><ul>{rows}</ul></section>\n"


def _repeat(report: ProveReport) -> str:
    name = report.network.name
    commands = {
        f"swapcli prove {name} --fresh": "repeats all checks and rewrites this report",
        f"swapcli verify {name} TX": "verifies one mined transaction",
        "python3 check_proof.py proofs/FILE": "checks one proof, with scripts/check_proof.py from the source",
    }
    rows = "".join(f"<li><code>{_text(command)}</code> {_text(what)}</li>" for command, what in commands.items())
    return f"<section><h2>Check it yourself</h2><ul>{rows}</ul></section>\n"


def _text(text: str) -> str:
    """Return a text as HTML: escaped, without control characters, and with long hashes shortened."""
    return escape(" ".join(_shortened(printable(text).split(" "))))


def _shortened(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        bare = word.rstrip(",.;:)")
        is_id = bare.startswith("0x") and len(bare) > _ID_CHARACTERS
        yield f"{shorten_id(bare)}{word[len(bare) :]}" if is_id else word
