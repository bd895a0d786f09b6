"""Runs jMetalPy's SMPSO once; started by `evolutionary_reference` with a Python that has jMetalPy.

Reads {"problem", "variables", "objectives", "evaluations", "particles", "leaders", "mutation_rate",
"mutation_eta", "seed"} as JSON from standard input and writes the leaders' variables and objectives.
"""

import json
import logging
import random
import sys

import numpy as np
from jmetal.algorithm.multiobjective.smpso import SMPSO
from jmetal.operator.mutation import PolynomialMutation
from jmetal.problem.multiobjective import dtlz, zdt
from jmetal.util.archive import CrowdingDistanceArchive
from jmetal.util.termination_criterion import StoppingByEvaluations


def main() -> None:
    """Answers one request."""
    logging.disable()
    asked = json.load(sys.stdin)
    random.seed(asked["seed"])
    np.random.seed(asked["seed"])  # noqa: NPY002 - jMetalPy draws from the global generators
    name = asked["problem"].upper()
    if hasattr(zdt, name):
        problem = getattr(zdt, name)(asked["variables"])
    else:
        problem = getattr(dtlz, name)(asked["variables"], asked["objectives"])
    algorithm = SMPSO(
        problem=problem,
        swarm_size=asked["particles"],
        mutation=PolynomialMutation(asked["mutation_rate"], asked["mutation_eta"]),
        leaders=CrowdingDistanceArchive(asked["leaders"]),
        termination_criterion=StoppingByEvaluations(asked["evaluations"]),
    )
    algorithm.run()
    found = algorithm.result()
    answer = {
        "evaluations": algorithm.evaluations,
        "variables": [[float(each) for each in solution.variables] for solution in found],
        "objectives": [[float(each) for each in solution.objectives] for solution in found],
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
