"""`--proof` and `proof=true`: every face gives the proof that the library has of the same quote."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from tests.support.command import run_swapcli
from tests.support.loopback_server import http_response, loopback_server, respond_with
from tests.support.mcp_client import document, mcp_client
from tests.support.proof_sums import sums
from tests.support.service import InProcessService, build_order_query, build_swap_terms, in_process_service
from tests.support.service_process import run_service

ORDER = ("ETH", "USDC", "1.5")
ME = "0x" + "12" * 20


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """The document of the library's proof."""
    with Market.embedded("base") as market:
        return dict(json.loads(market.quote(*ORDER, proof=True).proof().to_json()))


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service("base", "hyperevm", "starknet") as served:
        yield served


@pytest.mark.parametrize(
    ("command", "more"),
    [("route", ()), ("route", ("--certify",)), ("compare", ()), ("calldata", ("--destination", ME))],
)
def test_a_command_writes_the_proof_and_says_where(
    command: str, more: tuple[str, ...], tmp_path: Path, expected: dict[str, Any]
) -> None:
    file = str(tmp_path / "proof.json.gz")
    ran = run_swapcli(command, "base", *ORDER, "--offline", "--proof", file, *more, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(gzip.decompress(Path(file).read_bytes())) == expected
    assert ran.json["proofFile"] == file
    assert "certificate" in ran.json
    shown = run_swapcli(command, "base", *ORDER, "--offline", "--proof", file, *more, "--format=plain").stdout
    assert any(line.startswith("Proof") and file in line for line in shown.splitlines())


def test_a_file_that_cannot_be_written_ends_with_status_2(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    problems = {
        "/nonexistent/proof.json": "error: cannot write",
        str(tmp_path / "folder"): "error: cannot write",
        "": "error: --proof needs a file name",
    }
    for file, problem in problems.items():
        for command in ("route", "compare", "calldata"):
            more = ("--destination", ME) if command == "calldata" else ()
            ran = run_swapcli(command, "base", *ORDER, "--offline", "--proof", file, *more)
            assert ran.exit_code == 2
            assert ran.stdout == ""
            assert ran.stderr.startswith(problem)


@pytest.mark.parametrize(
    ("more", "problem"),
    [(("--batch", "-"), "--proof writes the proof of one quote"), (("--watch", *ORDER), "--watch cannot be combined")],
)
def test_many_quotes_have_no_proof(more: tuple[str, ...], problem: str) -> None:
    ran = run_swapcli("route", "base", "--offline", "--proof", "/tmp/none.json", *more, stdin=b"{}")
    assert ran.exit_code == 2
    assert problem in ran.stderr


def test_a_wrap_ends_with_a_sentence(tmp_path: Path) -> None:
    ran = run_swapcli("route", "base", "ETH", "WETH", "1", "--offline", "--proof", str(tmp_path / "proof.json"))
    assert ran.exit_code == 2
    assert "wrapping the native token needs no proof, because it is one to one" in ran.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "path"), [("base", "route"), ("base", "v2/route"), ("starknet", "route")])
def test_a_service_returns_the_proof_beside_the_route(service: InProcessService, name: str, path: str) -> None:
    query = build_order_query(name, 10**17)
    plain = service.get(f"/{name}/{path}", query).json()
    proven = service.get(f"/{name}/{path}", {**query, "proof": "true"}).json()
    assert "proof" not in plain
    assert proven["proof"]["route"]["amountOut"] == proven["outputAmount"] == plain["outputAmount"]
    assert {"certificate", "warnings", "state"} <= proven.keys()
    assert all(total <= bound for _, bound, total in sums(proven["proof"]))


@pytest.mark.parametrize(
    ("name", "path"), [("base", "routeAndCalldata"), ("base", "v2/routeAndCalldata"), ("hyperevm", "calldata")]
)
def test_a_route_with_its_transaction_has_the_proof_too(service: InProcessService, name: str, path: str) -> None:
    query = build_order_query(name, 10**17) | build_swap_terms(name)
    found = service.get(f"/{name}/{path}", {**query, "proof": "true"}).json()
    assert found["route"]["proof"]["format"] == "swapcli-proof"
    assert "verdict" not in found["route"]


def test_pictures_and_batches_have_no_place_for_it(service: InProcessService) -> None:
    query = build_order_query("base", 10**17)
    assert service.get("/base/route.svg", {**query, "proof": "true"}).status_code == 200
    wrong = service.get("/base/route", {**query, "proof": "maybe"})
    assert wrong.status_code >= 400 or wrong.json()["success"] is False


def test_a_remote_quote_has_the_proof_of_its_service(tmp_path: Path, expected: dict[str, Any]) -> None:
    file = tmp_path / "remote.json"
    with run_service() as served:
        words = ("route", "base", *ORDER, "--api-url", served.url, "--shares", "fine", "--proof", str(file), "--json")
        ran = run_swapcli(*words)
        assert ran.exit_code == 0, ran.stderr
        document = json.loads(file.read_bytes())
        assert ran.json["proofFile"] == str(file)
        assert "certificate" not in ran.json
        assert run_swapcli(*words, "--certify").json["proofFile"] == str(file)
        refused = run_swapcli(*words[:-3], "--certify", "--json")
    assert document["bounds"] == expected["bounds"]
    assert refused.exit_code == 2


def test_a_service_without_proofs_is_an_error_with_a_hint(tmp_path: Path) -> None:
    found = run_swapcli("route", "base", *ORDER, "--offline", "--json").json
    route = {name: found[name] for name in found if name not in ("proofFile", "certificate")}
    with loopback_server(respond_with(http_response(200, json.dumps(route)))) as server:
        ran = run_swapcli("route", "base", *ORDER, "--api-url", server.url, "--proof", str(tmp_path / "proof.json"))
    assert ran.exit_code == 2
    assert "the service sent no proof" in ran.stderr
    assert "hint:" in ran.stderr


def test_an_agent_reads_the_proof_as_a_resource(expected: dict[str, Any]) -> None:
    arguments = dict(zip(("token_in", "token_out", "amount"), ORDER, strict=True))

    async def call() -> tuple[dict[str, Any], Any]:
        async with mcp_client() as client:
            answer = document(
                await client.call_tool("quote", {"network": "base", "offline": True, "proof": True, **arguments})
            )
            return answer, await client.read_resource(answer["proofFile"])

    answer, resource = asyncio.run(call())
    assert answer["proofFile"].startswith("swapcli://proof/")
    assert json.loads(resource.contents[0].text) == expected
