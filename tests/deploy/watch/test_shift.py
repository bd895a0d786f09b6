import numpy as np
import pytest
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import shift
from rocktune.deploy.watch.shift import Reference, compared, distance


def _after(reference: Reference, rng: np.random.Generator, count: int, reads: float) -> list[Reference]:
    found = []
    for each in intervals(rng, count, reads=reads):
        reference = compared(reference, each)
        found.append(reference)
    return found


def test_evidence_of_a_deviation_by_hand() -> None:
    # One feature of four deviates: 13 intervals alternate by 0.04, so that the standard deviation is 0.0416.
    means, count = (0.5, 0.0, 0.0, 0.0, 0.0), 13
    squares = (12 * 0.0416**2, 0.0, 0.0, 0.0, 0.0)
    reference = Reference(count=count, means=means, squares=squares)
    # t = 0.0863 / (0.0416 * sqrt(1 + 1/13)) = 2.0; P(|t_12| > 2) = 0.0687; 0.1 * 0.0687^-0.9 = 1.113.
    # The other four have p = 1, so e = 0.1 each: (1.113 + 0.4) / 5 = 0.3026.
    features = (0.5 + 2 * 0.0416 * np.sqrt(1 + 1 / 13), 0.0, 0.0, 0.0, 0.0)
    assert shift._evidence(reference, features) == pytest.approx(0.3026, rel=2e-3)


def test_three_intervals_of_another_mix_are_a_change_and_two_are_not() -> None:
    rng = np.random.default_rng(1)
    calm = _after(Reference(), rng, 20, 0.1)[-1]
    found = _after(calm, rng, 3, 0.8)
    assert [each.has_changed for each in found] == [False, False, True]
    assert found[-1].count == calm.count  # they did not become part of the reference


def test_one_strange_interval_is_forgotten() -> None:
    rng = np.random.default_rng(2)
    strange = _after(_after(Reference(), rng, 20, 0.1)[-1], rng, 1, 0.8)[-1]
    assert strange.is_suspicious
    assert not _after(strange, rng, 6, 0.1)[-1].is_suspicious


def test_an_unchanged_workload_alarms_no_more_often_than_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    # Noise above the floors, so that these do not make the test conservative. n / A = 40 / 400 = 10%.
    monkeypatch.setattr(shift, "ALARM_EVIDENCE", 400.0)
    rng, alarms, runs = np.random.default_rng(3), 0, 400
    for _ in range(runs):
        reference = Reference()
        for number in range(shift.REFERENCE_INTERVALS + 40):
            features = tuple(rng.standard_normal(5))
            if number < shift.REFERENCE_INTERVALS:
                reference = shift._with(reference, features)
                continue
            evidence = shift._evidence(reference, features) * max(1.0, reference.evidence)
            reference = reference.model_copy(update={"evidence": evidence})
            if reference.has_changed:
                alarms += 1
                break
            if not reference.is_suspicious:
                reference = shift._with(reference, features)
    assert alarms / runs <= 0.1


def test_a_stationary_workload_never_alarms_in_a_year_of_intervals() -> None:
    found = _after(Reference(), np.random.default_rng(4), 5000, 0.3)
    assert not any(each.has_changed for each in found)


def test_features_by_hand() -> None:
    (interval,) = intervals(np.random.default_rng(1), 1)
    made = {
        "reads": 500,
        "writes": 300,
        "seeks": 200,
        "found_reads": 400,
        "written_bytes": 3000,
        "steps": 1800,
    }
    expected = [0.5, 0.2, 0.1, 0.3 * np.log(11), 0.2 * np.log(10)]
    assert shift.features_of(interval.model_copy(update=made)) == pytest.approx(expected)


def test_two_intervals_of_loading_leave_a_workload_recognisable() -> None:
    rng = np.random.default_rng(6)
    loading = _after(Reference(), rng, 2, 0.0)[-1]
    assert (
        distance(_after(loading, rng, 10, 0.1)[-1], _after(Reference(), rng, 12, 0.1)[-1])
        < shift.SAME_DISTANCE
    )


def test_distances_tell_workloads_apart() -> None:
    rng = np.random.default_rng(5)
    first, again, other = (_after(Reference(), rng, 12, reads)[-1] for reads in (0.1, 0.1, 0.5))
    assert distance(first, again) < shift.SAME_DISTANCE < distance(first, other)
