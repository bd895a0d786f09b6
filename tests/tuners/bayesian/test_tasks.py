"""Tasks chosen by what was measured, on results whose correlations are made."""

import math

import numpy as np
import pytest

from rocktune.testing.tuners import synthetic_problem
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners.bayesian.clusters import PAPERS_TASKS
from rocktune.tuners.bayesian.observations import observed, tasks_left_out
from rocktune.tuners.bayesian.tasks import measured_tasks
from rocktune.tuners.unit_cube import UnitCube

OBJECTIVE = "throughput_ops_s"


def results(count: int, seed: int = 1) -> list[Result]:
    """Returns results whose figures follow a hidden number, each with its own amount of noise."""
    rng = np.random.default_rng(seed)
    found = []
    configurations = synthetic_problem().space.sample(count, rng)
    for number, configuration in enumerate(configurations):
        hidden, noise = rng.normal(), rng.normal(size=4)
        figures = {
            OBJECTIVE: math.exp(hidden),
            "write_amplification": math.exp(hidden + 0.6 * noise[0]),
            "read_latency_us_p99": math.exp(-hidden + 0.5 * noise[1]),
            "read_amplification": math.exp(noise[2]),
            # Repeats the objective.
            "cpu_s_per_million_ops": math.exp(-hidden + 0.01 * noise[3]),
            "level0_to_level1_us_p99": math.exp(hidden) if number % 2 else math.nan,
        }
        found.append(Result(Trial(configuration, 2.0), Status.OK, Measurement({"figures": figures})))
    return found


@pytest.fixture(autouse=True)
def only_these_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements made of figures alone have no windows from which others could be derived."""
    names = property(lambda measured: list(measured.raw["figures"]))
    monkeypatch.setattr(Measurement, "metric_names", names)


def test_the_strongest_of_either_sign_come_first_without_repeats_noise_and_gaps() -> None:
    assert measured_tasks(results(60), OBJECTIVE) == ("read_latency_us_p99", "write_amplification")


def test_ten_sound_trials_are_needed() -> None:
    failed = [Result(each.trial, Status.CRASHED) for each in results(50, seed=2)]
    assert measured_tasks([*results(9), *failed], OBJECTIVE) == PAPERS_TASKS
    assert measured_tasks([*results(10), *failed], OBJECTIVE) != PAPERS_TASKS


def test_a_task_that_no_trial_has_is_left_out_with_the_reason() -> None:
    problem, names = synthetic_problem(), ("write_amplification", "level0_to_level1_us_p99", "db_bytes")
    made = results(8)
    for each in made:
        assert each.measurement is not None
        each.measurement.raw["figures"]["level0_to_level1_us_p99"] = math.nan
        each.measurement.raw["figures"]["db_bytes"] = 7.0
    found = observed(made, problem, UnitCube(problem.space), names)
    assert tasks_left_out(found, (OBJECTIVE, *names)) == {
        "level0_to_level1_us_p99": "measured in 0 of 8 trials",
        "db_bytes": "measured in 8 of 8 trials, equal in all of them",
    }
