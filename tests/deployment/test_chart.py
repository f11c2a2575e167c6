"""The chart, rendered by Helm itself and held against the schemas of Kubernetes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from scrapersky.api.health import router as health_router
from scrapersky.api.worker_app import router as worker_router
from scrapersky.cli import app as commands
from scrapersky.configuration import SECRET_FILES, VARIABLES
from tests.deployment.packages import package

# Helm is 68 MB, the schemas are 22: neither belongs into what everyone installs.
pytestmark = pytest.mark.long

CHART = Path(__file__).parents[2] / "deploy/helm/scrapersky"
OWNED = {"secretKeys": ["DATABASE_URL", "SUPPRESSION_KEY", "DATABASE_LISTEN_URL"]}
VALUES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "pooled, migrated by the owner": {
        "existingSecret": "elsewhere",
        "migrate": {"databaseUrlKey": "OWNER_DATABASE_URL"},
        "environment": {"DATABASE_POOLER": "transaction"},
        **OWNED,
    },
    "watched": {
        "podMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True},
        "secretKeys": ["DATABASE_URL", "SUPPRESSION_KEY", "ALERT_WEBHOOK_URL"],
        "environment": {"ALERT_EMAIL_TO": "ops@example.com"},
    },
    "scaled by another": {"api": {"replicas": None}, "worker": {"replicas": None}},
    "none for now": {"worker": {"replicas": 0}},
    "a long grace": {"environment": {"SHUTDOWN_GRACE_SECONDS": "45"}},
    "the product's grace": {"environment": {"SHUTDOWN_GRACE_SECONDS": None}},
    "larger": {
        "image": {"repository": "registry.example/scrapersky", "tag": "1.2.3"},
        "worker": {"resources": {"limits": {"memory": "4Gi", "cpu": "2"}}},
    },
}
SCHEMAS = ("1.25", "1.31", "1.37")
"""The oldest that the chart names, one between, and the newest there is."""


def rendered(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with package("helm_python").Chart.load(str(CHART)) as chart:
        texts = chart.render(values=values, name="leads", namespace="sales")
    for text in texts.values():
        yield from filter(None, yaml.safe_load_all(text))


@pytest.fixture(params=VALUES)
def manifests(request: pytest.FixtureRequest) -> dict[tuple[str, str], Any]:
    found = [*rendered(VALUES[request.param])]
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    assert len(named) == len(found)
    return named


def pods(manifests: dict[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """Return the containers by their names, each with its pod."""
    return {
        pod["containers"][0]["name"]: pod
        for (kind, _), one in manifests.items()
        if kind in {"Deployment", "Job"}
        for pod in [one["spec"]["template"]["spec"]]
    }


def test_helm_finds_no_fault_in_the_chart() -> None:
    report = package("helm_python").lint(str(CHART), strict=True)

    assert report["errors"] == []
    assert [found for found in report["messages"] if found["severity"] > 1] == []


@pytest.mark.parametrize("version", SCHEMAS)
def test_kubernetes_would_take_every_manifest(
    manifests: dict[tuple[str, str], Any], version: str
) -> None:
    kubernetes = package("kubernetes_validate")
    own = [one for one in manifests.values() if "coreos" not in one["apiVersion"]]

    for manifest in own:
        kubernetes.validate(manifest, version, strict=True)

    assert len(own) == 6
    wrong = {**own[0], "kind": "Deployment", "apiVersion": "apps/v1", "spec": {"x": 1}}
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(wrong, version, strict=True)


def test_a_pod_asks_for_what_the_product_has(
    manifests: dict[tuple[str, str], Any],
) -> None:
    paths = {getattr(route, "path", "") for route in health_router.routes}
    # The image sets the second one.
    ports = {"api": VARIABLES["PORT"].default, "worker": 8001}
    data = manifests["ConfigMap", "leads-settings"]["data"]

    assert data.keys() <= VARIABLES.keys()
    for name, pod in pods(manifests).items():
        (container,) = pod["containers"]
        assert container["args"][0] in {*commands}
        assert {one["name"] for one in container["env"]} <= SECRET_FILES.keys()
        assert "SUPPRESSION_KEY_FILE" in {one["name"] for one in container["env"]}
        if name in ports:
            (port,) = container["ports"]
            assert (port["name"], port["containerPort"]) == ("http", ports[name])
            for probe in ("livenessProbe", "readinessProbe"):
                asked = container[probe]["httpGet"]
                assert asked["path"] in paths
                assert asked["port"] == "http"


def test_a_pod_is_confined_and_has_time_to_stop(
    manifests: dict[tuple[str, str], Any],
) -> None:
    data = manifests["ConfigMap", "leads-settings"]["data"]
    default = VARIABLES["SHUTDOWN_GRACE_SECONDS"].default
    grace = int(data.get("SHUTDOWN_GRACE_SECONDS", default))

    assert pods(manifests).keys() == {"api", "worker", "migrate"}
    for name, pod in pods(manifests).items():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        # Any user may run the image, as long as its group is 0.
        assert pod["securityContext"]["fsGroup"] == 0
        assert "runAsUser" not in pod["securityContext"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        written = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {"/tmp", "/data"} <= written
        if name != "migrate":
            assert pod["terminationGracePeriodSeconds"] >= grace + 10


def test_what_a_release_needs_first_is_there_first(
    manifests: dict[tuple[str, str], Any],
) -> None:
    def hooks(kind: str, name: str) -> tuple[set[str], int]:
        notes = manifests[kind, name]["metadata"]["annotations"]
        return {*notes["helm.sh/hook"].split(",")}, int(notes["helm.sh/hook-weight"])

    settings, first = hooks("ConfigMap", "leads-settings")
    migration, then = hooks("Job", "leads-migrate")

    assert first < then
    assert migration == {"pre-install", "pre-upgrade"}
    # Settings that no rollback brings back would stay those of the newer version.
    assert settings == {*migration, "pre-rollback"}


def test_the_budget_the_service_and_the_monitor_mean_the_pods(
    manifests: dict[tuple[str, str], Any],
) -> None:
    labels = {
        name: manifests["Deployment", f"leads-{name}"]["spec"]["template"]["metadata"][
            "labels"
        ]
        for name in ("api", "worker")
    }

    def chosen(selector: dict[str, str]) -> set[str]:
        return {name for name, own in labels.items() if selector.items() <= own.items()}

    service = manifests["Service", "leads"]["spec"]
    budget = manifests["PodDisruptionBudget", "leads-api"]["spec"]
    assert chosen(service["selector"]) == {"api"}
    assert chosen(budget["selector"]["matchLabels"]) == {"api"}
    if monitor := manifests.get(("PodMonitor", "leads")):
        spec = monitor["spec"]
        assert chosen(spec["selector"]["matchLabels"]) == {"api", "worker"}
        (asked,) = spec["podMetricsEndpoints"]
        assert asked["port"] == "http"
        served = {getattr(route, "path", "") for route in worker_router.routes}
        assert asked["path"] in served


def test_the_owner_migrates_and_others_do_not_have_its_address() -> None:
    found = [*rendered(VALUES["pooled, migrated by the owner"])]
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    addresses = {
        name: {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
        for name, pod in pods(named).items()
    }

    place = "/run/secrets/scrapersky"
    assert {name: own["DATABASE_URL_FILE"] for name, own in addresses.items()} == {
        "migrate": f"{place}/OWNER_DATABASE_URL",
        "api": f"{place}/DATABASE_URL",
        "worker": f"{place}/DATABASE_URL",
    }


@pytest.mark.parametrize(
    ("values", "replicas"),
    [("as it is", 2), ("none for now", 0), ("scaled by another", None)],
)
def test_replicas_are_ours_to_set_or_left_to_an_autoscaler(
    values: str, replicas: int | None
) -> None:
    (worker,) = (
        one
        for one in rendered(VALUES[values])
        if one["metadata"]["name"] == "leads-worker"
    )

    assert worker["spec"].get("replicas") == replicas


def test_the_rules_of_the_chart_are_those_of_prometheus() -> None:
    (rule,) = (
        one for one in rendered(VALUES["watched"]) if one["kind"] == "PrometheusRule"
    )
    written = (CHART.parents[1] / "prometheus/rules.yml").read_text()

    assert rule["spec"] == yaml.safe_load(written)
