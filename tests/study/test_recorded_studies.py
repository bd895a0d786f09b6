"""Studies on tables: what a request takes from the table, and a whole study in no time."""

import math
from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.space import load_space
from rocktune.study import make_request, resolve, resolve_sweep, run_sweep
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import write_table
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration


def speed(configuration: Configuration) -> float:
    return 1000.0 * float(configuration["threads"]) + 50 * float(configuration["max_write_buffer_number"])


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample of Jia and Chen's space, made up."""
    request = make_request({"workload": "zipfian", "device": "sata", "space": "jia-chen", "scale": "1/64"})
    spec = resolve_sweep(request, "swept", HowToSweep(samples=150))
    path = tmp_path_factory.mktemp("table") / "t.csv"
    engine = SyntheticEngine(speed)
    engine.version = "RocksDB 7.8.3, assertions on"
    with open_ledger(str(path.with_name("ledger.sqlite"))) as ledger:
        write_table(path, run_sweep(spec, engine, ledger))
    return path


def asked(table: Path, **given: Any) -> dict[str, Any]:
    return {"engine": "recorded", "table": str(table), "study": "s"} | given


def test_the_table_says_workload_device_space_memory_and_scale(table: Path) -> None:
    spec = resolve(make_request(asked(table, tuner="random")), "s")
    assert (spec.workload.name, spec.device.name, spec.space) == ("zipfian", "sata", {"name": "jia-chen"})
    assert (spec.scale, spec.memory_bytes) == (64, load_space("jia-chen", None, 0).memory_bytes)
    assert spec.age_s(120) == pytest.approx(180 / 64)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workload": "random"}, "workload: table .*t.csv was measured with a different one; leave it out"),
        ({"device": "nvme"}, "device: table"),
        ({"space": "dremel"}, "space: table"),
        ({"scale": "1/32"}, "scale: table"),
        ({"memory": "4GiB"}, "memory: table"),
        ({"options_file": "OPTIONS"}, "options_file: a table has its own baseline"),
        ({"protocol": "steady"}, "protocol: engine 'recorded' cannot age a store"),
        ({"rate": 100.0}, "rate: only the steady protocol has a phase at an offered rate"),
        ({"column_family": "users"}, "column_family: a table has its own store; leave --column-family out"),
        ({"all_families": True}, "all_families: a table has its own store"),
        ({"block_cache": "1GiB"}, "block_cache: a table has its own store"),
        ({"shared_cache": True}, "shared_cache: a table has its own store"),
        ({"table": None}, "table: missing; give the file"),
        ({"table": "nowhere.csv"}, "nowhere.csv: cannot be read: No such file"),
        (
            {"engine": "embedded"},
            "table: engine 'embedded' does not use it; choose engine 'recorded' or leave it out",
        ),
    ],
)
def test_what_does_not_go_with_the_table_is_refused(table: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        resolve(make_request(asked(table) | given), "s")


def test_what_the_table_says_may_be_said_again(table: Path) -> None:
    given = {"workload": "zipfian", "device": "sata", "scale": "1/64", "memory": "8GiB", "space": "jia-chen"}
    assert resolve(make_request(asked(table, tuner="random", **given)), "s").scale == 64


@pytest.mark.parametrize("interpolate", [False, True])
def test_a_study_on_a_table_ends_with_its_report(table: Path, tmp_path: Path, interpolate: bool) -> None:
    verification = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2}
    outcome = api.tune(
        engine="recorded",
        table=table,
        interpolate=interpolate,
        tuner="random",
        budget="60s",
        study="s",
        ledger=str(tmp_path / "l.sqlite"),
        out=tmp_path / "out",
        verification=verification,
    ).to_json()
    assert outcome["search_scale"] == "1/64"
    assert outcome["ratio_to_baseline"]["value"] > 1.1
    assert outcome["ratio_to_rocksdb_defaults"]["value"] is None
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert not math.isnan(outcome["seconds"]["search"])
    again = api.resume("s", ledger=str(tmp_path / "l.sqlite"))
    assert isinstance(again, api.Outcome)
    assert again.to_json()["best"] == outcome["best"]
    with pytest.raises(UserError, match=r"has only the runs of table .*t\.csv; give --scale 1/64, the scale"):
        api.verify("s", "1", ledger=str(tmp_path / "l.sqlite"))
    report = (tmp_path / "out" / "report.html").read_text()
    assert "rocktune verify" not in report
    assert "The table has no runs at full size" in report


def test_one_configuration_is_looked_up(table: Path) -> None:
    run = api.run(engine="recorded", table=table, options={"threads": "1"}, repeat=2)
    assert run["scale"] == "1/64"
    assert {each["status"] for each in run["runs"]} <= {"ok", "invalid"}
