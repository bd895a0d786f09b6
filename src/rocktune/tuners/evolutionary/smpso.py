"""The tuner SMPSO, a particle swarm in the unit cube of the space."""

from typing import Annotated

import numpy as np
from pydantic import Field

from rocktune.spec_file import Share, Spec
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.evolutionary.evaluated import evaluated
from rocktune.tuners.evolutionary.evaluations import Evaluations, min_population_budget_s
from rocktune.tuners.evolutionary.swarm import Swarm
from rocktune.tuners.unit_cube import UnitCube


class SmpsoSettings(Spec):
    """The settings of SMPSO.

    Attributes:
        swarm_size: number of particles.
        leaders: maximum number of leaders, the nondominated positions in the archive (figure 14 of Jia and
            Chen: 4 to 64).
        mutation_rate: probability that a coordinate of every sixth particle mutates; None for one of its
            coordinates on average.
        inertia: share of its speed that a particle keeps in a step.
    """

    swarm_size: Annotated[int, Field(strict=True, ge=2, le=1000)] = 10
    leaders: Annotated[int, Field(strict=True, ge=1, le=1000)] = 16
    mutation_rate: Share | None = None
    inertia: Share = 0.1


class Smpso(Tuner):
    """The tuner for speed-constrained multi-objective particle swarm optimisation; see `swarm.Swarm`."""

    name = "smpso"
    summary = "particle swarm (SMPSO): for several objectives of which none is preferred"
    settings_type = SmpsoSettings
    settings: SmpsoSettings

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. A generation is a batch."""
        settings, cube, evaluations = self.settings, UnitCube(problem.space), Evaluations(problem)
        rate = 1 / cube.dimensions if settings.mutation_rate is None else settings.mutation_rate
        start = cube.points(problem.space.sample(settings.swarm_size, rng))
        swarm = Swarm(start, settings.leaders, rate, settings.inertia, rng)
        while True:
            wanted = [cube.configuration(position) for position in swarm.positions]
            configurations = [cube.repaired(each, rng) for each in wanted]
            results = yield from evaluations.of(configurations)
            if results is None:
                return
            # A repaired particle moves to the configuration that was measured.
            positions = [
                position if found is each else cube.point(found)
                for position, each, found in zip(swarm.positions, wanted, configurations, strict=True)
            ]
            swarm.update(np.array(positions), evaluated(results, problem.objective))
            # After the evaluation, so that the first generation is measured where it was drawn.
            swarm.move()

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one trial for each particle, in seconds of measuring."""
        return min_population_budget_s(problem, self.settings.swarm_size)
