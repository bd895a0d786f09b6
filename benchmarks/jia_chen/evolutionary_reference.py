"""SMPSO and NSGA-II against other libraries' implementations, on the problems of their papers.

jMetalPy is in its own environment, build/jmetalpy, created with pip if missing, or in the one of
`--reference-python`. pymoo's NSGA-II runs with pymoo's own operators.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pymoo
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.core.problem import Problem as TestProblem
from pymoo.indicators.hv import HV
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.optimize import minimize
from pymoo.problems import get_problem

from benchmarks.common.claims import ROOT, Claim, Measured, Settings, decided, main, mean_interval, reported
from benchmarks.common.tables import write_csv
from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.space import Knob, Space
from rocktune.testing.tuners import drive
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.evolutionary.evaluated import evaluated
from rocktune.tuners.evolutionary.swarm import Leaders

JMETALPY = "jmetalpy==1.9.0"
FIELDS = ("write_amplification", "read_amplification", "space_amplification")
"""Figures of which less is better; they carry the objectives."""
POPULATION = 100
MUTATION_ETA = 20
EVALUATIONS = 25_000
SEEDS = 10
"""Default of `--seeds`. One seed's ratio deviates by up to 2.1% (DTLZ2 with three objectives). So 10 seeds
decide by 1.5%, and 24 tell 0.994 from the target with a chance of 0.9."""
TARGET = 0.98
REFERENCES = {
    "smpso": ("jmetalpy", "Nebro et al. 2009"),
    "nsga2": ("pymoo", "Deb et al. 2002"),
}
"""For each tuner the program that it is compared with, and the algorithm's paper."""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A test problem.

    Attributes:
        name: pymoo's name of it.
        variables: number of variables.
        objectives: number of objectives.
    """

    name: str
    variables: int
    objectives: int = 2

    @property
    def label(self) -> str:
        """Name in claims and tables."""
        return f"{self.name}_{self.objectives}_objectives" if self.name == "dtlz2" else self.name

    def problem(self) -> TestProblem:
        """Returns the problem in pymoo's form."""
        objectives = {"n_obj": self.objectives} if self.name == "dtlz2" else {}
        return get_problem(self.name, n_var=self.variables, **objectives)

    def hypervolume(self, points: Reals) -> float:
        """Returns the share of the true front's hypervolume that points reach; 1 is best.

        Objectives are scaled so that the true front's ideal point is 0 and its nadir 1, as in the papers. The
        nadir is the reference point.
        """
        if self.name == "dtlz2":  # what an orthant of the unit ball leaves of the unit cube
            sector = {2: np.pi / 4, 3: np.pi / 6}[self.objectives]
            ideal, nadir, most = np.zeros(self.objectives), np.ones(self.objectives), 1 - sector
        else:
            points_of_front = "n_points" if self.name == "zdt3" else "n_pareto_points"
            front = self.problem().pareto_front(**{points_of_front: 10_000})
            ideal, nadir = front.min(axis=0), front.max(axis=0)
            most = HV(ref_point=np.ones(self.objectives))((front - ideal) / (nadir - ideal))
        return float(HV(ref_point=np.ones(self.objectives))((points - ideal) / (nadir - ideal)) / most)


CASES = (
    Case("zdt1", 30),
    Case("zdt2", 30),
    Case("zdt3", 30),
    Case("zdt4", 10),
    Case("zdt6", 10),
    Case("dtlz2", 12, 2),
    Case("dtlz2", 12, 3),
)


def ours(tuner: str, case: Case, evaluations: int, seed: int) -> Reals:
    """Returns the objectives of the points that our tuner holds at the end, at most as many as its reference.

    A study returns the front of all measured points, but the reference programs are not credited with that.
    """
    tested = case.problem()
    bounds = zip(tested.xl.tolist(), tested.xu.tolist(), strict=True)
    knobs = [
        Knob(f"x{index:02}", "cf", "ratio", low, "", low=low, high=high)
        for index, (low, high) in enumerate(bounds)
    ]
    space = Space(case.label, "a test problem", tuple(knobs), memory_bytes=1 << 30)
    objective = objective_named(FIELDS[: case.objectives])
    given = Problem(
        space=space,
        objective=objective,
        scale=1,
        budget_s=120.0 * evaluations,
        baseline=space.default(),
        expected_entries=1.0,
        entry_bytes=1.0,
    )

    def respond(trial: Trial) -> Result:
        found = tested.evaluate(np.array([trial.configuration[knob.name] for knob in knobs]))
        figures = dict(zip(FIELDS, map(float, found), strict=False))
        raw = {"from_s": 0.0, "until_s": trial.until_s, "figures": figures}
        return Result(trial, Status.OK, Measurement(raw))

    settings = {"population": POPULATION}
    if tuner == "smpso":
        settings = {"swarm_size": POPULATION, "leaders": POPULATION}
    search = tuner_named(tuner, settings).search(given, np.random.default_rng(seed))
    generations = [-evaluated(results, objective).gains for results in drive(search, respond).results]
    assert sum(map(len, generations)) <= evaluations
    return (_leaders if tuner == "smpso" else _survivors)(generations)


def _leaders(generations: Iterable[Reals]) -> Reals:
    """Returns the leaders' archive after all points were added in order."""
    leaders = Leaders(POPULATION)
    for generation in generations:
        for objectives in generation:
            leaders.add(objectives, -objectives, 0.0)
    return leaders.positions


