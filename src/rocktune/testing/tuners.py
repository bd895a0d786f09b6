"""Conformance suite that each tuner must pass, with a synthetic store.

A test file for a new tuner needs only a fixture:

    class TestMyTuner(TunerConformance):
        @pytest.fixture
        def tuner(self) -> Tuner: return MyTuner()
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.space import Space, load_space
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.synthetic_spaces import SYNTHETIC_SPACES
from rocktune.trial import Batch, Configuration, Result, Status, Trial
from rocktune.tuners import Problem, Search, Tuner

Response = Callable[[Trial], Result]
"""A synthetic store: returns the result of a trial, always the same for the same trial."""

FAILURES = tuple(status for status in Status if status is not Status.OK)


def synthetic_problem(
    scale: int = 64,
    budget_s: float | None = None,
    objective: str | Sequence[str] = "throughput_ops_s",
    runs_continue: bool = True,
    constraints: Sequence[str] = (),
) -> Problem:
    """Returns a problem in Dremel's space with the paper's memory and workload.

    Args:
        scale: S of the 1/S model.
        budget_s: seconds of measuring; None for the paper's 2,325 s divided by S.
        objective: name of the objective, or several figures.
        runs_continue: see `Problem`.
        constraints: constraints such as "read_latency_us_p99<=250".
    """
    entries = 10_000_000.0
    space = load_space("dremel", None, entries)
    return Problem(
        space=space,
        objective=objective_named(objective, constraints),
        scale=scale,
        budget_s=2325 / scale if budget_s is None else budget_s,
        baseline=space.default(),
        expected_entries=entries,
        entry_bytes=1040.0,
        runs_continue=runs_continue,
    )


def synthetic_response(trial: Trial) -> Result:
    """Returns a result whose throughput grows with the logarithms of the knobs and varies by configuration.

    The latency varies independently, so that objectives differ. Neither depends on the age.
    """
    numbers = [float(value) for value in trial.configuration.values() if not isinstance(value, str)]
    # A checksum, because Python's own hashes differ from process to process.
    luck = zlib.crc32(trial.configuration.key.encode()) / 2**32
    throughput_ops_s = 20_000.0 + 1000.0 * float(np.log1p(np.abs(numbers)).sum()) + 5000.0 * luck
    # A prime multiple makes the latency independent of the throughput.
    latency_us = 100.0 + 900.0 * ((luck * 7919.0) % 1.0)
    window = synthetic_window(0.0, trial.until_s, throughput_ops_s, latency_us)
    return Result(trial, Status.OK, window)


def failing_response(statuses: Iterable[Status], share: float = 1.0) -> Response:
    """Returns a store in which a share of the configurations fails.

    Args:
        statuses: statuses of the failures; each configuration has one of them.
        share: share of the configurations that fail, from 0 to 1.
    """
    failures = tuple(statuses)

    def respond(trial: Trial) -> Result:
        number = zlib.crc32(trial.configuration.key.encode())
        if number % 1000 >= 1000 * share:
            return synthetic_response(trial)
        return Result(trial, failures[number % len(failures)], None, "made up")

    return respond


@dataclass
class Transcript:
    """The batches and results of a search.

    Attributes:
        batches: the batches in order.
        results: the results of each batch.
        spent_s: cost of all trials, seconds of measuring.
    """

    batches: list[Batch] = field(default_factory=list)
    results: list[list[Result]] = field(default_factory=list)
    spent_s: float = 0.0

    @property
    def configurations(self) -> list[Configuration]:
        """The distinct configurations in the order in which the search first asked for them."""
        trials = (trial for batch in self.batches for trial in batch.trials)
        return list(dict.fromkeys(trial.configuration for trial in trials))

    def killed_after(self, trials: int) -> "Transcript":
        """Returns the part of the transcript that a ledger holds after a kill behind `trials` trials."""
        held = Transcript()
        for batch, results in zip(self.batches, self.results, strict=True):
            held.batches.append(batch)
            held.results.append(results[:trials])
            trials -= len(results)
            if trials < 0:
                break
        return held


def drive(
    search: Search,
    respond: Response = synthetic_response,
    runs_continue: bool = True,
    recorded: Transcript | None = None,
) -> Transcript:
    """Runs a search like a study does, and checks that it keeps to the protocol.

    Args:
        search: the search, not started yet.
        respond: the store.
        runs_continue: True if a trial costs the seconds that it adds to its run's age, False if it costs its
            whole age.
        recorded: the transcript to resume. It is replayed first: recorded trials are not measured again, and
            recorded batches that are functions are not called.

    Returns:
        The transcript of the whole search.

    Raises:
        AssertionError: the search asks for a run at an age that is not larger, after it was released or
            failed, or a replayed search asks for other trials than recorded.
    """
    transcript, replayed = Transcript(), recorded or Transcript()
    ages_s: dict[tuple[Configuration, int], float] = {}
    ended: set[tuple[Configuration, int]] = set()
    try:
        item = next(search)
        while True:
            number = len(transcript.batches)
            known = replayed.results[number] if number < len(replayed.batches) else []
            if number < len(replayed.batches):
                batch = replayed.batches[number]
                assert callable(item) or item == batch, "a replayed search asks for something else"
            else:
                batch = item() if callable(item) else item
            transcript.batches.append(batch)
            assert all(run in ages_s for run in batch.release), "a run is released that was never asked for"
            ended.update(batch.release)
            results = []
            for index, trial in enumerate(batch.trials):
                run = trial.run
                assert run not in ended, f"{trial} continues a run that was released or has failed"
                assert trial.until_s > ages_s.get(run, 0.0), f"{trial} does not grow older"
                transcript.spent_s += trial.until_s - (ages_s.get(run, 0.0) if runs_continue else 0.0)
                ages_s[run] = trial.until_s
                results.append(known[index] if index < len(known) else respond(trial))
                if results[-1].status is not Status.OK:
                    ended.add(run)
            transcript.results.append(results)
            item = search.send(results)
    except StopIteration:
        return transcript


def _seeded() -> np.random.Generator:
    """Returns a generator with a fixed seed."""
    return np.random.default_rng(7)


class TunerConformance:
    """Tests of a tuner. Subclasses have a fixture `tuner`, which returns a new tuner with any settings.

    Attributes:
        objective: the objective of the tests; several figures for a tuner that needs several.
        constraints: constraints of the tests, for a tuner that needs some.
    """

    objective: ClassVar[str | tuple[str, ...]] = "throughput_ops_s"
    constraints: ClassVar[tuple[str, ...]] = ()

    def problem(self, scale: int = 64, **changes: Any) -> Problem:
        """Returns a problem that the tuner accepts; see `synthetic_problem`."""
        given = {"objective": self.objective, "constraints": self.constraints}
        return synthetic_problem(scale, **given | changes)

    @pytest.mark.parametrize("scale", [1, 64])
    @pytest.mark.parametrize("times", [1.0, 1.7, 4.0])
    @pytest.mark.parametrize("runs_continue", [True, False], ids=["continues", "starts over"])
    def test_stays_within_the_budget(
        self, tuner: Tuner, scale: int, times: float, runs_continue: bool
    ) -> None:
        """From the minimum budget on, the search measures something and does not exceed the budget."""
        min_s = tuner.min_budget_s(self.problem(scale, runs_continue=runs_continue))
        problem = self.problem(scale, budget_s=min_s * times, runs_continue=runs_continue)
        transcript = drive(tuner.search(problem, _seeded()), runs_continue=runs_continue)
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)

    def test_ages_shrink_with_the_scale(self, tuner: Tuner) -> None:
        """At scale 1/S, the same search asks for ages divided by S."""
        full, model = (drive(tuner.search(self.problem(scale), _seeded())) for scale in (1, 64))
        assert [len(batch.trials) for batch in full.batches] == [len(batch.trials) for batch in model.batches]
        for batch, scaled in zip(full.batches, model.batches, strict=True):
            for trial, scaled_trial in zip(batch.trials, scaled.trials, strict=True):
                assert scaled_trial.until_s == pytest.approx(trial.until_s / 64, rel=1e-12)

    def test_asks_only_for_valid_configurations(self, tuner: Tuner) -> None:
        """All configurations keep bounds and rules, except the baseline, which may be the user's own."""
        problem = self.problem()
        for configuration in drive(tuner.search(problem, _seeded())).configurations:
            _assert_valid(problem.space, configuration, problem.baseline)

    def test_is_decided_by_seed_and_results(self, tuner: Tuner) -> None:
        """A search with the same seed and results asks for the same batches."""
        problem = self.problem()
        first, second = (drive(tuner.search(problem, _seeded())) for _ in range(2))
        assert first.batches == second.batches

    def test_leaves_the_global_random_numbers_alone(self, tuner: Tuner) -> None:
        """A search uses only the generator that it is given, not NumPy's global random numbers."""
        before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
        drive(tuner.search(self.problem(), _seeded()))
        assert np.array_equal(np.random.get_state(legacy=False)["state"]["key"], before)  # noqa: NPY002

    @pytest.mark.parametrize("status", FAILURES)
    def test_survives_failed_trials(self, tuner: Tuner, status: Status) -> None:
        """A third of the configurations fails. `drive` checks that none of them is asked for again."""
        problem = self.problem()
        transcript = drive(tuner.search(problem, _seeded()), failing_response([status], 1 / 3))
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)

    def test_ends_when_everything_fails(self, tuner: Tuner) -> None:
        """A search in which all trials fail, with every status, ends within its budget."""
        problem = self.problem()
        transcript = drive(tuner.search(problem, _seeded()), failing_response(FAILURES))
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)

    @pytest.mark.parametrize("latency_us", [1, 400])
    def test_survives_infeasible_trials(self, tuner: Tuner, latency_us: int) -> None:
        """A search ends within its budget if no configuration, or a third of them, keeps the constraints."""
        constraints = (*self.constraints, f"read_latency_us_p99<={latency_us}")
        problem = self.problem(constraints=constraints)
        transcript = drive(tuner.search(problem, _seeded()))
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_goes_on_where_it_was_killed(self, tuner: Tuner, share: float) -> None:
        """A search that was killed and resumed asks for the same trials as an undisturbed one."""
        problem = self.problem()
        whole = drive(tuner.search(problem, _seeded()))
        killed = whole.killed_after(int(share * sum(map(len, whole.results))))
        resumed = drive(tuner.search(problem, _seeded()), recorded=killed)
        assert (resumed.batches, resumed.results) == (whole.batches, whole.results)

    @pytest.mark.parametrize("space", SYNTHETIC_SPACES, ids=lambda space: space.name)
    def test_takes_spaces_of_every_shape(self, tuner: Tuner, space: Space) -> None:
        """The tuner searches spaces of all shapes, or refuses a space before the search."""
        given = replace(self.problem(), space=space, baseline=space.default())
        min_s = _accepted(tuner, given)
        if min_s is None:
            return
        problem = replace(given, budget_s=max(min_s, 12 * given.age_s(given.trial_age_s)))
        transcript = drive(tuner.search(problem, _seeded()))
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)
        for configuration in transcript.configurations:
            _assert_valid(space, configuration, problem.baseline)

    @pytest.mark.parametrize(
        "objective",
        [
            "throughput_ops_s",
            "read_latency_us_p99",
            "balance",
            ("throughput_ops_s", "read_latency_us_p99"),
            ("read_latency_us_p99", "write_amplification", "db_bytes"),
        ],
    )
    def test_takes_every_kind_of_objective(self, tuner: Tuner, objective: str | tuple[str, ...]) -> None:
        """The tuner supports each kind of objective, or refuses it before the search."""
        problem = self.problem(objective=objective)
        if _accepted(tuner, problem) is not None:
            assert drive(tuner.search(problem, _seeded())).configurations

    def test_takes_an_undefined_objective(self, tuner: Tuner) -> None:
        """A figure of the objective may be NaN in every result, such as a latency of scans."""
        undefined = "scan_latency_us_p99"
        objective = undefined if isinstance(self.objective, str) else (undefined, *self.objective[1:])
        problem = self.problem(objective=objective)
        transcript = drive(tuner.search(problem, _seeded()))
        assert 0 < transcript.spent_s <= problem.budget_s * (1 + 1e-9)

    def test_says_what_it_is(self, tuner: Tuner) -> None:
        """The tuner has a name without spaces and a summary of one line."""
        assert tuner.name
        assert " " not in tuner.name
        assert tuner.summary
        assert "\n" not in tuner.summary


def _assert_valid(space: Space, configuration: Configuration, baseline: Configuration) -> None:
    """Raises if a configuration is neither valid nor the baseline."""
    if configuration != baseline:
        space.validate(configuration)


def _accepted(tuner: Tuner, problem: Problem) -> float | None:
    """Returns the minimum budget in seconds; None if the tuner refuses the problem with a proper message."""
    try:
        return tuner.min_budget_s(problem)
    except UserError as refused:
        message = str(refused)
    assert tuner.name in message
    assert "\n" not in message
    return None
