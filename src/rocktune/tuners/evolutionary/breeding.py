"""Operators and a search loop for the genetic algorithms of pymoo.

A gene is a knob's coordinate in the unit cube. Genes with cells (whole numbers, choices) have one-point
crossover, as in Jia and Chen's figure, and mutate to a random value. Genes of real numbers have pymoo's
defaults: simulated binary crossover and polynomial mutation. A child that breaks a rule is replaced by a
valid configuration with most of its genes.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.base.genetic import GeneticAlgorithm
from pymoo.core.evaluator import Evaluator
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.repair import Repair
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.problems.static import StaticProblem

from rocktune.trial import Batch, Result
from rocktune.tuners.base import Problem
from rocktune.tuners.evolutionary.evaluations import Evaluations
from rocktune.tuners.unit_cube import Points, UnitCube

Fitness = Callable[[Sequence[Result]], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""A function from results to their costs, shape (results, columns), and their violations of the constraints,
shape (results,). Smaller is better for both. It is called for parents and children together, because ranks
and normalised sums depend on all results."""

WORST = 1e30
"""Cost of a failed result. It is finite because pymoo computes distances between costs."""

_CROSSOVER_RATE = 0.9
_SBX_ETA = 15
_PM_ETA = 20


class GeneCrossover(SBX):
    """A crossover operator: one-point for genes with cells, simulated binary for the others."""

    def __init__(self, discrete: NDArray[np.bool_]) -> None:
        super().__init__(prob=_CROSSOVER_RATE, eta=_SBX_ETA)
        self._discrete = discrete

    def _do(
        self,
        problem: PymooProblem,
        parents: Points,
        *args: Any,
        random_state: np.random.Generator,
        **kwargs: Any,
    ) -> Points:
        """Returns the children, shape (2, matings, genes), as pymoo's `Crossover` asks."""
        children: Points = super()._do(problem, parents, *args, random_state=random_state, **kwargs)
        _, matings, genes = parents.shape
        # A cut before the first gene would only exchange the parents; a space may have a single gene.
        cuts = random_state.integers(1, max(genes, 2), size=(matings, 1))
        tail = np.arange(genes) >= cuts
        for child, (own, other) in enumerate(((0, 1), (1, 0))):
            swapped = np.where(tail, parents[other], parents[own])
            children[child] = np.where(self._discrete, swapped, children[child])
        return children


class GeneMutation(PM):
    """A mutation operator: a uniform draw for genes with cells, polynomial mutation for the others.

    Each gene mutates with the same probability, `rate`.
    """

    def __init__(self, discrete: NDArray[np.bool_], rate: float) -> None:
        super().__init__(prob_var=rate, eta=_PM_ETA)
        self._discrete = discrete
        self._rate = rate

    def _do(
        self,
        problem: PymooProblem,
        genes: Points,
        *args: Any,
        random_state: np.random.Generator,
        **kwargs: Any,
    ) -> Points:
        """Returns the mutated individuals, as pymoo's `Mutation` asks."""
        moved = super()._do(problem, genes, *args, random_state=random_state, **kwargs)
        drawn = random_state.random(genes.shape)
        reset = np.where(random_state.random(genes.shape) < self._rate, drawn, genes)
        return np.where(self._discrete, reset, moved)


class ValidGenes(Repair):
    """A repair operator: makes each individual valid and moves its genes to the centres of their cells."""

    def __init__(self, cube: UnitCube) -> None:
        super().__init__()
        self._cube = cube

    def _do(
        self, _: PymooProblem, genes: Points, *__: Any, random_state: np.random.Generator, **___: Any
    ) -> Points:
        """Returns the repaired individuals, as pymoo's `Repair` asks."""
        return np.array([self._repaired(point, random_state) for point in genes])

    def _repaired(self, point: Points, rng: np.random.Generator) -> Points:
        """Returns the repaired point of one individual."""
        wanted = self._cube.configuration(point)
        found = self._cube.repaired(wanted, rng)
        centre = self._cube.point(found)
        # The active genes of a valid individual that have no cells keep their exact coordinates.
        exact = ~self._cube.discrete & self._cube.active(found)
        return np.where(exact, point, centre) if found is wanted else centre


def breed(
    problem: Problem,
    algorithm: GeneticAlgorithm,
    cube: UnitCube,
    fitness: Fitness,
    columns: int,
    rng: np.random.Generator,
) -> Generator[Batch, Sequence[Result], None]:
    """Runs a genetic algorithm until the budget is spent. Yields a batch for each generation.

    Args:
        problem: the tuner's problem.
        algorithm: an algorithm of pymoo with operators for `cube`.
        cube: the unit cube of the problem's space.
        fitness: the function that gives results their costs.
        columns: number of columns of the costs.
        rng: the only source of random numbers.
    """
    genes = PymooProblem(n_var=cube.dimensions, n_obj=columns, n_ieq_constr=1, xl=0.0, xu=1.0)
    algorithm.setup(genes, termination=NoTermination(), verbose=False)
    algorithm.random_state = rng
    evaluations = Evaluations(problem)
    while True:
        children = algorithm.ask()
        if children is None:
            return
        results = yield from evaluations.of([cube.configuration(point) for point in children.get("X")])
        if results is None:
            return
        children.set(result=results)
        # pymoo has no population before the first generation. F are the costs, G the violations.
        parents = algorithm.pop if algorithm.is_initialized else children[:0]
        costs, violations = fitness([*parents.get("result"), *results])
        # The parents' costs may have changed with the new results, so theirs are replaced too.
        parents.set(F=costs[: len(parents)], G=violations[: len(parents), None])
        evaluated = StaticProblem(genes, F=costs[len(parents) :], G=violations[len(parents) :, None])
        Evaluator().eval(evaluated, children)
        algorithm.tell(infills=children)
