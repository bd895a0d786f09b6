import pytest

from rocktune.engine import RunFailed
from rocktune.study.executors import EngineLane
from rocktune.study.executors.runs import Job, Window
from rocktune.testing.synthetic import synthetic_experiment
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Measurement, RunKey, Status

SLOW, MIDDLE, FAST = (Configuration({"speed": speed}) for speed in (1, 2, 3))
SEED = 7
EXPERIMENT = synthetic_experiment()


def _silent(_phase: str, _done: float, _total: float) -> None: ...


def _score(window: Measurement) -> float:
    return window.figures["throughput_ops_s"]


def _engine(**settings: object) -> SyntheticEngine:
    return SyntheticEngine(lambda configuration: 1000.0 * float(configuration["speed"]), **settings)  # type: ignore[arg-type]


def _lane(engine: SyntheticEngine, limit_bytes: int = 1 << 40) -> EngineLane:
    return EngineLane(engine, "here", limit_bytes)


def _job(key: RunKey, from_s: float, until_s: float, keep: bool) -> Job:
    return Job(key, EXPERIMENT, key[0], SEED + key[1], from_s, until_s, keep, _score)


def _window(of: Window) -> tuple[float, float]:
    assert of.measurement is not None
    return of.measurement.from_s, of.measurement.until_s


def test_a_parked_run_goes_on_where_it_is() -> None:
    engine = _engine()
    lane = _lane(engine)
    first = lane.measure(_job((SLOW, 0), 0, 2, True), _silent)
    second = lane.measure(_job((SLOW, 0), 2, 3, True), _silent)
    assert (_window(first), _window(second), second.repeated_s) == ((0, 2), (2, 3), 0)
    assert engine.opened == [(SLOW, SEED)]
    assert engine.advanced_s == 3


def test_beyond_the_limit_the_least_promising_run_is_discarded_and_repeated_when_asked_for() -> None:
    engine = _engine(resident_bytes=10)
    lane = _lane(engine, limit_bytes=20)
    for configuration in (MIDDLE, SLOW, FAST):
        lane.measure(_job((configuration, 0), 0, 2, True), _silent)
    assert len(engine.open_runs) == 2
    kept = [lane.measure(_job((configuration, 0), 2, 3, False), _silent) for configuration in (FAST, MIDDLE)]
    assert [window.repeated_s for window in kept] == [0, 0]
    again = lane.measure(_job((SLOW, 0), 2, 3, False), _silent)
    assert again.repeated_s == 2
    assert _window(again) == (2, 3)
    assert engine.opened[3:] == [(SLOW, SEED)]


def test_a_run_that_is_not_kept_is_closed_and_so_is_one_released() -> None:
    engine = _engine()
    lane = _lane(engine)
    lane.measure(_job((SLOW, 0), 0, 1, False), _silent)
    assert not engine.open_runs
    for replicate in (0, 1, 2):
        lane.measure(_job((FAST, replicate), 0, 1, True), _silent)
    lane.release((FAST, 1))
    lane.release((SLOW, 5))
    assert len(engine.open_runs) == 2
    lane.release_all()
    assert not engine.open_runs


def test_a_failed_run_is_closed() -> None:
    def fault(configuration: Configuration, seed: int, until_s: float) -> Status | None:
        return Status.CRASHED if until_s > 1 else None

    engine = _engine(fault=fault)
    lane = _lane(engine)
    lane.measure(_job((SLOW, 0), 0, 1, True), _silent)
    with pytest.raises(RunFailed, match="crashed"):
        lane.measure(_job((SLOW, 0), 1, 2, True), _silent)
    assert not engine.open_runs
