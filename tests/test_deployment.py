"""What runs the service elsewhere: the Dockerfile, and the compose files, units and proxies of `examples`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from configparser import RawConfigParser
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
import yaml

from swapcli.faces.cli.help_topics import topic_text
from swapcli.faces.service.endpoint_table import READY
from swapcli.faces.service.listeners import METRICS_NAME
from swapcli.faces.service.supervisor import KILL_AFTER_S
from tests.support.command import run_swapcli
from tests.support.dockerfile import (
    Instruction,
    Stage,
    build,
    is_namespace_available,
    parse_dockerfile,
    running,
)
from tests.support.topic_examples import topic_example

ROOT = Path(__file__).parents[1]
DOCKERFILE = parse_dockerfile((ROOT / "Dockerfile").read_text())
PYTHON_VERSIONS = ("3.11", "3.12", "3.13")


def last(name: str) -> Instruction:
    return [instruction for instruction in DOCKERFILE if instruction.name == name][-1]


def test_the_base_image_is_a_build_argument() -> None:
    assert DOCKERFILE[0].name == "ARG"
    name, _, default = DOCKERFILE[0].text.partition("=")
    assert default.removeprefix("python:").removesuffix("-slim") in PYTHON_VERSIONS
    assert {each.text.partition(" AS ")[0] for each in DOCKERFILE if each.name == "FROM"} == {f"${{{name}}}"}


def test_the_context_of_the_image_has_what_is_copied() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [each.text.split()[:-1] for each in DOCKERFILE if each.name == "COPY" and not each.flags]
    assert {source for sources in copied for source in sources} == allowed
    assert all((ROOT / source).exists() for source in allowed)


def test_the_container_serves_as_an_unprivileged_user() -> None:
    assert int(last("USER").text) >= 1_000
    assert (last("ENTRYPOINT").command(), last("CMD").command()) == (["swapcli"], ["serve"])


def test_the_health_check_follows_the_readiness(service_url: str) -> None:
    assert f"'{READY}'" in last("HEALTHCHECK").command()[-1]
    for port, status in ((service_url.rpartition(":")[2], 0), ("1", 1)):
        assert health_status("swapcli", "serve", "--networks", "base", port=port) == status


def health_status(*command: str, port: str) -> int:
    """Return the status of the health check in a container whose first process runs the command."""
    _, *arguments, code = last("HEALTHCHECK").command()
    with NamedTemporaryFile() as file:
        file.write(b"".join(word.encode() + b"\0" for word in ("python", *command)))
        file.flush()
        own = code.replace("/proc/1/cmdline", file.name)
        env = {"SWAPCLI_SERVICE_PORT": port, "http_proxy": "http://127.0.0.1:1"}
        return subprocess.run([sys.executable, *arguments, own], env=env, capture_output=True, check=False).returncode


def test_other_commands_pass_the_health_check() -> None:
    assert health_status("swapcli", "sync", "base", "--watch", port="1") == 0


def test_dependencies_are_a_layer_before_the_sources() -> None:
    steps = [f"{each.name} {each.text}" for each in DOCKERFILE]
    dependencies = next(at for at, step in enumerate(steps) if "--requirement" in step)
    copied = [step for step in steps[:dependencies] if step.startswith("COPY")]
    assert copied == ["COPY pyproject.toml ./"]
    assert any(step.startswith("COPY swapcli") for step in steps[dependencies:])


def test_the_labels_say_what_the_project_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    labels = dict(word.split("=", 1) for word in shlex.split(last("LABEL").text))
    assert labels == {
        "org.opencontainers.image.title": project["name"],
        "org.opencontainers.image.description": project["description"],
        "org.opencontainers.image.version": project["version"],
        "org.opencontainers.image.licenses": project["license"],
    }


def test_the_settings_of_the_image_and_the_unit_exist() -> None:
    known = {
        f"SWAPCLI_{entry['key'].replace('.', '_').upper()}" for entry in run_swapcli("config", "show", "--json").json
    }
    unit_text = (UNITS / "swapcli.service").read_text()
    composed = (file.read_text() for file in COMPOSE_FILES)
    texts = ((ROOT / "Dockerfile").read_text(), topic_text("deploy"), topic_text("scale"), unit_text, *composed)
    named = set(re.findall(r"\b(SWAPCLI_\w+)[=:]", "".join(texts)))
    assert len(named) > 8
    assert named - known <= {"SWAPCLI_NETWORKS_BASE_RPC_URL"}


COMPOSE_FILES = (ROOT / "examples" / "compose.yaml", ROOT / "examples" / "region" / "compose.yaml")


def compose(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text()))


def swapcli_services() -> list[tuple[Path, str]]:
    """Return the compose file and the name of each service that runs the image."""
    return [
        (file, name)
        for file in COMPOSE_FILES
        for name, service in compose(file)["services"].items()
        if service["image"] == "swapcli"
    ]


@pytest.mark.parametrize(("file", "name"), swapcli_services(), ids=lambda each: getattr(each, "parent", each))
def test_the_commands_of_the_compose_files_are_accepted(file: Path, name: str) -> None:
    command = compose(file)["services"][name]["command"]
    assert run_swapcli(*command, "--help").exit_code == 0
    unknown = run_swapcli(*command, "--config", "/nonexistent/config.yaml")
    assert "/nonexistent/config.yaml" in unknown.stderr


def test_the_group_of_a_region_fits_together() -> None:
    services = compose(COMPOSE_FILES[1])["services"]
    environments = {name: service.get("environment", {}) for name, service in services.items()}
    urls = {value for each in environments.values() for name, value in each.items() if "redis:" in value}
    assert urls == {"redis://:${PASSWORD}@valkey"}
    assert services["feeder"]["volumes"] == [f"state:{last('VOLUME').text}"]
    port = re.search(r"SWAPCLI_SERVICE_PORT=(\d+)", last("ENV").text)
    assert port is not None
    nginx = (ROOT / "examples" / "region" / "nginx.conf").read_text()
    assert f"server replica:{port[1]} " in nginx
    (published,) = services["proxy"]["ports"]
    assert f"listen {published.rsplit(':', 1)[1]};" in nginx


def test_the_compose_file_fits_the_image() -> None:
    services = compose(COMPOSE_FILES[0])["services"]
    assert services["serve"]["build"] == "."
    port = re.search(r"SWAPCLI_SERVICE_PORT=(\d+)", last("ENV").text)
    assert port is not None
    assert services["serve"]["ports"] == [f"127.0.0.1:{port[1]}:{port[1]}"]
    for service in services.values():
        assert service["volumes"] == [f"state:{last('VOLUME').text}"]
    assert set(compose(COMPOSE_FILES[0])["volumes"]) == {"state"}


def test_the_settings_of_the_topic_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(topic_example("deploy", "service:"))
    shown = {entry["key"]: entry for entry in run_swapcli("config", "show", "--json", "--config", str(file)).json}
    assert shown["service.trusted_proxies"]["value"] == "127.0.0.1/32"
    assert shown["service.cors_origins"]["value"] == "https://app.example"


UNITS = ROOT / "examples" / "systemd"


def unit(name: str) -> RawConfigParser:
    parser = RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((UNITS / name).read_text())
    return parser


def test_the_unit_runs_the_service_on_the_sockets() -> None:
    service = unit("swapcli.service")["Service"]
    program, *arguments = shlex.split(service["ExecStart"])
    assert (Path(program).name, arguments) == ("swapcli", ["serve"])
    assert service["ExecReload"].startswith("/bin/kill -HUP ")
    assert int(service["TimeoutStopSec"]) > KILL_AFTER_S
    assert service["Sockets"] == unit("swapcli.service")["Install"]["Also"] == "swapcli.socket"
    metrics = unit("swapcli-metrics.socket")["Socket"]
    assert (metrics["FileDescriptorName"], metrics["Service"]) == (METRICS_NAME, "swapcli.service")
    assert unit("swapcli.socket")["Socket"]["ListenStream"] == "127.0.0.1:8000"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for each in UNITS.iterdir():
        text = each.read_text().replace("/opt/swapcli/bin/swapcli", shutil.which("true") or "/bin/true")
        (tmp_path / each.name).write_text(text)
    files = sorted(tmp_path.iterdir())
    assert [each.suffix for each in files] == [".socket", ".service", ".socket"]
    ran = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    assert (ran.returncode, [line for line in ran.stderr.splitlines() if "swapcli" in line]) == (0, [])
    broken = tmp_path / "broken.service"
    broken.write_text((UNITS / "swapcli.service").read_text().replace("ProtectSystem=strict", "ProtectSystem=perhaps"))
    ran = subprocess.run(["systemd-analyze", "verify", broken], capture_output=True, text=True, check=False)
    assert "perhaps" in ran.stderr


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The image that the Dockerfile describes, built without Docker."""
    if not is_namespace_available():
        pytest.skip("it takes root and namespaces to run a container")
    folder = tmp_path_factory.mktemp("image")
    os.chmod(folder.parent, 0o711)  # the user of the image must be able to reach it
    os.chmod(folder, 0o711)
    yield build(DOCKERFILE[1:], ROOT, folder)
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_container_becomes_healthy_and_stops(image: Stage) -> None:
    # All of 127.0.0.0/8 is the loopback interface, so the second address shows that the service listens on any.
    fetch = "import urllib.request as u; print(u.urlopen('http://127.0.0.2:8000/readyz').read().decode())"
    # Without a network, the service is ready only with the prices of a demonstration.
    with running(image, "serve", "--offline") as container:
        assert container.run(["id", "-un"]) == "swapcli\n"
        deadline_s = time.monotonic() + 60
        while not _passes(container.run, image.healthcheck):
            assert time.monotonic() < deadline_s
            time.sleep(0.2)
        assert container.run(["python", "-c", fetch]).strip() == '{"ready":true,"missing":[]}'
        assert container.run(["swapcli", "keys", "create", "Acme Wallet"]).startswith("swk_")
        assert container.run(["stat", "-c", "%U %a", "keys.json", "."]).split() == ["swapcli", "600", "swapcli", "700"]
        assert container.stop() == 0


def _passes(run: Any, command: list[str]) -> bool:
    try:
        run(command)
    except AssertionError:
        return False
    return True


@pytest.mark.slow
def test_the_image_runs_other_commands_and_has_no_sources(image: Stage) -> None:
    assert (
        image.run([*image.entrypoint, "route", "base", "ETH", "USDC", "1.5", "--offline", "--get", "outputAmount"])
        .strip()
        .isdigit()
    )
    assert not image.path("/src").exists()
    assert not _passes(image.run, ["touch", "/opt/swapcli/file"])
