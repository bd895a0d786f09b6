"""The Bayesian tuners against the protocol, and against a function whose best point is known."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.space import Space, load_space
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import Transcript, TunerConformance, drive, synthetic_problem
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners import Problem, Tuner, tuner_named
from rocktune.tuners.bayesian.variants import MultiTask

pytestmark = pytest.mark.bo

BOWL_KNOBS = ("write_buffer_size", "level0_file_num_compaction_trigger", "block_size")


class BayesianConformance(TunerConformance):
    """A model is fitted for every trial, so that searches are of few."""

    def problem(self, scale: int = 64, **changes: Any) -> Problem:
        return super().problem(scale, **{"budget_s": 4 * 120 / scale} | changes)


class TestSingleTask(BayesianConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("bo")


class TestSeveralAtOnceAndRepeated(BayesianConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("bo", {"initial": 2, "at_once": 2, "runs_each": 2})


class TestMultiTask(BayesianConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("multitask-bo", {"tasks": ["write_amplification", "db_bytes"]})


class TestClustered(BayesianConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("clustered-bo")


class TestAdditive(BayesianConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("additive-bo")


SPACE = load_space("alabed", None, 1e6)
FEW_KNOBS = replace(SPACE, knobs=tuple(knob for knob in SPACE.knobs if knob.name in BOWL_KNOBS))


def bowl_problem(trials: int, space: Space = FEW_KNOBS) -> Problem:
    return replace(synthetic_problem(budget_s=trials * 120 / 64), space=space, baseline=space.default())


def bowl(trial: Trial) -> Result:
    """Answers best, 1,000 a second, where every knob stands at 70% of its range."""
    shares = [
        (float(trial.configuration[knob.name]) - float(knob.low)) / (float(knob.high) - float(knob.low))
        for knob in SPACE.knobs
        if knob.name in trial.configuration
    ]
    throughput = 1e5 * float(np.exp(-4 * np.sum((np.array(shares) - 0.7) ** 2)))
    return Result(trial, Status.OK, synthetic_window(0.0, trial.until_s, throughput, 1e6 / throughput))


def throughputs(transcript: Transcript) -> list[float]:
    return [result.figure("throughput_ops_s") for results in transcript.results for result in results]


@pytest.mark.parametrize(
    ("name", "share"), [("bo", 0.99), ("multitask-bo", 0.99), ("clustered-bo", 0.9), ("additive-bo", 0.95)]
)
def test_finds_a_bowls_lowest_point(name: str, share: float) -> None:
    """Clusters see each other as noise, and so come near but no nearer."""
    tuner = tuner_named(name, {"tasks": ["read_latency_us_p99"]} if name == "multitask-bo" else {})
    found = throughputs(drive(tuner.search(bowl_problem(20), np.random.default_rng(1)), bowl))
    assert len(found) == 20
    assert max(found) > share * 1e5 > max(found[:3])


@pytest.mark.parametrize("name", ["bo", "multitask-bo", "clustered-bo", "additive-bo"])
def test_finds_what_is_good_in_a_hundredth_of_an_axis(name: str) -> None:
    """As block sizes have it on a slow device: 1% of the range is best, half of it worth a twentieth."""

    def answer(trial: Trial) -> Result:
        decades = math.log10(float(trial.configuration["block_size"]) / 5_000)
        throughput = 1e5 * math.exp(-(decades**2))
        return Result(trial, Status.OK, synthetic_window(0.0, trial.until_s, throughput, 1e6 / throughput))

    tuner = tuner_named(name, {"tasks": ["read_latency_us_p99"]} if name == "multitask-bo" else {})
    found = throughputs(drive(tuner.search(bowl_problem(20), np.random.default_rng(2)), answer))
    assert max(found) > 0.9 * 1e5


def test_keeps_away_from_where_trials_fail() -> None:
    def two_fifths_fail(trial: Trial) -> Result:
        failing = float(trial.configuration["write_buffer_size"]) < 60_000_000
        return Result(trial, Status.CRASHED, None, "made up") if failing else bowl(trial)

    transcript = drive(tuner_named("bo").search(bowl_problem(20), np.random.default_rng(3)), two_fifths_fail)
    found = throughputs(transcript)
    assert sum(map(math.isnan, found[8:])) <= 2
    assert np.nanmax(found) > 0.95e5


def test_keeps_a_constraint() -> None:
    """The best that keeps it is at its border, away from the best at all."""
    objective = objective_named("throughput_ops_s", ["read_latency_us_p99>=20"])
    problem = replace(bowl_problem(20), objective=objective)
    found = throughputs(drive(tuner_named("bo").search(problem, np.random.default_rng(2)), bowl))
    assert max(each for each in found if each <= 0.5e5) > 0.45e5
    assert sum(each > 0.55e5 for each in found[8:]) <= 4


def test_a_resumed_search_fits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tuner, problem = tuner_named("bo"), bowl_problem(6)
    whole = drive(tuner.search(problem, np.random.default_rng(1)), bowl)

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is to be fitted")

    monkeypatch.setattr("rocktune.tuners.bayesian.search.BayesianTuner._suggested", refuse)
    resumed = drive(tuner.search(problem, np.random.default_rng(1)), bowl, recorded=whole)
    assert resumed.batches == whole.batches


def test_another_process_asks_the_same() -> None:
    program = """
