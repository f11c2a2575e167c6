"""The files in deploy/: every setting, figure and stage that they name exists."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml  # type: ignore[import-untyped]

from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Event,
    Events,
    Fenced,
    Overclaimed,
    Rescued,
    Retried,
    WorkerFault,
)
from scrapersky.configuration import SECRET_FILES, VARIABLES, Variable, setting_text
from scrapersky.observability.metrics import Metrics
from scripts.deployment import (
    COMPOSE,
    DEPLOY,
    SMALL_COMPOSE,
    VALUES,
    scheduler_variables,
    usual_variables,
)

FIGURE = re.compile(r"\bscrapersky_[a-z_]+")
PLATFORM = {"process_resident_memory_bytes", "process_cpu_seconds_total", "up"}
COMPOSED: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
SMALL: dict[str, Any] = yaml.safe_load(SMALL_COMPOSE.read_text())
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
FAULTS = DEPLOY / "prometheus/rules_test.yml"
PANELS: list[dict[str, Any]] = json.loads(
    (DEPLOY / "grafana/dashboard.json").read_text()
)["panels"]


def ours() -> set[str]:
    """Name every series that a process of ours may show."""
    written = Metrics(Events[Event]()).written().decode()
    found: set[str] = set()
    for line in written.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            found.add(name)
            if kind == "histogram":
                found |= {f"{name}_{part}" for part in ("bucket", "count", "sum")}
    return found


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    for panel in PANELS:
        yield from (target["expr"] for target in panel.get("targets", ()))


def test_every_setting_that_the_deployment_names_exists() -> None:
    values = yaml.safe_load(VALUES.read_text())
    units = "".join(unit.read_text() for unit in (DEPLOY / "systemd").iterdir())
    image = (DEPLOY / "Containerfile").read_text()
    named = {
        name
        for service in (*COMPOSED["services"].values(), SMALL["services"]["scrapersky"])
        if "scrapersky" in service["image"]
        for name in service["environment"]
    }
    named |= {*values["environment"], *values["scheduler"], *values["secretKeys"]}
    named |= set(re.findall(r"(?:Environment=| )([A-Z_]{4,})=", units))
    named |= set(re.findall(r"^ {4}([A-Z_]{4,})=", image, re.MULTILINE))

    assert {"HOST", "WORKER_PORT", "DATABASE_URL_FILE"} <= named | {"HOST"}
    unknown = named - VARIABLES.keys() - SECRET_FILES.keys() - {"HOME", "PATH"}
    assert unknown == set()


@pytest.mark.parametrize(
    ("service", "variables", "fewest"),
    [
        (COMPOSED["services"]["worker"], scheduler_variables(), 80),
        (SMALL["services"]["scrapersky"], usual_variables(), 25),
    ],
    ids=["for a team", "in the root"],
)
def test_what_a_compose_file_starts_is_what_the_product_would_by_itself(
    service: dict[str, Any], variables: list[Variable], fewest: int
) -> None:
    environment = service["environment"]

    assert len(variables) > fewest
    for found in variables:
        assert (
            environment[found.name]
            == f"${{{found.name}:-{setting_text(found.default)}}}"
        )


def test_compose_in_the_root_knew_no_service_scrapersky() -> None:
    ours, postgres = SMALL["services"]["scrapersky"], SMALL["services"]["postgres"]
    made_by_itself = {
        ours["environment"][name] for name in SECRET_FILES.keys() & ours["environment"]
    }

    assert SMALL["services"].keys() == {"scrapersky", "postgres"}
    # Nothing is to be prepared: no value must be given, no file must exist.
    assert ":?" not in SMALL_COMPOSE.read_text()
    assert SMALL.keys() & {"secrets", "configs"} == set()
    assert [file["required"] for file in ours["env_file"]] == [False]
    for path in made_by_itself:
        assert Path(path.rstrip("}")).name in postgres["command"][0]
    # Both files may be used on one host.
    assert SMALL["name"] != COMPOSED["name"]


def test_every_figure_of_rules_and_dashboard_is_one_that_we_show() -> None:
    known = ours() | PLATFORM
    used = {name for expression in expressions() for name in FIGURE.findall(expression)}

    assert len(used) > 30
    assert used - known == set()
    # And the other way round: whoever adds a figure says where it is looked at.
    shown_nowhere = {
        name
        for name in ours()
        if name.startswith("scrapersky_")
        and not name.endswith(("_created", "_info", "_count", "_sum", "_bucket"))
        and not any(used_name.startswith(name) for used_name in used)
    }
    assert shown_nowhere <= {"scrapersky_job_items_total", "scrapersky"}


def test_prometheus_would_read_every_expression() -> None:
    for expression in expressions():
        promql_parser.parse(expression)  # raises, if it is not PromQL
    for rule in RULES:
        assert promql_parser.parse_duration(rule.get("for", "1s")) > timedelta(0)

    with pytest.raises(ValueError, match="parenthesis"):
        promql_parser.parse("sum by (stage (scrapersky_stage_waiting)")


CASES: list[dict[str, Any]] = yaml.safe_load(FAULTS.read_text())["tests"]


def test_every_alert_has_a_fault_that_fires_it() -> None:
    fired = {
        check["alertname"]
        for case in CASES
        for check in case["alert_rule_test"]
        if check["exp_alerts"]
    }
    silent = {
        check["alertname"]
        for case in CASES
        for check in case["alert_rule_test"]
        if not check["exp_alerts"]
    }

    assert fired == silent == {rule["alert"] for rule in RULES}


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed"
)
def test_prometheus_fires_every_alert_at_its_fault() -> None:
    subprocess.run(["promtool", "test", "rules", str(FAULTS)], check=True)


def test_a_search_that_may_take_an_hour_was_trouble_after_half_of_it() -> None:
    (rule,) = [one for one in RULES if one["alert"] == "ScraperSkyItemInWorkTooLong"]

    assert "scrapersky_stage_timeout_seconds" in rule["expr"]


def test_an_alert_asks_for_counters_that_count_what_it_says() -> None:
    events: Events[Event] = Events()
    metrics = Metrics(events)

    events.emit(Claimed("pages", "w", ["a"]))
    events.emit(Retried("pages", "a", None, 1, timedelta(seconds=1)))
    events.emit(DeadLettered("pages", "a", "exhausted", None))
    events.emit(Rescued("pages", "a", None))
    events.emit(Fenced("pages", "a", 1))
    events.emit(Overclaimed("pages", 1, 2))
    events.emit(WorkerFault("claim", "gone"))
    text = metrics.written().decode()

    counters = {
        name
        for rule in RULES
        for name in FIGURE.findall(rule["expr"])
        if name.startswith(("scrapersky_items", "scrapersky_late", "scrapersky_over"))
    }
    silent = {name for name in counters if f"{name}{{" not in text}
    assert silent == {"scrapersky_items_settled_total"}  # nothing was settled


TOLD = ("migrate", "api", "worker")
OURS = (*TOLD, "scrapersky")


@pytest.mark.parametrize("name", TOLD)
def test_nobody_was_told_of_an_alert_in_a_composed_installation(name: str) -> None:
    environment = COMPOSED["services"][name]["environment"]
    told = {found for found in VARIABLES if found.startswith("ALERT_")}

    assert len(told) == 6
    for found in told:
        default = setting_text(VARIABLES[found].default)
        assert environment[found] == f"${{{found}:-{default}}}"


def test_alerts_of_prometheus_went_nowhere() -> None:
    read = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    (manager,) = read["alerting"]["alertmanagers"]
    routed = yaml.safe_load((DEPLOY / "prometheus/alertmanager.yml").read_text())
    (receiver,) = routed["receivers"]
    (webhook,) = receiver["webhook_configs"]
    services = COMPOSED["services"]
    known = {rule["alert"] for rule in RULES}

    (target,) = manager["static_configs"][0]["targets"]
    assert target.partition(":")[0] in services
    assert routed["route"]["receiver"] == receiver["name"]
    assert webhook["url_file"].rpartition("/")[2] in services["alertmanager"]["secrets"]
    severities = {rule["labels"]["severity"] for rule in RULES}
    assert {"page", "ticket"} == severities
    (urgent,) = routed["route"]["routes"]
    assert urgent["matchers"] == ["severity = page"]
    for inhibited in routed["inhibit_rules"]:
        matched = " ".join(inhibited["source_matchers"] + inhibited["target_matchers"])
        parts = re.findall(r"ScraperSky(\w+)", matched)
        parts += re.findall(r"[(|](\w+)", matched)
        assert {f"ScraperSky{part}" for part in parts} - known == set()


def test_every_service_stops_in_time_and_gains_no_rights() -> None:
    grace = int(str(VARIABLES["SHUTDOWN_GRACE_SECONDS"].default))

    for name, service in (*COMPOSED["services"].items(), *SMALL["services"].items()):
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # The entry point of PostgreSQL's image begins as root and becomes another.
        assert service.get("cap_drop") == (None if name == "postgres" else ["ALL"])
        assert "healthcheck" in service or name == "migrate", name
        if name in OURS:
            assert int(service["stop_grace_period"].removesuffix("s")) >= grace + 10
            assert service["read_only"] is True
            assert service["tmpfs"] == ["/tmp:mode=1777"]


def test_secrets_of_a_composed_installation_could_be_committed() -> None:
    ignored = (DEPLOY.parent / ".gitignore").read_text().splitlines()
    files = {secret["file"] for secret in COMPOSED["secrets"].values()}

    assert {str(Path(file).parent) for file in files} == {"secrets"}
    assert "deploy/secrets/" in ignored


WORKFLOW: dict[str, Any] = yaml.safe_load(
    (DEPLOY.parent / ".github/workflows/release.yml").read_text()
)["jobs"]


def test_a_release_is_checked_tried_and_listed_before_it_is_published() -> None:
    steps = {name: str(job["steps"]) for name, job in WORKFLOW.items()}

    assert WORKFLOW["wheels"]["needs"] == WORKFLOW["image"]["needs"] == "check"
    assert WORKFLOW["publish"]["needs"] == ["wheels", "image"]
    assert "./check" in steps["check"]
    assert "packages/curation-sdk" in steps["wheels"]
    assert "cyclonedx" in steps["wheels"]
    assert "linux/amd64,linux/arm64" in steps["image"]
    assert "--read-only" in steps["image"]
    # Nobody may write who does not publish.
    writing = {
        name for name, job in WORKFLOW.items() if "write" in job["permissions"].values()
    }
    assert writing == {"image", "publish"}


def test_what_the_release_is_made_of_is_there() -> None:
    root = DEPLOY.parent
    ran = " ".join(
        [step.get("run", "") for job in WORKFLOW.values() for step in job["steps"]]
        + [
            step.get("with", {}).get("file", "")
            for job in WORKFLOW.values()
            for step in job["steps"]
        ]
    )
    named = re.findall(r"(?:locks|deploy|packages|frontend)(?:/[\w.-]+)*", ran)

    assert {"locks/run.txt", "deploy/Containerfile", "packages/curation-sdk"} <= {
        *named
    }
    assert [name for name in named if not (root / name).exists()] == []


IMAGE = re.compile(r"^\s*(?:image:|FROM)\s+(\S+)", re.MULTILINE)
EXACT = re.compile(r"[\w./-]+:v?\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?")


def images() -> Iterator[str]:
    """Yield every image that a file names, as it is without settings."""
    for file in (SMALL_COMPOSE, COMPOSE, DEPLOY / "Containerfile"):
        for name in IMAGE.findall(file.read_text()):
            yield re.sub(r"\$\{\w+:-(.*)\}", r"\1", name)


def test_the_newest_image_of_the_day_was_taken_whatever_it_was() -> None:
    found = {*images()}
    chart = yaml.safe_load((DEPLOY / "helm/scrapersky/Chart.yaml").read_text())
    written = [file for file in DEPLOY.rglob("*") if file.is_file()]
    written += (DEPLOY.parent / "docs/how-to").glob("*.md")

    assert len(found) == 7
    assert [name for name in found if not EXACT.fullmatch(name)] == []
    assert [one.name for one in written if ":latest" in one.read_text()] == []
    # Ours is the version that the files are of.
    assert f"scrapersky:{version('scrapersky')}" in found
    assert chart["appVersion"] == version("scrapersky")


UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
DIRECTIVE = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
CONFINED = {
    "StateDirectoryMode": "0700",
    "UMask": "0077",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectProc": "invisible",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "SystemCallArchitectures": "native",
    "SystemCallErrorNumber": "EPERM",
    **dict.fromkeys(
        (
            "NoNewPrivileges", "ProtectHome", "ProtectClock", "ProtectHostname",
            "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables",
            "ProtectControlGroups", "PrivateDevices", "PrivateMounts", "PrivateTmp",
            "RemoveIPC", "LockPersonality", "MemoryDenyWriteExecute", "RestrictRealtime",
            "RestrictSUIDSGID",
        ),
        "yes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_process_under_systemd_could_call_what_it_never_needs(unit: Path) -> None:
    lines = DIRECTIVE.findall(unit.read_text())
    given = dict(lines)
    calls = [value for name, value in lines if name == "SystemCallFilter"]

    assert {name: given.get(name) for name in CONFINED} == CONFINED
    assert len(calls) == 2
    # Without these no parser could confine itself.
    assert {"@system-service", "landlock_restrict_self"} <= {*calls[0].split()}
    assert {"~@privileged", "process_vm_readv"} <= {*calls[1].split()}
    is_worker = "worker" in unit.name
    assert given["RestrictNamespaces"] == ("user net" if is_worker else "yes")


def test_units_shared_a_user_and_a_state_directory() -> None:
    users = (DEPLOY / "systemd/scrapersky.sysusers").read_text()
    made = dict(re.findall(r'^u (\S+) - ".*" (\S+)$', users, re.MULTILINE))
    found = {}
    for unit in UNITS:
        text = unit.read_text()
        given = dict(DIRECTIVE.findall(text))
        place = given["StateDirectory"]
        assert "DynamicUser" not in text
        assert f"SCRAPERSKY_DATA_DIR=%S/{place} " in text
        found[given["User"]] = f"/var/lib/{place}"

    assert len(found) == len(UNITS) == 3
    assert found == made


def test_the_owners_address_is_given_to_the_migration_alone() -> None:
    drop_in = (DEPLOY / "systemd/owner.conf").read_text()

    assert "scrapersky-migrate.service.d/owner.conf" in drop_in
    assert "LoadCredential=DATABASE_URL:" in drop_in
    assert [one.name for one in UNITS if "OWNER_DATABASE_URL" in one.read_text()] == []


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is not installed"
)
def test_systemd_reads_every_line_of_the_units(tmp_path: Path) -> None:
    program = tmp_path / "opt/scrapersky/bin/scrapersky"
    program.parent.mkdir(parents=True)
    program.symlink_to("/bin/true")
    names = []
    for unit in UNITS:
        # A template is checked as one of its instances.
        name = unit.name.replace("@.", "@01.")
        text = unit.read_text().replace("/opt/", f"{tmp_path}/opt/")
        (tmp_path / name).write_text(text)
        names.append(str(tmp_path / name))
    command = ["systemd-analyze", "verify", "--man=no", *names]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    said = [line for line in done.stderr.splitlines() if "scrapersky" in line]
    assert (done.returncode, said) == (0, [])


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is not installed"
)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_little_exposed(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20"]

    subprocess.run([*command, str(unit)], check=True, capture_output=True)
