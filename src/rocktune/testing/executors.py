"""Conformance suite that each executor must pass.

A test file for a new executor needs only a fixture:

    class TestMyExecutor(ExecutorConformance):
        @pytest.fixture
        def executing(self) -> Executing: ...      # returns a context manager for each engine factory

A study must have the same outcome and the same records on every executor as on a single engine, in whatever
order results arrive.
"""

import signal
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.outcome import Outcome
from rocktune.study import Executor, Observer, StudyInterrupted, StudySpec, make_request, resolve, run_study
from rocktune.study.measuring.disturbance import PLACED
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Experiment, OptionMaps, Result, Status

MakeEngine = Callable[[], Engine]
Executing = Callable[[MakeEngine], AbstractContextManager[Executor]]
"""Opens an executor whose lanes have engines that a function makes; it is called on the lane's machine."""

WALL_TIMES = ("opening", "loading", "repeated", "other", "total")
"""The fields of an outcome's `seconds` that differ between equal studies, because they are wall times."""


def response(configuration: Configuration) -> float:
    """Returns operations per second: they grow with the write buffer, and bare RocksDB is slow."""
    if not configuration:
        return 10_000
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 15)


def uneven_s(configuration: Configuration) -> float:
    """Returns up to 8 ms that depend on the configuration, so that results arrive out of order."""
    return zlib.crc32(configuration.key.encode()) % 5 * 2e-3


def some_fail(configuration: Configuration, seed: int, until_s: float) -> Status | None:
    """Makes some configurations fail to open and some crash later; see `Fault`."""
    # A checksum, because Python's own hashes differ between machines.
    kind = zlib.crc32(f"{configuration.key} {seed}".encode()) % 7
    if not configuration or configuration["block_size"] == 4096:
        return None
    return (
        Status.INVALID if kind == 0 and not until_s else Status.CRASHED if kind == 1 and until_s > 1 else None
    )


class RefusingEngine(SyntheticEngine):
    """An engine that finds at the first `open` that the machine lacks something."""

    def open(self, *_: Any) -> Any:
        """Raises UserError."""
        raise UserError("data directory /data: no space; free some")


class LimitedEngine(SyntheticEngine):
    """An engine that refuses `check`, as on a driver's machine without RocksDB."""

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:  # noqa: ARG002
        """Raises UserError, because a study may use only the engines of the executor's lanes."""
        raise UserError("there is no RocksDB on this machine")


def plain_engine() -> Engine:
    """Returns an engine without faults."""
    return LimitedEngine(response, own_noise=0.002, pause_s=uneven_s)


def failing_engine() -> Engine:
    """Returns an engine on which some runs fail."""
    return SyntheticEngine(response, some_fail, own_noise=0.002, pause_s=uneven_s)


def single_run_engine() -> Engine:
    """Returns an engine that cannot pause runs."""
    return SyntheticEngine(response, own_noise=0.002, pause_s=uneven_s, can_park=False)


def refusing_engine() -> Engine:
    """Returns an engine whose machine lacks something."""
    return RefusingEngine(response)


def small_study(tuner: str = "dremel", seed: int = 3) -> StudySpec:
    """Returns a study of about a hundred trials that continues runs and has all phases."""
    request = make_request(
        {
            "workload": "dremel-write-heavy",
            "device": "ssd-100mb",
            "tuner": tuner,
            "scale": "1/64",
            "seed": seed,
            "protocol": "short",
            "budget": 1500 / 64 if tuner == "dremel" else 16 * 120 / 64,
            "verification": {"finalists": 2, "pick_runs": 2, "ablation_pairs": 2},
        }
    )
    return resolve(request, "study")


def timeless(outcome: Outcome) -> Outcome:
    """Returns an outcome with everything removed that may differ between equal studies."""
    seconds = outcome.seconds.model_copy(update=dict.fromkeys(WALL_TIMES, 0.0))
    return outcome.model_copy(update={"seconds": seconds, "ledger": ""})


def recorded(ledger: Ledger) -> list[tuple[Any, ...]]:
    """Returns the parts of all trial records that equal studies share, in the order of batches and trials."""
    return [
        (
            record.batch,
            record.index,
            record.trial,
            record.status,
            record.message,
            record.measured_s,
            record.measurement and record.measurement.raw,
        )
        for record in ledger.trials(ledger.study("study"))
    ]


class Watching(Observer):
    """Keeps notes and counts, and calls a function when a number of trials have been recorded."""

    def __init__(self, after: int = 0, act: Callable[[], None] = lambda: None) -> None:
        """Creates an observer that calls `act` when `after` trials have been recorded; never if 0."""
        self.notes: list[str] = []
        self.finished = 0
        self.max_at_work = 0
        self._after = after
        self._act = act

    def trial_finished(self, result: Result) -> None:  # noqa: ARG002 - counts
        """Counts the trial."""
        self.finished += 1
        if self.finished == self._after:
            self._act()

    def at_work(self, machines: Any) -> None:
        """Keeps the maximum number of lanes that were measuring at once."""
        assert len(set(machines)) == len(machines), "each has a name of its own"
        self.max_at_work = max(self.max_at_work, len(machines))

    def note(self, text: str) -> None:
        """Keeps the note."""
        self.notes.append(text)


