"""Clients that generators make of the OpenAPI document ask for routes, and post them back as they serialise them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faces.service.generated_clients.environment import generators_python
from tests.faces.service.openapi_operations import openapi_document
from tests.support.service import build_app, build_order_query, recipient_on, serve_app

TRIPS = {"base": 2, "citrea": 2, "monad": 2, "hyperevm": 2, "starknet": 1}
"""Generations of the interface that each network has."""
NETWORKS = [pytest.param(name, marks=[] if name == "base" else pytest.mark.slow) for name in TRIPS]
HERE = Path(__file__).parent
NODE_MODULES = HERE.parents[2] / "contracts" / "node_modules"
COMPILER_OPTIONS = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck")


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serve_app(build_app()) as url:
        yield url


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(openapi_document()))
    return path


def run_python(*arguments: str | Path, folder: Path) -> str:
    """Return the output of a program in the environment of the generators, which also imports from `folder`."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return run(generators_python(), *arguments, env=environment)


def run(*arguments: str | Path, **options: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*map(str, arguments)], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python_client(document: Path) -> Path:
    folder = document.parent / "service_client"
    options: list[str | Path] = ["--path", document, "--output-path", folder, "--meta", "none", "--fail-on-warning"]
    config = document.parent / "config.yaml"
    config.write_text("post_hooks: []\n")
    run_python("-m", "openapi_python_client", "generate", *options, "--config", config, folder=document.parent)
    return document.parent


@pytest.fixture(scope="module")
def pydantic_models(document: Path) -> Path:
    options: list[str | Path] = [
        "--input",
        document,
        "--input-file-type",
        "openapi",
        "--output",
        document.parent / "service_models.py",
    ]
    style = ["--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"]
    run_python("-m", "datamodel_code_generator", *options, *style, folder=document.parent)
    return document.parent


@pytest.fixture(scope="module")
def typescript_client(document: Path) -> Path:
    """Return the compiled program, in a folder with the packages that it imports."""
    folder = document.parent / "typescript"
    folder.mkdir()
    (folder / "node_modules").symlink_to(NODE_MODULES)
    (folder / "package.json").write_text('{"type": "module"}')
    programs = NODE_MODULES / ".bin"
    run(programs / "openapi-typescript", document, "--output", folder / "service_schema.d.ts")
    shutil.copy(HERE / "typescript_trip.ts", folder)
    run(programs / "tsc", *COMPILER_OPTIONS, "typescript_trip.ts", cwd=folder)
    return folder / "typescript_trip.js"


def check_trips(output: str, count: int) -> None:
    """Assert that `count` routes went to the service and came back as payloads that pay what the routes say."""
    trips = [json.loads(line) for line in output.splitlines()]
    assert len(trips) == count
    for _, _, quoted, paid in trips:
        assert int(quoted) == int(paid) > 0


def arguments_for(name: str, service: str) -> tuple[str, ...]:
    return (service, name, json.dumps(build_order_query(name)), recipient_on(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_client_of_openapi_python_client_builds_its_routes(name: str, python_client: Path, service: str) -> None:
    program = HERE / "openapi_python_client_trip.py"
    check_trips(run_python(program, *arguments_for(name, service), folder=python_client), 2 * TRIPS[name])


@pytest.mark.parametrize("name", NETWORKS)
def test_models_of_datamodel_code_generator_build_routes(name: str, pydantic_models: Path, service: str) -> None:
    program = HERE / "pydantic_models_trip.py"
    check_trips(run_python(program, *arguments_for(name, service), folder=pydantic_models), 2 * TRIPS[name])


@pytest.mark.slow  # the compiler takes some five seconds
@pytest.mark.parametrize("name", NETWORKS)
def test_a_client_of_openapi_typescript_builds_its_routes(name: str, typescript_client: Path, service: str) -> None:
    output = run("node", typescript_client, *arguments_for(name, service))
    check_trips(output, 1 if name == "hyperevm" else TRIPS[name])
