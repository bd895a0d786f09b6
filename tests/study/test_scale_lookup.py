"""A check is found by the studies whose conditions it has."""

from typing import Any

import pytest
from tests.study.test_scale_check import TwoModels, by_buffer, by_smaller_buffer, failing

from rocktune.ledger import Ledger
from rocktune.outcome import ScaleCheck
from rocktune.study import (
    StudySpec,
    find_scale_check,
    has_larger_model,
    make_request,
    resolve,
    resolve_scale_check,
    run_scale_check,
    scale_lookup,
)
from rocktune.study.scale_lookup import check_key, shipped_row, shipped_rows

ENGINE = "RocksDB 7.8.3, assertions on"
CONDITIONS: dict[str, Any] = {"workload": "ycsb-a", "device": "ssd-100mb", "scale": "1/64"}


def study_of(**given: Any) -> StudySpec:
    return resolve(make_request(CONDITIONS | given), "s")


def checked(ledger: Ledger, name: str = "c", ranks: bool = True, **given: Any) -> ScaleCheck:
    """Records a finished check, on a RocksDB of version 7.8.3."""
    spec = resolve_scale_check(make_request(CONDITIONS | given), name, 20)
    engine = TwoModels(by_buffer if ranks else by_smaller_buffer, by_buffer)
    engine.version = ENGINE
    return run_scale_check(spec, engine, ledger)


@pytest.fixture(autouse=True)
def no_shipped_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_lookup, "shipped_rows", list)


@pytest.mark.parametrize(
    ("given", "engine"),
    [
        ({}, ENGINE),
        ({"seed": 9, "tuner": "random", "budget": "9s", "constraints": ("db_bytes<=1e12",)}, ENGINE),
        ({}, "RocksDB 7.8.3, assertions off"),
        ({"memory": "1000MiB"}, ENGINE),
    ],
)
def test_a_study_on_the_same_conditions_finds_it(ledger: Ledger, given: dict[str, Any], engine: str) -> None:
    check = checked(ledger)
    found = find_scale_check(study_of(**given), engine, ledger)
    assert found == check.model_copy(update={"foremost": ()})


def test_names_do_not_matter(ledger: Ledger, tmp_path: Any) -> None:
    check = checked(ledger)
    spec = study_of()
    renamed = {
        "workload": spec.workload.model_copy(update={"name": "mine"}),
        "device": spec.device.model_copy(update={"name": "mine"}),
    }
    found = find_scale_check(spec.model_copy(update=renamed), ENGINE, ledger)
    assert found is not None
    assert found.workload == check.workload


@pytest.mark.parametrize(
    ("given", "engine"),
    [
        ({"workload": "ycsb-b"}, ENGINE),
        ({"device": "none"}, ENGINE),
        ({"space": "alabed"}, ENGINE),
        ({"memory": "2GiB"}, ENGINE),
        ({"scale": "1/32"}, ENGINE),
        ({"protocol": "short"}, ENGINE),
        ({"objective": "read_latency_us_p99"}, ENGINE),
        ({}, "RocksDB 11.8.1, assertions on"),
        ({}, "db_bench, RocksDB 7.8.4, assertions on"),
    ],
)
def test_a_study_on_other_conditions_does_not(ledger: Ledger, given: dict[str, Any], engine: str) -> None:
    checked(ledger)
    assert find_scale_check(study_of(**given), engine, ledger) is None


def test_the_newest_finished_and_decided_check_counts(ledger: Ledger) -> None:
    checked(ledger, "old", ranks=True)
    new = checked(ledger, "new", ranks=False, seed=2)
    failed = TwoModels(by_buffer, by_buffer, failing(4))
    failed.version = ENGINE
    run_scale_check(resolve_scale_check(make_request(CONDITIONS), "undecided", 20), failed, ledger)
    begun = resolve_scale_check(make_request(CONDITIONS), "begun", 20)
    ledger.create_study("begun", begun.model_dump(mode="json"), ENGINE)
    found = find_scale_check(study_of(), ENGINE, ledger)
    assert found is not None
    assert found.verdict == new.verdict == "does not rank"


def test_a_scale_without_a_larger_model_has_no_check(ledger: Ledger) -> None:
    for scale in ("1", "1/2"):
        assert not has_larger_model(study_of(scale=scale))
        assert find_scale_check(study_of(scale=scale), ENGINE, ledger) is None
    assert has_larger_model(study_of(scale="1/4"))


def test_a_shipped_check_is_read_as_it_was_written(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    check = checked(ledger, ranks=False)
    spec = resolve_scale_check(make_request(CONDITIONS), "c", 20)
    row = {name: "" if value is None else str(value) for name, value in shipped_row(spec, check).items()}
    monkeypatch.setattr(scale_lookup, "shipped_rows", lambda: [row])
    assert find_scale_check(study_of(), ENGINE, None) == check.model_copy(update={"foremost": ()})
    assert find_scale_check(study_of(scale="1/32"), ENGINE, None) is None
    newer = checked(ledger, "newer", seed=2)
    found = find_scale_check(study_of(), ENGINE, ledger)
    assert found is not None
    assert found.verdict == newer.verdict == "ranks"


@pytest.mark.parametrize("row", shipped_rows(), ids=lambda row: f"{row['workload']} {row['scale']}")
def test_each_shipped_check_is_found_by_studies_on_its_presets(row: dict[str, str]) -> None:
    """A preset that changes needs new rows: repeat `python -m benchmarks.rocktune.scale_checks`."""
    names = ("workload", "device", "space", "scale", "protocol")
    spec = study_of(**{name: row[name] for name in names}, objective=row["figure"])
    assert check_key(spec, row["engine"]) == row["key"]


def test_a_check_that_cannot_be_read_is_passed_over(ledger: Ledger) -> None:
    spec = resolve_scale_check(make_request(CONDITIONS), "c", 20)
    newer = ledger.create_study("newer", spec.model_dump(mode="json") | {"unknown": 1}, ENGINE)
    with ledger.lock(newer):
        ledger.set_state(newer, "finished")
    assert find_scale_check(study_of(), ENGINE, ledger) is None
