"""Genetic search on pymoo: what its algorithms need to breed configurations.

Genes are knobs. Those with cells (whole numbers, choices) are swapped beyond one cut, as Jia and Chen draw
it, and mutate to any other value; real ones take pymoo's simulated binary crossover and polynomial mutation,
its own defaults. A child that breaks a rule becomes a valid configuration with most of its genes.
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
"""Returns for each of a population's results what is to be small, a column for each goal, and by how much it
breaks the constraints. Called for parents and children together, for what a result is worth may depend on all
that have been seen."""

WORST = 1e30
"""What a failed result is worth; pymoo computes distances, which infinity would spoil."""

_CROSSOVER_RATE = 0.9
_SBX_ETA = 15
_PM_ETA = 20


class GeneCrossover(SBX):
    """One-point crossover of the genes with cells, simulated binary crossover of the others."""

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
        children: Points = super()._do(problem, parents, *args, random_state=random_state, **kwargs)
        _, matings, genes = parents.shape
        cuts = random_state.integers(1, max(genes, 2), size=(matings, 1))
        tail = np.arange(genes) >= cuts
        for child, (own, other) in enumerate(((0, 1), (1, 0))):
            swapped = np.where(tail, parents[other], parents[own])
            children[child] = np.where(self._discrete, swapped, children[child])
        return children


class GeneMutation(PM):
    """Draws genes with cells anew, and moves the others by polynomial mutation, all at one rate."""

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
        moved = super()._do(problem, genes, *args, random_state=random_state, **kwargs)
        drawn = random_state.random(genes.shape)
        reset = np.where(random_state.random(genes.shape) < self._rate, drawn, genes)
        return np.where(self._discrete, reset, moved)


class ValidGenes(Repair):
    """Moves every individual to the middle of its cells, and into the rules where it breaks one."""

    def __init__(self, cube: UnitCube) -> None:
        super().__init__()
        self._cube = cube

    def _do(
        self, _: PymooProblem, genes: Points, *__: Any, random_state: np.random.Generator, **___: Any
    ) -> Points:
        return np.array([self._repaired(point, random_state) for point in genes])

    def _repaired(self, point: Points, rng: np.random.Generator) -> Points:
        wanted = self._cube.configuration(point)
        found = self._cube.repaired(wanted, rng)
        middle = self._cube.point(found)
        return np.where(self._cube.discrete, middle, point) if found is wanted else middle


def breed(
    problem: Problem,
    algorithm: GeneticAlgorithm,
    cube: UnitCube,
    fitness: Fitness,
    goals: int,
    rng: np.random.Generator,
) -> Generator[Batch, Sequence[Result], None]:
    """Lets an algorithm breed until the budget is spent.

    Args:
        problem: what the tuner is told.
        algorithm: pymoo's, with operators for `cube`.
        cube: of the problem's space.
        fitness: says what results are worth.
        goals: how many columns it returns.
        rng: the only source of randomness.
    """
    genes = PymooProblem(n_var=cube.dimensions, n_obj=goals, n_ieq_constr=1, xl=0.0, xu=1.0)
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
        parents = algorithm.pop if algorithm.is_initialized else children[:0]
        worth, violations = fitness([*parents.get("result"), *results])
        parents.set(F=worth[: len(parents)], G=violations[: len(parents), None])
        judged = StaticProblem(genes, F=worth[len(parents) :], G=violations[len(parents) :, None])
        Evaluator().eval(judged, children)
        algorithm.tell(infills=children)
