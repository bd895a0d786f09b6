import math

import pytest

from rocktune.device import DeviceSpec, load_device
from rocktune.study import make_request, resolve
from rocktune.study.specs.problem import _operations_per_s, expected_entries, level_entries, problem_of
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


def test_reads_take_their_share_of_the_device() -> None:
    # A put costs 3,120 bytes, a get 4,096: of 3,120,000 / 3,608 = 864.75 operations a second half are puts.
    # 43,237 puts in 100 s leave 1 - exp(-0.43237) of 100,000 keys.
    found = level_entries(_workload(get=0.5, put=0.5), DEVICE)
    assert found == pytest.approx(100_000 * (1 - math.exp(-0.432373)), rel=1e-3)
    # Reads of absent keys end at the filters.
    absent = level_entries(_workload(get_absent=0.5, put=0.5), DEVICE)
    assert absent == pytest.approx(63_212.06, rel=1e-3)
    assert level_entries(_workload(40_000, get=0.5, put=0.5), DEVICE) == pytest.approx(
        40_000 + 0.6 * found, rel=1e-6
    )


def test_skewed_puts_meet_fewer_keys() -> None:
    skewed = WorkloadSpec.model_validate(
        {
            "name": "w",
            "keys": 100_000,
            "sessions": [{"mix": {"put": 1.0}}],
            "key_chooser": {"kind": "hotspot", "hot_key_share": 0.1, "hot_operation_share": 0.9},
        }
    )
    # 90,000 puts to 10,000 hot keys reach all but exp(-9), 10,000 to the 90,000 others 1 - exp(-1/9).
    by_hand = 10_000 * (1 - math.exp(-9)) + 90_000 * (1 - math.exp(-1 / 9))
    assert level_entries(skewed, DEVICE) == pytest.approx(by_hand, rel=2e-3)


def test_inserts_and_nothing_but_reads_in_equation_1() -> None:
    assert level_entries(_workload(insert=1.0), DEVICE) == pytest.approx(100_000)
    assert level_entries(_workload(70_000, get=1.0), DEVICE) == 70_000
    none = DeviceSpec(name="none")
    assert level_entries(_workload(insert=0.2, get=0.8), none) == pytest.approx(1_000_000)


@pytest.mark.parametrize(("gets", "paper_ops_s", "share"), [(30, 34_065, 0.1), (60, 29_319, 0.1)])
def test_the_rate_is_that_of_the_papers_table_3(gets: int, paper_ops_s: int, share: float) -> None:
    workload, device = load_workload(f"dremel-n-skew0.3-{gets}get"), load_device("ssd-100mb")
    assert _operations_per_s(workload, device) == pytest.approx(paper_ops_s, rel=share)


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
