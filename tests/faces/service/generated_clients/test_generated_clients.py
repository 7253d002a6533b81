"""Clients that generators make of the OpenAPI document, without options, take every trip on every network.

A trip is a route, its calldata and its execution in the first generation of the interface, a route and its calldata in
the second, a refused order, and an invalid one. The programs beside this module take it, one for each generator, and
print what the responses say: as decoded by the classes of the client, which they check. Every operation and type in
them is written as a user of that client would write it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from swapcli.core.networks.catalogue import network_names
from tests.faces.service.generated_clients.environment import generators_python
from tests.faces.service.openapi_operations import openapi_document
from tests.support.service import build_app, build_order_query, recipient_on, serve_app

HERE = Path(__file__).parent
NODE_MODULES = HERE.parents[2] / "contracts" / "node_modules"
COMPILER_OPTIONS = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck")


class Trips:
    """The trips of all networks, what a service responds to them, and the file of its document."""

    def __init__(self, url: str, document: Path) -> None:
        self.url, self.document = url, document
        self.orders = [_describe_trip(name) for name in network_names()]
        self.expected = [_expect(url, each) for each in self.orders]

    def run(self, *command: str | Path, **options: Any) -> None:
        """Assert that a program reads out of the responses what they say."""
        assert json.loads(run(*command, self.url, json.dumps(self.orders), **options)) == self.expected


def _describe_trip(name: str) -> dict[str, str]:
    order = build_order_query(name)
    return {
        "network": name,
        "amount": order["amount"],
        "token_in_address": order["tokenInAddress"],
        "token_out_address": order["tokenOutAddress"],
        "destination": recipient_on(name),
        "unknown_token": "0x" + "99" * 20,
    }


def _expect(url: str, trip: dict[str, str]) -> dict[str, Any]:
    """Return what the JSON of the routes says. The payload of a route pays what the route says."""
    order = build_order_query(trip["network"])
    with httpx.Client(base_url=f"{url}/{trip['network']}/") as client:
        first = client.get("route", params={**order, "details": "true"}).json()
        second = client.get("v2/route", params=order)
        unknown = client.get("route", params={**order, "tokenInAddress": trip["unknown_token"]})
        same = client.get("route", params={**order, "tokenInAddress": order["tokenOutAddress"]})
    assert (unknown.status_code, same.status_code) == (200, 400)
    assert int(first["outputAmount"]) > 0
    return {
        "first": [first["outputAmount"]] * 3,
        "state": first["state"]["kind"],
        "second": [] if trip["network"] == "starknet" else [second.json()["outputAmount"]] * 2,
        "no_route": unknown.json()["errorMessage"],
        "fault": same.json()["message"],
    }


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trips]:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(openapi_document()))
    with serve_app(build_app()) as url:
        yield Trips(url, path)


def run_python(*arguments: str | Path, folder: Path) -> str:
    """Return the output of a program in the environment of the generators."""
    return run(generators_python(), *arguments, cwd=folder)


def run(*arguments: str | Path, **options: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*map(str, arguments)], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which programs import from `folder`, too."""
    return os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.slow
def test_openapi_python_client(trips: Trips, tmp_path: Path) -> None:
    # Formatting the client takes seconds. A warning is an operation or a field that it lacks.
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    options = ["--config", "config.yaml", "--fail-on-warning", "--meta", "none", "--output-path", "service_client"]
    run_python("-m", "openapi_python_client", "generate", "--path", trips.document, *options, folder=tmp_path)
    trips.run(generators_python(), HERE / "openapi_python_client_trip.py", env=python_environment(tmp_path))


@pytest.mark.slow
def test_datamodel_code_generator(trips: Trips, tmp_path: Path) -> None:
    files: list[str | Path] = ["--input", trips.document, "--output", "service_models.py"]
    run_python("-m", "datamodel_code_generator", *files, folder=tmp_path)
    trips.run(generators_python(), HERE / "pydantic_models_trip.py", env=python_environment(tmp_path))


def test_openapi_typescript(trips: Trips, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run(NODE_MODULES / ".bin" / "openapi-typescript", trips.document, "--output", tmp_path / "service_schema.d.ts")
    trips.run("node", compile_typescript("typescript_trip.ts", tmp_path))


def compile_typescript(name: str, folder: Path) -> Path:
    """Return the compiled program, in a folder with the packages that it imports."""
    (folder / "node_modules").symlink_to(NODE_MODULES)
    shutil.copy(HERE / name, folder)
    run(NODE_MODULES / ".bin" / "tsc", *COMPILER_OPTIONS, name, cwd=folder)
    return (folder / name).with_suffix(".js")


def generate(language: str, trips: Trips, folder: Path) -> Path:
    """Return the folder of the client that openapi-generator makes."""
    output = folder / "service_client"
    program = Path(generators_python()).with_name("openapi-generator-cli")
    run(program, "generate", "-i", trips.document, "-g", language, "-o", output)
    return output


@pytest.mark.slow  # it needs a JVM
def test_openapi_generator_python(trips: Trips, tmp_path: Path) -> None:
    output = generate("python", trips, tmp_path)
    trips.run(generators_python(), HERE / "openapi_generator_trip.py", env=python_environment(output))


@pytest.mark.slow  # it needs a JVM
def test_openapi_generator_typescript_fetch(trips: Trips, tmp_path: Path) -> None:
    generate("typescript-fetch", trips, tmp_path)
    trips.run("node", compile_typescript("typescript_fetch_trip.ts", tmp_path))


@pytest.mark.slow  # it needs a JVM and Go
def test_openapi_generator_go(trips: Trips, tmp_path: Path) -> None:
    """Debian's only package for it, a validator of 2016, has neither commas in patterns nor lists."""
    shutil.rmtree(generate("go", trips, tmp_path / "src") / "test")
    (tmp_path / "src" / "trip").mkdir()
    shutil.copy(HERE / "go_trip.go", tmp_path / "src" / "trip")
    paths = os.environ | {"GO111MODULE": "off", "GOPATH": f"{tmp_path}:/usr/share/gocode"}
    run("go", "build", "-o", tmp_path / "program", ".", cwd=tmp_path / "src" / "trip", env=paths)
    trips.run(tmp_path / "program")


@pytest.mark.slow  # it needs a JDK
def test_openapi_generator_java(trips: Trips, tmp_path: Path) -> None:
    """The types and their serialization are compiled and run, with stand-ins for three classes that Debian lacks. Its
    requests are not: Debian's OkHttp is older than theirs."""
    sources = generate("java", trips, tmp_path) / "src" / "main" / "java" / "org" / "openapitools" / "client"
    parts = [*sources.glob("model/*.java"), sources / "JSON.java", sources / "ApiException.java"]
    names = ("gson", "okio", "jsr305", "geronimo-annotation-1.3-spec")
    libraries = ":".join(f"/usr/share/java/{name}.jar" for name in names)
    classes = tmp_path / "classes"
    programs = [*parts, *(HERE / "java").rglob("*.java")]
    run("javac", "-proc:none", "-nowarn", "-d", classes, "-cp", libraries, *programs)
    trips.run("java", "-cp", f"{classes}:{libraries}", "JavaTrip")
