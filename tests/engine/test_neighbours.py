"""Runs on several workloads; the engine's throughput follows from the workload's share of writes."""

from dataclasses import replace

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine.base import RunFailed
from rocktune.engine.neighbours import conditions_of, open_run
from rocktune.space import load_space
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Experiment, Status
from rocktune.workload import load_workload, neighbours

GIVEN = load_workload("dremel-write-heavy")
NEAR = neighbours(GIVEN, 0.1)
CONFIGURATION = Configuration({})


def experiment() -> Experiment:
    return Experiment(GIVEN, DeviceSpec(name="none"), 64, load_space("dremel", None, 1e6), neighbours=NEAR)


def silent(_phase: str, _done: float, _total: float) -> None:
    """Ignores progress."""


def engine(**given: object) -> SyntheticEngine:
    return SyntheticEngine(lambda _: 1000.0, own_noise=0, **given)  # type: ignore[arg-type]


def test_a_run_is_measured_on_each_workload_with_one_seed() -> None:
    measuring = engine()
    run = open_run(measuring, experiment(), CONFIGURATION, 7, silent)
    # The others wait until the given workload is measured.
    assert [each.workload for each in measuring.experiments] == [GIVEN]
    window = run.advance(2.0)
    assert [each.workload for each in measuring.experiments] == [GIVEN, *NEAR]
    assert not any(each.neighbours for each in measuring.experiments)
    assert {seed for _, seed in measuring.opened} == {7}
    assert list(window.neighbours) == [near.name for near in NEAR]
    assert measuring.advanced_s == pytest.approx(2.0 * (1 + len(NEAR)))
    # All of them hold memory while they are parked.
    assert run.park() == (1 + len(NEAR)) * measuring.resident_bytes
    later = run.advance(3.0)
    assert len(measuring.experiments) == 1 + len(NEAR)
    together = window.merged(later)
    assert {near.until_s for near in together.neighbours.values()} == {3.0}
    assert {near.from_s for near in together.neighbours.values()} == {0.0}
    run.close()
    assert measuring.open_runs == set()


def test_one_workload_is_a_plain_run() -> None:
    measuring = engine()
    run = open_run(measuring, replace(experiment(), neighbours=()), CONFIGURATION, 7, silent)
    assert run.advance(2.0).neighbours == {}


def test_a_failure_on_any_workload_fails_the_run_and_nothing_stays_open() -> None:
    # The first run opens and advances; the second one fails at age 1.
    calls = []

    def fault(_configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        calls.append(until_s)
        return Status.CRASHED if calls.count(1.0) == 2 else None

    measuring = engine(fault=fault)
    run = open_run(measuring, experiment(), CONFIGURATION, 7, silent)
    with pytest.raises(RunFailed):
        run.advance(1.0)
    run.close()
    assert measuring.open_runs == set()


def test_programs_beside_any_of_the_runs_disturb_it() -> None:
    shares = iter((0.0, 0.5, *[0.0] * len(NEAR)))
    run = open_run(engine(others_share=lambda: next(shares)), experiment(), CONFIGURATION, 7, silent)
    assert run.advance(1.0).others_share == pytest.approx(0.5 / (1 + len(NEAR)))


def test_preparing_knows_all_runs() -> None:
    prepared = conditions_of((experiment(), CONFIGURATION))
    assert [each.workload for each, _ in prepared] == [GIVEN, *NEAR]
