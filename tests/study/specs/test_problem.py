import math

import pytest

from rocktune.device import DeviceSpec
from rocktune.study import make_request, resolve
from rocktune.study.specs.problem import expected_entries, problem_of
from rocktune.testing.own_options import imported_options
from rocktune.workload import WorkloadSpec, load_workload

DEVICE = DeviceSpec(name="d", bandwidth_bytes_s=3_120_000)


def _workload(preloaded: int = 0, **mix: float) -> WorkloadSpec:
    return WorkloadSpec.model_validate(
        {"name": "w", "keys": 100_000, "sessions": [{"mix": mix}], "preload": {"keys": preloaded}}
    )


def test_puts_are_bounded_by_the_device_and_meet_keys_again() -> None:
    # Entries of 16 + 1024 = 1,040 bytes, written three times each: 3,120,000 / 3,120 = 1,000 a second,
    # 100,000 in 100 s. Of 100,000 keys these leave 1 - 1/e: 63,212.
    assert expected_entries(_workload(get=0.5, put=0.5), DEVICE) == pytest.approx(63_212.06, abs=0.01)


def test_what_was_preloaded_is_there_already() -> None:
    # 40,000 keys, and 1 - 1/e of the 60,000 others.
    expected = 40_000 + 60_000 * (1 - math.exp(-1))
    assert expected_entries(_workload(40_000, put=1.0), DEVICE) == pytest.approx(expected)
    assert expected_entries(_workload(100_000, put=1.0), DEVICE) == 100_000


def test_inserts_are_all_new() -> None:
    assert expected_entries(_workload(insert=1.0), DEVICE) == pytest.approx(100_000)
    # Half of the 100,000 writes are inserts; 50,000 puts leave 1 - exp(-0.5) of 100,000 keys.
    half = expected_entries(_workload(put=0.1, insert=0.1, get=0.8), DEVICE)
    assert half == pytest.approx(50_000 + 100_000 * (1 - math.exp(-0.5)))


def test_without_writes_nothing_is_added() -> None:
    assert expected_entries(_workload(get=1.0), DEVICE) == 1
    assert expected_entries(_workload(70_000, get=1.0), DEVICE) == 70_000


def test_an_unlimited_device_takes_5_million_puts() -> None:
    none = DeviceSpec(name="none")
    expected = 100_000 * -math.expm1(-5_000_000 / 100_000)
    assert expected_entries(_workload(put=1.0), none) == pytest.approx(expected)


def test_a_problem_knows_what_the_study_says() -> None:
    own = {"db": {}, "cf": {"write_buffer_size": str(40 << 20), "ttl": "7"}, "table": {}}
    request = make_request(
        {"workload": "dremel-write-heavy", "scale": "1/64", "objective": "balance", "space": "dremel"}
    )
    plain = problem_of(resolve(request, "study"))
    assert plain.baseline == plain.space.default()
    assert (plain.scale, plain.budget_s, plain.objective.name) == (64, 7200 / 64, "balance")
    assert plain.entry_bytes == load_workload("dremel-write-heavy").entry_bytes
    theirs = problem_of(resolve(request, "study", lambda _loaded: imported_options(own)))
    assert theirs.baseline["write_buffer_size"] == 40 << 20
    assert theirs.space.options(theirs.space.default())["cf"]["ttl"] == "7"
