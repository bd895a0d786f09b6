"""Measures the user's own configurations before a tuner begins."""

from dataclasses import replace

import numpy as np

from rocktune.trial import Batch, Trial
from rocktune.tuners.base import Problem, Search, Tuner


def tried_first(tuner: Tuner, problem: Problem, rng: np.random.Generator) -> Search:
    """Measures `problem.tried` to the age of an ordinary trial, and searches with the rest of the budget.

    The tuner finds their results in `Problem.known`. Their runs are released before it begins, because it
    may ask for the same configurations.

    Args:
        tuner: the tuner.
        problem: the problem to solve; its budget suffices for both (`tried_cost_s`).
        rng: the search's source of random numbers.
    """
    if problem.tried:
        age_s = problem.age_s(problem.trial_age_s)
        trials = tuple(Trial(each, age_s) for each in problem.tried)
        results = yield Batch(trials)
        yield Batch((), tuple(trial.run for trial in trials))
        left_s = problem.budget_s - tried_cost_s(problem)
        problem = replace(problem, budget_s=left_s, known=tuple(results))
    yield from tuner.search(problem, rng)


def tried_cost_s(problem: Problem) -> float:
    """Returns the seconds of measuring that the tried configurations take."""
    return len(problem.tried) * problem.age_s(problem.trial_age_s)
