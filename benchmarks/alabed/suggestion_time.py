"""The time of one suggestion after 100 observations of ten knobs.

Needs BoTorch (pip install rocktune[bo]).
"""

import time
from dataclasses import replace

import numpy as np

from benchmarks.common.claims import Claim, Settings, decided, main, median_spread, reported
from rocktune.space import load_space
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import synthetic_problem
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners import tuner_named
from rocktune.tuners.bayesian.clusters import PAPERS_TASKS

TUNERS = ("bo", "additive-bo", "multitask-bo", "clustered-bo")
TRIAL_S = 120.0
SHARE = 0.1


def suggestion_time(settings: Settings) -> list[Claim]:
    """Measures the wall time of a suggestion, model included, on one thread; the median of five."""
    observations, repeats = (10, 1) if settings.quick else (100, 5)
    problem = replace(synthetic_problem(scale=1, budget_s=1e6), space=load_space("alabed", None, 1e6))
    claims = []
    for name in TUNERS:
        tuner, seconds = tuner_named(name), []
        search = tuner.search(problem, np.random.default_rng(settings.seed))
        results = [answer(trial) for trial in next(search).trials]  # type: ignore[union-attr]
        for _ in range(observations + repeats):
            item = search.send(results)
            started = time.monotonic()
            batch = item() if callable(item) else item
            seconds.append(time.monotonic() - started)
            results = [answer(trial) for trial in batch.trials]
        settings.say(f"{name}: {seconds[-1]:.2f} s")
        measured = median_spread(seconds[-repeats:])
        claims.append(
            decided(
                reported(
                    f"{name}_suggestion_after_{observations}_observations",
                    f"{SHARE:.0%} of a trial of {TRIAL_S:g} s",
                    "s; median [min, max]",
                    measured,
                    engine="none",
                    device="none",
                ),
                high=SHARE * TRIAL_S,
            )
        )
    return claims


def answer(trial: Trial) -> Result:
    """Returns a made-up result in which each of the paper's tasks varies with the knobs."""
    numbers = np.array([float(value) for value in trial.configuration.values() if not isinstance(value, str)])
    scaled = np.log1p(numbers)
    throughput = 1e4 + 1e3 * float(np.sin(scaled).sum())
    window = synthetic_window(0.0, trial.until_s, throughput, 1e6 / throughput)
    tasks = {task: 10.0 + float(np.cos(scaled[place:]).sum()) for place, task in enumerate(PAPERS_TASKS)}
    return Result(trial, Status.OK, Measurement(window.raw | {"figures": tasks}))


if __name__ == "__main__":
    main("alabed.suggestion_time", suggestion_time)
