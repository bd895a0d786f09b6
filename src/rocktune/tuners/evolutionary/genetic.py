"""Genetic tuners: GA, NSGA-II, the epsilon-constraint method and the weighted-sum method."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pymoo.algorithms.base.genetic import GeneticAlgorithm
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA, FitnessSurvival
from pymoo.core.population import Population
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.survival import Survival
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

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
from rocktune.tuners.evolutionary.evaluated import evaluated
from rocktune.tuners.evolutionary.evaluations import min_population_budget_s
from rocktune.tuners.unit_cube import UnitCube

# A crossover needs two parents.
_MIN_PARENTS = 2

Scores = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Costs and violations, as a `Fitness` returns them."""


class GeneticSettings(Spec):
    """The settings of a genetic search.

    Attributes:
        population: number of individuals.
        mutation_rate: probability that a gene mutates (figure 15 of Jia and Chen: 1% to 64%); None for one
            gene of an individual on average.
    """

    population: Annotated[int, Field(strict=True, ge=4, le=1000)] = 10
    mutation_rate: Share | None = None


class _Genetic(Tuner):
    """The base class of the genetic tuners, which differ in `_algorithm`, `_survival` and `_fitness`."""

    settings_type = GeneticSettings
    settings: GeneticSettings
    _algorithm: type[GeneticAlgorithm] = GA
    _survival: type[Survival] = FitnessSurvival

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
            survival=self._survival(),
        )
        fitness, columns = self._fitness(problem.objective)
        return breed(problem, algorithm, cube, fitness, columns, rng)

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one generation in seconds of measuring."""
        self._fitness(problem.objective)  # reports an unsuitable objective before the search begins
        return min_population_budget_s(problem, self.settings.population)

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        """Returns the fitness function for an objective, and the number of columns of its costs."""
        return lambda results: _ranked(results, objective), 1


class GeneticAlgorithmTuner(_Genetic):
    """A genetic tuner that keeps the best individuals by rank; constraints come before objectives."""

    name = "ga"
    summary = "genetic algorithm: for one objective"


class Nsga2(_Genetic):
    """A genetic tuner that keeps the first Pareto fronts (NSGA-II, Deb et al. 2002).

    Of the last front that fits only in part, it keeps the individuals in its least crowded parts.
    """

    name = "nsga2"
    summary = "genetic algorithm (NSGA-II): for several objectives of which none is preferred"
    _algorithm = NSGA2
    _survival = RankAndCrowding

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        """Returns the negated gains as costs, a column for each field of the objective."""

        def fitness(results: Sequence[Result]) -> Scores:
            known = evaluated(results, objective)
            # Failed results have minus infinity, which becomes the finite WORST.
            return np.minimum(-known.gains, WORST), np.minimum(known.violations, WORST)

        return fitness, len(objective.fields)


class OnlyFeasible(Survival):
    """A survival operator that removes all infeasible individuals if at least two are feasible."""

    def __init__(self) -> None:
        super().__init__(filter_infeasible=False)

    def _do(self, _: PymooProblem, pop: Population, *__: Any, n_survive: int, **___: Any) -> Population:
        """Returns the individuals that survive, at most `n_survive`, as pymoo's `Survival` asks."""
        costs, violations = pop.get("F")[:, 0], pop.get("CV")[:, 0]
        order = np.lexsort((costs, violations))  # by violation first, because the last key counts first
        feasible = int((violations <= 0).sum())
        return pop[order[: min(n_survive, feasible) if feasible >= _MIN_PARENTS else n_survive]]


class EpsilonConstraint(_Genetic):
    """A genetic tuner that improves the first objective under constraints (Jia and Chen, section II-C).

    Unlike `ga` with constraints, it discards every infeasible individual, however good its objective is. This
    makes the population less diverse (the paper's finding 6).
    """

    name = "epsilon-constraint"
    summary = "genetic algorithm: for one objective under constraints (--constraint)"
    _survival = OnlyFeasible

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        """Returns the ranks by the first field and the constraints as costs."""
        if not objective.constraints:
            raise UserError(
                "tuner 'epsilon-constraint': needs a constraint; add one, such as "
                "--constraint 'read_latency_us_p99<=250'"
            )
        # Further objectives would enter the ranks; the method bounds them by constraints instead.
        first = Objective(objective.primary, (objective.primary,), objective.constraints)
        return lambda results: _ranked(results, first), 1


class WeightedSumSettings(GeneticSettings):
    """The settings of tuner `weighted-sum`.

    Attributes:
        weights: the weight of each objective in the sum, in the objectives' order; None for 1 each, as in
            Jia and Chen's equation 6.
    """

    weights: tuple[Annotated[float, Field(gt=0)], ...] | None = None


class WeightedSum(_Genetic):
    """A genetic tuner that improves a weighted sum of the objectives, each over its maximum so far."""

    name = "weighted-sum"
    summary = "genetic algorithm: for the normalised sum of several objectives"
    settings_type = WeightedSumSettings
    settings: WeightedSumSettings

    def _fitness(self, objective: Objective) -> tuple[Fitness, int]:
        """Returns the negated weighted sums as costs."""
        if len(objective.fields) < 2:
            raise UserError(
                "tuner 'weighted-sum': needs several objectives; add another --objective, or take tuner 'ga' "
                "for an objective with weights"
            )
        weights = np.ones(len(objective.fields)) if self.settings.weights is None else self.settings.weights
        if len(weights) != len(objective.fields):
            raise UserError(
                f"tuner 'weighted-sum': weights: {len(weights)} for {len(objective.fields)} objectives; give "
                "one for each"
            )
        maxima = np.zeros(len(objective.fields))

        def fitness(results: Sequence[Result]) -> Scores:
            known = evaluated(results, objective)
            sums = weighted_sums(known.gains, maxima, np.asarray(weights))
            return np.minimum(-sums, WORST)[:, None], np.minimum(known.violations, WORST)

        return fitness, 1


def weighted_sums(
    gains: NDArray[np.float64], maxima: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the weighted sum of each result's gains, each divided by its maximum.

    This is Jia and Chen's equation 5 with the normalisation of equation 6, whose weights are 1.

    Args:
        gains: a row for each result, a column for each objective; negative where smaller is better, and minus
            infinity for a failed result.
        maxima: the maximum absolute gain of each objective so far. It is updated in place.
        weights: the weight of each objective.
    """
    finite = np.where(np.isfinite(gains), np.abs(gains), 0)
    maxima[:] = np.maximum(maxima, finite.max(axis=0, initial=0))
    return np.asarray((gains / np.where(maxima > 0, maxima, 1)) @ weights)


def _ranked(results: Sequence[Result], objective: Objective) -> Scores:
    """Returns ranks as costs, and the violations."""
    violations = evaluated(results, objective).violations
    return np.array(objective.ranks(results), dtype=float)[:, None], np.minimum(violations, WORST)
