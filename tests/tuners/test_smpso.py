import numpy as np
import pytest

from rocktune.objective import objective_named
from rocktune.space import load_space
from rocktune.testing.tuners import drive, synthetic_problem
from rocktune.tuners import Problem, tuner_named


def jia_chen_problem(trials: int) -> Problem:
    space = load_space("jia-chen", None, 1e8)
    return Problem(
        space=space,
        objective=objective_named(["throughput_ops_s", "read_latency_us_p99"]),
        scale=64,
        budget_s=120 / 64 * trials,
        baseline=space.default(),
        expected_entries=1e8,
        entry_bytes=1040.0,
    )


def test_the_whole_budget_is_spent_and_nothing_is_measured_twice() -> None:
    problem = jia_chen_problem(100)
    transcript = drive(tuner_named("smpso").search(problem, np.random.default_rng(1)))
    assert transcript.spent_s == pytest.approx(problem.budget_s)
    assert len(transcript.configurations) == 100


def test_a_swarm_that_no_longer_moves_ends_the_search() -> None:
    problem = jia_chen_problem(5000)
    transcript = drive(tuner_named("smpso", {"mutation_rate": 0.0}).search(problem, np.random.default_rng(1)))
    assert len(transcript.configurations) < 2160


def test_a_budget_too_small_for_one_generation_is_known_beforehand() -> None:
    tuner = tuner_named("smpso", {"swarm_size": 12})
    assert tuner.min_budget_s(synthetic_problem(64)) == pytest.approx(12 * 120 / 64)
