"""The last stage: check each quote's proof with the proof checker, which shares no code with swapcli."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from swapcli.core.model.number_format import format_bps_rounded_up
from swapcli.quoting.proof_checker import find_checker
from swapcli.quoting.proving.check_quotes import proof_name
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext

_MAX_CHECK_S: Final = 60.0
"""Maximum time of a check. Checking a proof of 220 pools takes some seconds. Chosen."""
_MIN_CHECK_S: Final = 5.0
"""Minimum time that a check gets, even if the run's time is almost over. Chosen."""
_ACCEPTED, _REJECTED = 0, 1
_FILE: Final = "file"


def check_proofs(run: RunContext) -> Iterator[ProofItem]:
    """Yield an item for each proof."""
    titles = {run.journal.proof_file(proof_name(n, order)).name: order.title for n, order in enumerate(run.orders, 1)}
    checker = find_checker()
    for file in run.journal.proof_files():
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        title = titles.get(file.name, file.name)
        done = run.journal.find(ProofStage.PROOFS, file.name)
        if done is not None and done.facts.get("sha256") == digest:
            continue
        item = ProofItem(
            ProofStage.PROOFS, file.name, title, ProofOutcome.NOT_CHECKED, facts={_FILE: file.name, "sha256": digest}
        )
        if checker is None:
            yield item._replace(reason="this installation does not include the checker (scripts/check_proof.py)")
        elif run.budget.spent == "time":
            yield item._replace(reason=run.why_spent())
        else:
            yield _check(checker, file, item, max(min(run.budget.part_left_s, _MAX_CHECK_S), _MIN_CHECK_S))


def _check(checker: Path, file: Path, item: ProofItem, timeout_s: float) -> ProofItem:
    """Run the checker in an isolated interpreter, which cannot import this program or read its settings."""
    command = [sys.executable, "-I", str(checker), str(file), "--json"]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return item._replace(reason=f"the checker did not finish within {timeout_s:,.0f} s")
    except OSError as error:
        return item._replace(reason=f"the checker could not be started: {error.strerror or error}")
    found = _parse(ran.stdout)
    reason = str(found.get("reason") or ran.stderr.decode(errors="replace").strip())
    facts = {**item.facts, **_figures(found)}
    if ran.returncode == _ACCEPTED and found.get("accepted") is True:
        return item._replace(outcome=ProofOutcome.MATCH, facts=facts)
    if ran.returncode == _REJECTED and found.get("accepted") is False:
        return item._replace(outcome=ProofOutcome.DIFFERENCE, reason=f"the checker rejects it: {reason}", facts=facts)
    return item._replace(outcome=ProofOutcome.DIFFERENCE, reason=f"the checker cannot read it: {reason}")


def _bps(gap: object) -> str:
    return format_bps_rounded_up(gap) if isinstance(gap, int | float) else str(gap)


def _parse(output: bytes) -> dict[str, Any]:
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _figures(found: dict[str, Any]) -> dict[str, str]:
    bounds = found.get("bounds")
    rows = [each for each in bounds if isinstance(each, dict)] if isinstance(bounds, list) else []
    figures = {f"gap of {each.get('kind')}": f"{_bps(each.get('gapBps'))} bps" for each in rows}
    taken = found.get("onFaith")
    families: dict[str, list[str]] = {}
    for what, family, count, _ in taken if isinstance(taken, list) else ():
        families.setdefault(f"not checked: {what}", []).append(f"{family} ({count})")
    return figures | {what: ", ".join(names) for what, names in families.items()}
