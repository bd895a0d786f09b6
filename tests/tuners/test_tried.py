from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rocktune.space import Configuration
from rocktune.spec_file import Spec
from rocktune.testing.tuners import drive, synthetic_problem, synthetic_response
from rocktune.trial import Result
from rocktune.tuners import Problem, Search, Tuner, tuner_named
from rocktune.tuners.tried import tried_cost_s, tried_first


class Recording(Tuner):
    """A tuner that searches at random and remembers its problem."""

    name = "recording"
    summary = "random"
    settings_type = Spec
    given: Problem

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        self.given = problem
        yield from tuner_named("random").search(problem, rng)

    def min_budget_s(self, problem: Problem) -> float:
        return problem.age_s(problem.trial_age_s)


def tried(problem: Problem, count: int) -> tuple[Configuration, ...]:
    return tuple(problem.space.sample(count, np.random.default_rng(7)))


def test_what_is_tried_comes_first_and_is_paid_for() -> None:
    problem = synthetic_problem(budget_s=10 * 120 / 64)
    problem = replace(problem, tried=tried(problem, 3))
    tuner = Recording()
    transcript = drive(tried_first(tuner, problem, np.random.default_rng(1)))
    assert transcript.configurations[:3] == list(problem.tried)
    assert transcript.spent_s == pytest.approx(problem.budget_s)
    assert tuner.given.budget_s == pytest.approx(7 * 120 / 64)
    assert tried_cost_s(problem) == pytest.approx(3 * 120 / 64)
    assert tuner.given.known == tuple(transcript.results[0])
    # Their runs are released before the tuner begins.
    assert transcript.batches[1].release == tuple(trial.run for trial in transcript.batches[0].trials)


def test_without_any_a_search_is_as_it_was() -> None:
    problem, tuner = synthetic_problem(), tuner_named("random")
    first = drive(tried_first(tuner, problem, np.random.default_rng(1)))
    assert first.configurations == drive(tuner.search(problem, np.random.default_rng(1))).configurations


@pytest.mark.parametrize("name", ["auto", "tpe"])
def test_tuners_learn_from_what_was_tried(name: str) -> None:
    """With other results of the same configurations, the search goes another way."""
    problem = synthetic_problem(budget_s=24 * 120 / 64)
    problem = replace(problem, tried=tried(problem, 12))

    def searched(known: Sequence[Result]) -> list[Configuration]:
        after = replace(problem, known=tuple(known))
        return drive(tuner_named(name).search(after, np.random.default_rng(1))).configurations

    results = drive(tried_first(Recording(), problem, np.random.default_rng(1))).results[0]
    others = [
        replace(
            synthetic_response(replace(own.trial, configuration=other.trial.configuration)), trial=own.trial
        )
        for own, other in zip(results, reversed(results), strict=True)
    ]
    assert searched(results) != searched(others)
    # What is known is not measured again.
    assert not set(searched(results)) & set(problem.tried)