import sys
sys.path.insert(0, {folder!r})
from test_search import ask
print(ask())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program.format(folder=str(Path(__file__).parent))],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )
    assert ran.stdout.strip() == ask()


def ask() -> str:
    transcript = drive(
        tuner_named("clustered-bo").search(bowl_problem(6, SPACE), np.random.default_rng(5)), bowl
    )
    return " ".join(configuration.key for configuration in transcript.configurations)


def test_two_hundred_observations_are_no_trouble() -> None:
    """Among them equal ones, failed ones, and a task that is known only now and then."""
    rng = np.random.default_rng(0)
    results = []
    for number, configuration in enumerate(SPACE.sample(200, rng)):
        trial = Trial(configuration, 2.0)
        results.append(Result(trial, Status.CRASHED) if number % 10 == 0 else bowl(trial))
        if number % 7:
            results[-1] = replace(results[-1], measurement=without_task(results[-1].measurement))
    tuner = tuner_named("multitask-bo", {"tasks": ["read_latency_us_p99"]})
    assert isinstance(tuner, MultiTask)
    batch = tuner._suggested(bowl_problem(300, SPACE), results, 3, 2.0, (), rng)
    assert len({trial.configuration for trial in batch.trials}) == 3
    (learned,) = batch.explanation["models"]
    assert learned["tasks"] == ["throughput_ops_s", "read_latency_us_p99"]
    assert {*learned["length_scales"]} == {knob.name for knob in SPACE.knobs}
    assert np.array(learned["correlations"]).shape == (2, 2)


def without_task(measurement: Measurement | None) -> Measurement | None:
    unknown = {"figures": {"read_latency_us_p99": math.nan}}
    return measurement and Measurement(measurement.raw | unknown)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        (
            "multitask-bo",
            {"tasks": ["write_amplificaton"]},
            r"task 'write_amplificaton'.*write_amplification",
        ),
        ("clustered-bo", {"clusters": []}, "clusters: the list is empty"),
        ("clustered-bo", {"clusters": [{"knobs": ["blok_size"]}]}, "knob 'blok_size'.*block_size"),
        (
            "clustered-bo",
            {"clusters": [{"knobs": ["block_size"]}, {"knobs": ["block_size"]}]},
            "'block_size' is in more than one",
        ),
    ],
)
def test_wrong_settings_are_refused(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        tuner_named(name, settings).min_budget_s(bowl_problem(5, SPACE))