def _survivors(generations: Iterable[Reals]) -> Reals:
    """Returns the population that NSGA-II's survival selects from each generation and its parents."""
    alive, ties = Population(), np.random.default_rng(1)
    for generation in generations:
        alive = Population.merge(alive, Population.new(F=generation, G=np.zeros((len(generation), 0))))
        alive = RankAndCrowding().do(TestProblem(), alive, n_survive=POPULATION, random_state=ties)
    return np.asarray(alive.get("F"))


def of_pymoo(case: Case, evaluations: int, seed: int) -> Reals:
    """Returns the objectives of the last population of pymoo's NSGA-II with its own operators."""
    algorithm = NSGA2(pop_size=POPULATION)
    finished = minimize(case.problem(), algorithm, ("n_eval", evaluations), seed=seed)
    assert finished.algorithm.evaluator.n_eval == evaluations
    return np.asarray(finished.pop.get("F"))


def of_jmetalpy(case: Case, evaluations: int, seed: int, python: Path) -> Reals:
    """Returns the objectives of the leaders of jMetalPy's SMPSO.

    Raises:
        RuntimeError: it made a different number of evaluations, or its test problem differs from pymoo's.
    """
    asked = {
        "problem": case.name,
        "variables": case.variables,
        "objectives": case.objectives,
        "evaluations": evaluations,
        "particles": POPULATION,
        "leaders": POPULATION,
        "mutation_rate": 1 / case.variables,
        "mutation_eta": MUTATION_ETA,
        "seed": seed,
    }
    said = subprocess.run(
        [python, Path(__file__).with_name("jmetal_smpso.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    answer = json.loads(said)
    objectives = np.asarray(case.problem().evaluate(np.array(answer["variables"])))
    # Its ZDT6 takes the fourth root of a difference in which rounding leaves up to 1e-3.
    same = np.allclose(objectives, answer["objectives"], atol=0.01)
    if answer["evaluations"] != evaluations or not same:
        raise RuntimeError(f"jMetalPy's {case.label} is not the problem, or the count, that was asked for")
    return objectives


def one_pair(job: tuple[str, Case, int, int, Path]) -> dict[str, Any]:
    """Returns one row: our hypervolume and the reference's, at equal evaluations and with the same seed."""
    tuner, case, evaluations, seed, python = job
    if tuner == "smpso":
        theirs = of_jmetalpy(case, evaluations, seed, python)
    else:
        theirs = of_pymoo(case, evaluations, seed)
    return {
        "tuner": tuner,
        "problem": case.label,
        "seed": seed,
        "evaluations": evaluations,
        "hypervolume": case.hypervolume(ours(tuner, case, evaluations, seed)),
        "reference_hypervolume": case.hypervolume(theirs),
    }


def ratio_of_means(rows: Sequence[dict[str, Any]]) -> Measured:
    """Returns our mean hypervolume over the reference's, with the t interval of the paired differences."""
    mine = np.array([row["hypervolume"] for row in rows])
    theirs = np.array([row["reference_hypervolume"] for row in rows])
    return mean_interval((1 + (mine - theirs) / theirs.mean()).tolist())


def reference_python(given: str) -> Path:
    """Returns a Python that has jMetalPy; creates its environment if none was given.

    Raises:
        UserError: the given one lacks jMetalPy, or it cannot be installed.
    """
    if given:
        probe = [given, "-c", "import jmetal"]
        if shutil.which(given) is None or subprocess.run(probe, capture_output=True, check=False).returncode:
            raise UserError(f"--reference-python: {given} is no Python with {JMETALPY} in it")
        return Path(given)
    python = ROOT / "build" / "jmetalpy" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", ROOT / "build" / "jmetalpy"], check=True)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", JMETALPY], check=False)
    if installed.returncode:
        raise UserError(f"jMetalPy could not be installed; '{python} -m pip install {JMETALPY}' says why")
    return python


def evolutionary_reference(settings: Settings) -> list[Claim]:
    """Compares the hypervolume of SMPSO with jMetalPy's and of NSGA-II with pymoo's, on seven problems."""
    python = reference_python(settings.extra["reference_python"])
    evaluations, seeds = EVALUATIONS, int(settings.extra["seeds"])
    cases: Sequence[Case] = CASES
    if settings.quick:
        evaluations, seeds, cases = 2000, 2, CASES[5:6]
    jobs = [
        (tuner, case, evaluations, settings.seed + seed, python)
        for seed in range(seeds)
        for tuner in REFERENCES
        for case in cases
    ]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(one_pair, jobs):
            rows.append(row)
            settings.say(f"{len(rows)} of {len(jobs)}: {row}")
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    return [claim_of(rows, tuner, case) for tuner in REFERENCES for case in cases]


def claim_of(rows: Sequence[dict[str, Any]], tuner: str, case: Case) -> Claim:
    """Returns the claim about one tuner on one problem."""
    of_case = [row for row in rows if (row["tuner"], row["problem"]) == (tuner, case.label)]
    ratio = ratio_of_means(of_case)
    program, source = REFERENCES[tuner]
    claim = reported(
        f"{tuner}_over_{program}_{case.label}",
        source,
        f"ratio of mean hypervolumes after {of_case[0]['evaluations']:,} evaluations",
        ratio,
        engine=f"no store; {JMETALPY}, pymoo=={pymoo.__version__}",
        device="none",
    )
    return decided(claim, low=TARGET)


if __name__ == "__main__":
    main(
        "jia_chen.evolutionary_reference",
        evolutionary_reference,
        scale=1,
        quick_scale=1,
        extra={"reference_python": "", "seeds": SEEDS},
    )
