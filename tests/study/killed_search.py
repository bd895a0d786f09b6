"""One search through the study's loop and a ledger; with a count it kills itself within that trial."""

import json
import os
import signal
import sys
import zlib
from dataclasses import replace

import numpy as np

from rocktune.ledger import open_ledger
from rocktune.study.executors import executor_of
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import Loop
from rocktune.study.measuring.observer import Observer
from rocktune.testing.synthetic import synthetic_experiment
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.testing.tuners import synthetic_problem
from rocktune.trial import Configuration, Trial
from rocktune.tuners import tuner_named

SPEC = {"workload": {"name": "w"}, "device": {"name": "d"}, "scale": 64}
BOTH = ("throughput_ops_s", "read_latency_us_p99")
SETTINGS = {
    "dremel": {"pool": 500},
    "smpso": {"swarm_size": 4},
    **{name: {"population": 4} for name in ("ga", "nsga2", "epsilon-constraint", "weighted-sum")},
}


class Killed(Observer):
    """Kills the process, as kill -9 does, when a trial of this number has begun."""

    def __init__(self, trial: int) -> None:
        self._left = trial

    def trial_started(self, trial: Trial, index: int, count: int) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def throughput(configuration: Configuration) -> float:
    """Differs between any two configurations."""
    return 20_000.0 + zlib.crc32(configuration.key.encode()) % 20_000


def main(name: str, ledger_path: str, killed_at: int) -> None:
    """Searches, or goes on with the search that the ledger holds; prints its trials and figures as JSON."""
    constraints = ("read_latency_us_p99<=3500",) if name == "epsilon-constraint" else ()
    objective = BOTH if name in ("weighted-sum", "nsga2", "smpso") else "throughput_ops_s"
    problem = synthetic_problem(objective=objective, constraints=constraints)
    tuner = tuner_named(name, SETTINGS.get(name))
    twelve_s = 12 * problem.age_s(problem.trial_age_s)
    problem = replace(problem, budget_s=max(tuner.min_budget_s(problem), twelve_s))
    engine, experiment = SyntheticEngine(throughput), synthetic_experiment()
    with open_ledger(ledger_path) as ledger:
        study = ledger.create_study("study", SPEC)
        loop = Loop(
            executor_of(engine),
            lambda configuration, replicate: (experiment, configuration, replicate),
            lambda window: window.figures["throughput_ops_s"],
            ledger,
            study,
            Killed(killed_at),
            Interrupt(Observer()),
        )
        loop.run("search", tuner.search(problem, np.random.default_rng(5)), continues_runs=True)
        records = [
            [record.trial.configuration.key, record.trial.until_s, record.measured_s]
            for record in ledger.trials(study)
        ]
    print(json.dumps({"records": records, "measured_now_s": engine.advanced_s}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
