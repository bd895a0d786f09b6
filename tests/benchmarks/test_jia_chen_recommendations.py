"""What a study recommends after an emulated search."""

from benchmarks.jia_chen.recommendations import recommendation

from rocktune.objective import objective_named
from rocktune.study.specs.spec import VerificationSettings
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial

BOUNDED = objective_named("throughput_ops_s", ["read_latency_us_p99<=100"])
BASELINE, LUCKY, SAFE = (Configuration({"x": x}) for x in range(3))
THROUGHPUT = {BASELINE: 1000, LUCKY: 3000, SAFE: 2000}


def _measured(trial: Trial, latency_us: float) -> Result:
    window = synthetic_window(0, trial.until_s, THROUGHPUT[trial.configuration], latency_us)
    return Result(trial, Status.OK, window)


def _recommended(safe_latency_us: float, rounds: int) -> Configuration | None:
    """Returns the recommendation where the fastest configuration kept the bound by luck in the search."""
    latency_us = {BASELINE: 50.0, LUCKY: 110.0, SAFE: safe_latency_us}

    def answer(trial: Trial) -> Result:
        if not trial.configuration:  # RocksDB's bare defaults
            return Result(trial, Status.INVALID)
        return _measured(trial, latency_us[trial.configuration])

    searched = [_measured(Trial(each, 1.0), 90.0) for each in (LUCKY, SAFE)]
    settings = VerificationSettings(finalists=1, pick_rounds=rounds)
    return recommendation(searched, BOUNDED, BASELINE, answer, settings)


def test_what_kept_the_bound_by_luck_is_not_recommended() -> None:
    assert _recommended(90.0, rounds=1) is None
    assert _recommended(90.0, rounds=2) == SAFE
    assert _recommended(105.0, rounds=3) is None
