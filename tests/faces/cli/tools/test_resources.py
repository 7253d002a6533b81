"""The skill and every topic are resources, and the prompt leads through the tools."""

from __future__ import annotations

from swapcli.faces.cli.help_topics import ORDER, topic_text
from swapcli.faces.cli.tools.payload_memory import PayloadMemory
from swapcli.faces.cli.tools.proof_memory import MAX_PROOFS, ProofMemory
from swapcli.faces.cli.tools.resources import PROMPTS, SKILL_URI, build_resources
from swapcli.faces.cli.tools.skill import skill
from swapcli.faces.cli.tools.tool_table import find_tool

GIVEN = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5", "destination": "0x11"}


def test_every_listed_resource_can_be_read() -> None:
    resources = build_resources(PayloadMemory(), ProofMemory())
    read = {each.uri: resources.read(each.uri) for each in resources.listed}
    assert read == {SKILL_URI: (skill(), "text/markdown")} | {
        f"swapcli://topics/{name}": (topic_text(name), "text/plain") for name in ORDER
    }
    assert all(each.size == len((read[each.uri] or ("",))[0]) for each in resources.listed)


def test_no_other_uri_is_read() -> None:
    resources = build_resources(PayloadMemory(), ProofMemory())
    for uri in (
        "swapcli://topics/../agents",
        "swapcli://topics/",
        "file:///etc/passwd",
        "swapcli://payload/x",
        "swapcli://proof/x",
        "",
    ):
        assert resources.read(uri) is None


def test_a_kept_proof_can_be_read_until_newer_ones_take_its_place() -> None:
    proofs = ProofMemory()
    resources = build_resources(PayloadMemory(), proofs)
    first = proofs.keep("{}")
    assert resources.read(first.uri) == ("{}", "application/json")
    for number in range(MAX_PROOFS):
        proofs.keep(str(number))
    assert resources.read(first.uri) is None


def test_the_prompt_has_the_order_and_names_tools() -> None:
    (prompt,) = PROMPTS
    assert {each.name for each in prompt.arguments} == set(GIVEN)
    text = prompt.write(GIVEN)
    assert text.startswith("Swap 1.5 ETH for USDC on base, to 0x11.")
    assert all(find_tool(name) and name in text for name in ("tokens", "quote", "check", "build_transaction", "decode"))