class ExecutorConformance:
    """Tests of an executor. Subclasses have a fixture `executing`."""

    @pytest.fixture
    def ledger(self, tmp_path: Path) -> Iterator[Ledger]:
        """Returns an empty ledger."""
        with open_ledger(str(tmp_path / "ledger.sqlite")) as ledger:
            yield ledger

    @pytest.fixture
    def expected(self, tmp_path: Path) -> Callable[[MakeEngine, StudySpec], tuple[Any, ...]]:
        """Returns a function that runs a study on a single engine and returns its outcome and records."""

        def measured(make_engine: MakeEngine, spec: StudySpec) -> tuple[Any, ...]:
            with open_ledger(str(tmp_path / "expected.sqlite")) as ledger:
                outcome = run_study(spec, make_engine(), ledger)
                return timeless(outcome), recorded(ledger)

        return measured

    def lose_a_lane(self, executor: Executor) -> None:  # noqa: ARG002
        """Makes one of an executor's lanes be lost at its next measurement.

        Overridden where lanes can be lost.
        """
        pytest.skip("its lanes are threads, which are not lost")

    @pytest.mark.parametrize("tuner", ["dremel", "random"])
    def test_a_study_comes_to_the_same(
        self, executing: Executing, expected: Any, ledger: Ledger, tuner: str
    ) -> None:
        """Trials, figures, costs and outcome equal those of a single engine."""
        spec = small_study(tuner)
        with executing(plain_engine) as executor:
            outcome = run_study(spec, executor, ledger)
        assert (timeless(outcome), recorded(ledger)) == expected(plain_engine, spec)
        assert sum(record.repeated_s for record in ledger.trials(ledger.study("study"))) == 0

    def test_failures_are_results(self, executing: Executing, expected: Any, ledger: Ledger) -> None:
        """Failures are recorded as with a single engine, and so are later trials of a failed run."""
        spec = small_study()
        with executing(failing_engine) as executor:
            outcome = run_study(spec, executor, ledger)
        assert (timeless(outcome), recorded(ledger)) == expected(failing_engine, spec)
        assert outcome.trials["crashed"]
        assert outcome.trials["invalid"]

    def test_engines_that_cannot_park_start_over(
        self, executing: Executing, expected: Any, ledger: Ledger
    ) -> None:
        """Trials, costs and outcome equal those of a single engine that cannot pause runs."""
        spec = small_study("random")
        with executing(single_run_engine) as executor:
            assert not executor.can_park
            outcome = run_study(spec, executor, ledger)
        assert (timeless(outcome), recorded(ledger)) == expected(single_run_engine, spec)

    def test_all_lanes_work_and_pairs_stay_together(self, executing: Executing, ledger: Ledger) -> None:
        """All lanes measure. Runs of a pair share a lane, so that differences between lanes cancel."""
        watching = Watching()
        with executing(plain_engine) as executor:
            machines = {lane.machine for lane in executor.lanes()}
            run_study(small_study(), executor, ledger, watching)
        if len(machines) == 1:
            return
        assert watching.max_at_work == len(machines)
        study = ledger.study("study")
        places = {
            (event.payload["batch"], event.payload["index"]): event.payload["machine"]
            for event in ledger.events(study, PLACED)
        }
        assert set(places.values()) == machines
        pairs: dict[tuple[str, int], set[str]] = {}
        for record in ledger.trials(study):
            if record.phase in ("pick", "ablate", "prune", "prove"):
                pair = pairs.setdefault((record.phase, record.trial.replicate), set())
                pair.add(places[record.batch, record.index])
        assert {len(pair) for pair in pairs.values()} == {1}

    def test_interrupted_anywhere_it_goes_on_with_any(
        self, executing: Executing, expected: Any, ledger: Ledger
    ) -> None:
        """After Ctrl-C, running trials are recorded, and a single engine can continue the study."""
        spec = small_study()
        watching = Watching(9, lambda: signal.raise_signal(signal.SIGINT))
        with executing(plain_engine) as executor:
            lanes = len(executor.lanes())
            with pytest.raises(StudyInterrupted) as interrupted:
                run_study(spec, executor, ledger, watching)
        assert interrupted.value.resume.endswith(executor.arguments)
        assert 9 <= len(recorded(ledger)) < 9 + lanes
        again = Watching()
        outcome = run_study(spec, plain_engine(), ledger, again)
        result = timeless(outcome), recorded(ledger)
        assert result == expected(plain_engine, spec)
        assert watching.finished + again.finished == len(result[1])

    def test_what_the_user_can_mend_is_said_in_one_line(self, executing: Executing, ledger: Ledger) -> None:
        """The engine's message reaches the user in one line."""
        with (
            pytest.raises(UserError, match="data directory /data: no space; free some") as refused,
            executing(refusing_engine) as executor,
        ):
            run_study(small_study(), executor, ledger)
        assert "\n" not in str(refused.value)

    def test_whatever_breaks_ends_everything(self, executing: Executing, ledger: Ledger) -> None:
        """An exception ends the study, and the study can be resumed."""

        class Died(BaseException): ...

        def die() -> None:
            raise Died

        watching = Watching(20, die)
        with executing(plain_engine) as executor, pytest.raises(Died):
            run_study(small_study(), executor, ledger, watching)
        assert len(recorded(ledger)) == 20
        with executing(plain_engine) as executor:
            assert run_study(small_study(), executor, ledger).recommended == "best"

    def test_a_lost_lane_changes_nothing_but_the_time(
        self, executing: Executing, expected: Any, ledger: Ledger
    ) -> None:
        """A lost lane's trial is measured again elsewhere, and its parked runs begin again from age 0."""
        spec = small_study()
        with executing(plain_engine) as executor:
            watching = Watching(12, lambda: self.lose_a_lane(executor))
            outcome = run_study(spec, executor, ledger, watching)
        assert (timeless(outcome), recorded(ledger)) == expected(plain_engine, spec)
        assert [note for note in watching.notes if "is lost" in note]
