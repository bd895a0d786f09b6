"""Tuners that breed configurations: GA, NSGA-II, the epsilon-constraint and the weighted-sum method."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pymoo.algorithms.base.genetic import GeneticAlgorithm
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.population import Population
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.survival import Survival

from rocktune.errors import UserError
from rocktune.objective import Objective
from rocktune.spec_file import Share, Spec
from rocktune.trial import Result
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.evolutionary.breeding import (
    WORST,
    Fitness,
    GeneCrossover,
    GeneMutation,
    ValidGenes,
    breed,
)
from rocktune.tuners.evolutionary.evaluations import min_population_budget_s
from rocktune.tuners.evolutionary.judged import judged
from rocktune.tuners.unit_cube import UnitCube

_MIN_PARENTS = 2

Worth = tuple[NDArray[np.float64], NDArray[np.float64]]


class GeneticSettings(Spec):
    """What can be chosen about a genetic search.

    Attributes:
        population: individuals.
        mutation_rate: of each gene (figure 15 of Jia and Chen: 1% to 64%); None for one gene on average.
    """

    population: Annotated[int, Field(strict=True, ge=4, le=1000)] = 10
    mutation_rate: Share | None = None


class _Genetic(Tuner):
    settings_type = GeneticSettings
    settings: GeneticSettings

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. A generation is a batch."""
        settings, cube = self.settings, UnitCube(problem.space)
        rate = 1 / cube.dimensions if settings.mutation_rate is None else settings.mutation_rate
        algorithm = self._algorithm(
            pop_size=settings.population,
            sampling=cube.points(problem.space.sample(settings.population, rng)),
            crossover=GeneCrossover(cube.discrete),
            mutation=GeneMutation(cube.discrete, rate),
            repair=ValidGenes(cube),
            **({"survival": self._survival()} if self._survival else {}),
        )
        fitness, goals = self._fitness(problem.objective)
        return breed(problem, algorithm, cube, fitness, goals, rng)

    def min_budget_s(self, problem: Problem) -> float:
        """One trial for each individual."""
        self._fitness(problem.objective)  # refuses an objective that it cannot take
        return min_population_budget_s(problem, self.settings.population)

    _algorithm: type[GeneticAlgorithm] = GA
    _survival: type[Survival] | None = None

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        """Returns what is to be small, and how many columns that has."""
        return lambda results: _ranked(results, objective), 1


class GeneticAlgorithmTuner(_Genetic):
    """Keeps the best by rank; constraints come before objectives."""

    name = "ga"
    summary = "genetic algorithm: for one objective"


class Nsga2(_Genetic):
    """Keeps what is on the first fronts and, of a front, what is far from others (Deb et al. 2002)."""

    name = "nsga2"
    summary = "genetic algorithm (NSGA-II): for several objectives of which none is preferred"
    _algorithm = NSGA2

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        def fitness(results: Sequence[Result]) -> Worth:
            known = judged(results, objective)
            return np.minimum(-known.gains, WORST), np.minimum(known.violations, WORST)

        return fitness, len(objective.fields)


class OnlyFeasible(Survival):
    """Lets nobody live on who breaks a constraint, as long as two are left who do not."""

    def __init__(self) -> None:
        super().__init__(filter_infeasible=False)

    def _do(self, _: PymooProblem, pop: Population, *__: Any, n_survive: int, **___: Any) -> Population:
        worth, violations = pop.get("F")[:, 0], pop.get("CV")[:, 0]
        order = np.lexsort((worth, violations))
        feasible = int((violations <= 0).sum())
        return pop[order[: min(n_survive, feasible) if feasible >= _MIN_PARENTS else n_survive]]


class EpsilonConstraint(_Genetic):
    """Improves the first objective among what keeps the constraints (Jia and Chen, section II-C).

    Unlike `ga` under constraints it discards what breaks one however good it is otherwise, which narrows the
    genes (the paper's finding 6).
    """

    name = "epsilon-constraint"
    summary = "genetic algorithm: for one objective under constraints (--constraint)"
    _survival = OnlyFeasible

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        if not objective.constraints:
            raise UserError(
                "tuner 'epsilon-constraint': needs a constraint, such as read_latency_us_p99<=250"
            )
        first = Objective(objective.primary, (objective.primary,), objective.constraints)
        return lambda results: _ranked(results, first), 1


class WeightedSum(_Genetic):
    """Improves the sum of the objectives, each over the largest value seen so far (equation 6)."""

    name = "weighted-sum"
    summary = "genetic algorithm: for the normalised sum of several objectives"

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        if len(objective.fields) < 2:
            raise UserError("tuner 'weighted-sum': needs several objectives; name another with --objective")
        largest = np.zeros(len(objective.fields))

        def fitness(results: Sequence[Result]) -> Worth:
            known = judged(results, objective)
            sums = weighted_sums(known.gains, largest)
            return np.minimum(-sums, WORST)[:, None], np.minimum(known.violations, WORST)

        return fitness, 1


def weighted_sums(gains: NDArray[np.float64], largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns equation 6 for each result: throughput over its maximum less latency over its maximum.

    Args:
        gains: a row for each result, a column for each objective; what is to be small is negative; minus
            infinity for a failed result.
        largest: the largest size of each column so far; is brought up to date.
    """
    finite = np.where(np.isfinite(gains), np.abs(gains), 0)
    largest[:] = np.maximum(largest, finite.max(axis=0, initial=0))
    return np.asarray((gains / np.where(largest > 0, largest, 1)).sum(axis=1))


def _ranked(results: Sequence[Result], objective: Objective) -> Worth:
    """Returns the rank of each result among all, and its violation."""
    violations = judged(results, objective).violations
    return np.array(objective.ranks(results), dtype=float)[:, None], np.minimum(violations, WORST)
