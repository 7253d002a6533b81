"""No malicious payload of the generator passes `decode`, and no honest one in the same forms is stopped."""

from __future__ import annotations

import pytest

from tests.examples import examples, generator
from tests.faces.cli.commands.decode import malicious_handoffs, malicious_payloads
from tests.faces.cli.commands.decode.malicious_payloads import Case, decoded, honest

KINDS = {**malicious_payloads.KINDS, **malicious_handoffs.KINDS}

STOPPED = {2, 7}
"""What cannot be read, and what is dangerous."""


def _described(case: Case) -> str:
    return f"{case.kind}: {case.change}: {case.text[:1_500]}"


@pytest.mark.parametrize("kind", KINDS)
def test_no_malicious_payload_passes(kind: str) -> None:
    rng = generator(f"malicious {kind}")
    for _ in range(examples(5, full=300, fuzz=300)):
        case = KINDS[kind](rng)
        ran = decoded(case)
        assert ran.exit_code in STOPPED, f"{ran.exit_code} {_described(case)} {ran.stderr[-300:]}"


def test_no_honest_payload_of_these_forms_is_stopped() -> None:
    rng = generator("honest forms")
    for _ in range(examples(10, full=500, fuzz=500)):
        case = honest(rng)
        ran = decoded(case)
        assert (ran.exit_code, ran.json.get("dangers", [])) == (0, []), f"{_described(case)} {ran.stdout[-600:]}"
