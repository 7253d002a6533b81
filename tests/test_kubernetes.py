"""The Kubernetes example: its parts fit together, the image and the settings, and each has probes and limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from swapcli import __version__
from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.faces.service.endpoint_table import LIVE, METRICS, PATHS, READY
from swapcli.faces.service.supervisor import KILL_AFTER_S
from tests.support.command import run_swapcli
from tests.support.dockerfile import parse_dockerfile

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "examples" / "kubernetes.yaml").read_text()
RESOURCES: list[dict[str, Any]] = list(yaml.safe_load_all(TEXT))
DOCKERFILE = parse_dockerfile((ROOT / "Dockerfile").read_text())
NAMESPACE = "swapcli"
SECRETS = {"swapcli": {"password", "rpc-url", "keys.json"}, "valkey-tls": {"tls.key", "tls.crt", "ca.crt"}}
KINDS = {
    "Deployment": "apps/v1",
    "Service": "v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "Ingress": "networking.k8s.io/v1",
    "PersistentVolumeClaim": "v1",
    "PodDisruptionBudget": "policy/v1",
}
NAMES = ("valkey", "feeder", "replica")
MONITORING: dict[str, dict[str, Any]] = {
    each["kind"]: each for each in yaml.safe_load_all((ROOT / "examples" / "kubernetes-monitoring.yaml").read_text())
}
RULES = yaml.safe_load((ROOT / "examples" / "prometheus-rules.yaml").read_text())["groups"][0]["rules"]


def resource(kind: str, name: str) -> dict[str, Any]:
    (found,) = (each for each in RESOURCES if each["kind"] == kind and each["metadata"]["name"] == name)
    return found


def pod(name: str) -> dict[str, Any]:
    return dict(resource("Deployment", name)["spec"]["template"]["spec"])


def container(name: str) -> dict[str, Any]:
    (found,) = pod(name)["containers"]
    return dict(found)


def environment(name: str) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container(name)["env"]}


def find_all(value: object, key: str) -> Iterator[Any]:
    """Yield the values of a key anywhere in a resource."""
    if isinstance(value, Mapping):
        yield from (each for name, each in value.items() if name == key)
        for each in value.values():
            yield from find_all(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from find_all(each, key)


def image_setting(name: str) -> str:
    values = "\n".join(each.text for each in DOCKERFILE if each.name == "ENV")
    found = re.search(rf"{name}=(\S+)", values)
    assert found is not None
    return found[1]


def test_every_resource_is_of_a_known_kind_and_namespace() -> None:
    assert all(each["apiVersion"] == KINDS[each["kind"]] for each in RESOURCES)
    assert {each["metadata"]["namespace"] for each in RESOURCES} == {NAMESPACE}
    names = [(each["kind"], each["metadata"]["name"]) for each in RESOURCES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", NAMES)
def test_labels_select_the_pods(name: str) -> None:
    spec = resource("Deployment", name)["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    for each in RESOURCES:
        if each["kind"] == "Service" and each["metadata"]["name"] == name:
            assert each["spec"]["selector"].items() <= labels.items()
            ports = {port["name"] for port in container(name)["ports"]}
            assert {port["targetPort"] for port in each["spec"]["ports"]} <= ports
    assert ("uses" in labels) == (name != "valkey")


@pytest.mark.parametrize("name", NAMES)
def test_each_container_is_limited_and_unprivileged(name: str) -> None:
    found = container(name)
    assert found["resources"]["requests"].keys() == found["resources"]["limits"].keys() == {"cpu", "memory"}
    assert found["securityContext"]["allowPrivilegeEscalation"] is False
    assert found["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod(name)["securityContext"]["runAsNonRoot"] is True
    mounted = {each["name"] for each in found["volumeMounts"]}
    assert mounted == {each["name"] for each in pod(name)["volumes"]}


@pytest.mark.parametrize("name", ["feeder", "replica"])
def test_the_image_is_that_of_the_dockerfile(name: str) -> None:
    assert container(name)["image"].rsplit(":", 1)[1] == __version__.removesuffix(".dev0")
    user = int([each for each in DOCKERFILE if each.name == "USER"][-1].text)
    assert pod(name)["securityContext"]["runAsUser"] == user
    folder = [each for each in DOCKERFILE if each.name == "VOLUME"][-1].text
    assert folder in {each["mountPath"] for each in container(name)["volumeMounts"]}
    assert run_swapcli(*container(name)["args"], "--help").exit_code == 0


def test_the_settings_exist_and_are_read() -> None:
    known = {
        f"SWAPCLI_{entry['key'].replace('.', '_').upper()}" for entry in run_swapcli("config", "show", "--json").json
    }
    named = set(re.findall(r"\b(SWAPCLI_\w+)\b", TEXT))
    assert len(named) >= 6
    assert named - known <= {"SWAPCLI_NETWORKS_BASE_RPC_URL"}
    values = {name: each for name, each in environment("replica").items() if isinstance(each, str)}
    shown = {entry["key"]: entry.get("value") for entry in run_swapcli("config", "show", "--json", env=values).json}
    assert shown["service.trusted_proxies"] == "10.0.0.0/8"
    assert int(shown["service.requests_per_minute"]) == 60


def test_the_feed_is_encrypted_and_has_a_password() -> None:
    urls = {environment("feeder")["SWAPCLI_PUBLISH_URL"], environment("replica")["SWAPCLI_SERVICE_FEED_URL"]}
    urls.add(environment("replica")["SWAPCLI_SERVICE_STATE_URL"])
    (url,) = (RedisUrl.parse(each) for each in urls)
    assert (url.host, url.port, url.password) == ("valkey", 6379, "$(PASSWORD)")
    assert next(iter(urls)).startswith("rediss://")
    arguments = container("valkey")["args"]
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert (options["--port"], options["--tls-port"], options["--requirepass"]) == ("0", "6379", "$(PASSWORD)")
    mounts = {each["mountPath"] for each in container("valkey")["volumeMounts"]}
    assert all(str(Path(options[name]).parent) in mounts for name in ("--tls-cert-file", "--tls-key-file"))
    for name in ("feeder", "replica"):
        assert str(Path(environment(name)["SSL_CERT_FILE"]).parent) in {
            each["mountPath"] for each in container(name)["volumeMounts"]
        }
    (rule,) = resource("NetworkPolicy", "valkey")["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"uses": "valkey"}}}]


def test_secrets_have_what_is_used() -> None:
    for each in find_all(RESOURCES, "secretKeyRef"):
        assert each["key"] in SECRETS[each["name"]]
    for each in (*find_all(RESOURCES, "secret"),):
        assert {item["key"] for item in each.get("items", ())} <= SECRETS[each["secretName"]]
    for name, keys in SECRETS.items():
        assert f"secret generic {name} " in TEXT
        assert all(key in TEXT.partition("apiVersion")[0] for key in keys)


def test_there_is_one_feeder_with_a_store_of_its_own() -> None:
    spec = resource("Deployment", "feeder")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    (claim,) = find_all(spec, "claimName")
    assert resource("PersistentVolumeClaim", claim)


def test_probes_ask_what_the_service_answers() -> None:
    found, port = container("replica"), int(image_setting("SWAPCLI_SERVICE_PORT"))
    assert found["ports"] == [{"name": "http", "containerPort": port}]
    probes = {name: found[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: each["path"] for name, each in probes.items()} == {
        "startup": LIVE, "liveness": LIVE, "readiness": f"{READY}?network=base"
    }  # fmt: skip
    assert {each["port"] for each in probes.values()} == {"http"}


def test_an_upgrade_waits_for_new_pods_and_for_proxies() -> None:
    spec = resource("Deployment", "replica")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert spec["minReadySeconds"] > 0
    _, pause_s = container("replica")["lifecycle"]["preStop"]["exec"]["command"]
    assert pod("replica")["terminationGracePeriodSeconds"] > int(pause_s) + KILL_AFTER_S


def test_the_ingress_has_the_paths_and_no_metrics() -> None:
    spec = resource("Ingress", "replica")["spec"]
    (rule,) = spec["rules"]
    paths = {each["path"]: each for each in rule["http"]["paths"]}
    assert all(each["backend"]["service"]["name"] == "replica" for each in paths.values())
    assert paths.keys() - {"/base"} <= set(PATHS)
    assert not any(METRICS.startswith(path) for path, each in paths.items() if each["pathType"] == "Prefix")
    assert spec["tls"][0]["hosts"] == [rule["host"]]


def test_the_metrics_of_the_replicas_are_scraped() -> None:
    monitor, service = MONITORING["ServiceMonitor"], resource("Service", "replica")
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    labels = service["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert labels[monitor["spec"]["jobLabel"]] == "swapcli", "the job of the alert rules"
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["path"] == METRICS
    assert endpoint["port"] in {each["name"] for each in service["spec"]["ports"]}


def test_replicas_are_scaled_by_the_wait_of_orders() -> None:
    scaler = MONITORING["HorizontalPodAutoscaler"]
    assert scaler["apiVersion"] == "autoscaling/v2"
    target = scaler["spec"]["scaleTargetRef"]
    assert resource(target["kind"], target["name"])["apiVersion"] == target["apiVersion"]
    replicas = resource("Deployment", "replica")["spec"]["replicas"]
    assert scaler["spec"]["minReplicas"] <= replicas <= scaler["spec"]["maxReplicas"]
    (metric,) = scaler["spec"]["metrics"]
    assert metric["type"] == "Pods"
    recorded = [each["record"] for each in RULES if "record" in each]
    assert metric["pods"]["metric"]["name"] in {each.replace(":", "_") for each in recorded}
    assert {each["metadata"]["namespace"] for each in MONITORING.values()} == {NAMESPACE}
