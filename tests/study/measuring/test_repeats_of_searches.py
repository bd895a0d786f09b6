"""A search asks for the same trials and sees the same results, whatever disturbs its runs."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from rocktune.objective import objective_named
from rocktune.study import seeds
from rocktune.study.measuring.disturbance import MAX_REPEATS
from rocktune.study.measuring.repeats import Phase, Repeats
from rocktune.study.specs.spec import DISTURBED_SHARE
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Configuration, Result, RunKey, Status, Trial
from rocktune.tuners.halving import successive_halving


@dataclass
class Machine:
    """Answers batches without a loop, as a study would: with equal figures for a run and its repeats.

    Attributes:
        shares: disturbance of each window, in the order of measuring; then 0.
    """

    shares: list[float]
    attempts: dict[RunKey, set[int]] = field(default_factory=dict)
    parked: set[RunKey] = field(default_factory=set)

    def share(self) -> float:
        return self.shares.pop(0) if self.shares else 0.0

    def measured(self, trial: Trial) -> Result:
        speed = 1000.0 + zlib.crc32(trial.configuration.key.encode()) % 1000
        self.parked.add(trial.run)
        original = trial.configuration, seeds.original_of(trial.replicate)
        self.attempts.setdefault(original, set()).add(trial.replicate)
        return Result(trial, Status.OK, synthetic_window(0, trial.until_s, speed, others_share=self.share()))

    def driven(self, phase: Phase[list[Trial]]) -> list[Trial]:
        """Runs a phase to its end, with repeats, and checks each batch."""

        def disturbance(result: Result) -> float:
            assert result.measurement is not None
            share = result.measurement.others_share
            return share if share > DISTURBED_SHARE else 0.0

        delivered: dict[Trial, Result] = {}
        repeats = Repeats(
            disturbance,
            lambda _text, _seconds: None,
            lambda result: delivered.update({result.trial: result}),
            continues_runs=True,
        )
        batches = repeats.batches(phase)
        item = next(batches)
        try:
            while True:
                batch = item() if callable(item) else item
                assert len(set(batch.release)) == len(batch.release)
                self.parked -= set(batch.release)
                results = [self.measured(trial) for trial in batch.trials]
                # One attempt at a run is parked between batches, and one more until the next batch.
                originals = [(run[0], seeds.original_of(run[1])) for run in self.parked]
                assert max(map(originals.count, originals)) <= 2
                for result in results:
                    repeats.received(result)
                item = batches.send(results)
        except StopIteration as end:
            seen = list(end.value)
        assert set(delivered) == set(seen)
        return seen


def _searching(ages_s: Sequence[float], runs: int, deferred: bool) -> Phase[list[Trial]]:
    """Halves runs as Dremel does, and returns all trials that it saw."""
    seen: list[Trial] = []
    first = Batch(tuple(Trial(Configuration({"speed": run}), ages_s[0]) for run in range(runs)))
    results = yield first
    halving = successive_halving(results, ages_s[1:], objective_named("throughput_ops_s"))
    try:
        batch = next(halving)
        while True:
            seen += [result.trial for result in results]
            results = yield partial(replace, batch) if deferred else batch
            assert [result.trial for result in results] == list(batch.trials)
            batch = halving.send(results)
    except StopIteration:
        seen += [result.trial for result in results]
        return seen


@given(
    shares=st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.3, 0.9]), max_size=60),
    runs=st.integers(1, 9),
    deferred=st.booleans(),
)
def test_a_tuner_sees_the_same_trials_whatever_disturbs_them(
    shares: list[float], runs: int, deferred: bool
) -> None:
    ages_s = (1.0, 2.0, 3.0)
    quiet = Machine([]).driven(_searching(ages_s, runs, deferred))
    noisy = Machine(shares.copy())
    assert noisy.driven(_searching(ages_s, runs, deferred)) == quiet
    assert all(len(attempts) <= 1 + MAX_REPEATS for attempts in noisy.attempts.values())
