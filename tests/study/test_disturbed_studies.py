"""Studies and upgrades on a busy machine."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.study.small_studies import SMALL, Recorder, engine_of, response, run, spec_of, timeless, verify
from tests.study.test_upgrade import engine_of as versions_of
from tests.study.test_upgrade import spec_of as upgrade_of

from rocktune.ledger import Ledger, open_ledger
from rocktune.outcome import Outcome
from rocktune.report import findings, upgraded
from rocktune.report.advice import advice
from rocktune.study import kept_trials, run_upgrade, seeds
from rocktune.study.executors import LocalExecutor
from rocktune.study.proving.disturbed import BUSY
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine

SETTINGS: dict[str, Any] = {"tuner": "dremel", "budget_s": 1200 / 64}


class Busy(Recorder):
    """Disturbs a sixth of all windows, or those of one phase; the number of recorded trials decides which.

    So a study that is resumed with the same observer is disturbed like one that runs in one go.
    """

    def __init__(self, phases: tuple[str, ...] = (), share: float = 0.5) -> None:
        super().__init__()
        rng = random.Random(7)
        self._dice = [rng.random() for _ in range(1000)]
        self._busy_phases = phases
        self._share = share

    def share(self) -> float:
        if self._busy_phases:
            return self._share if self.phases[-1] in self._busy_phases else 0.0
        dice = self._dice[len(self.finished)]
        return dice if dice < 1 / 6 else 0.0

    def stop_after(self, trials: int) -> None:
        self._dies_after = len(self.finished) + trials


def engine_with(busy: Busy) -> SyntheticEngine:
    return SyntheticEngine(response, own_noise=0.002, others_share=busy.share)


def without_disturbance(outcome: dict[str, Any]) -> dict[str, Any]:
    timed = timeless(outcome)
    return timed | {"seconds": timed["seconds"] | {"disturbed": 0.0}}


def asked(ledger: Ledger) -> list[tuple[Any, ...]]:
    """Returns the parts of the trials that disturbance does not change, in order."""
    return [
        (each.phase, each.trial, each.status, each.measured_s)
        for each in kept_trials(ledger, ledger.study("study"))
    ]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], list[tuple[Any, ...]]]]:
    with open_ledger(str(tmp_path_factory.mktemp("quiet") / "ledger.sqlite")) as ledger:
        outcome = run(spec_of(**SETTINGS), engine_of(), ledger)
        yield without_disturbance(outcome), asked(ledger)


def test_a_busy_machine_costs_time_and_nothing_else(ledger: Ledger, quiet: Any) -> None:
    busy = Busy()
    outcome = run(spec_of(**SETTINGS), engine_with(busy), ledger, busy)
    # The synthetic figures of a repeat are those of its original, so every decision must be the same.
    assert (without_disturbance(outcome), asked(ledger)) == quiet
    again_s, records = outcome["seconds"]["disturbed"], ledger.trials(ledger.study("study"))
    measured_s = sum(record.measured_s for record in records)
    assert 0 < again_s == pytest.approx(measured_s - outcome["seconds"]["measuring"])
    phases = {each.phase for each in records if seeds.repeats_before(each.trial.replicate)}
    assert phases >= {"search", "ablate", "prove"}


def test_a_busy_study_that_dies_again_and_again_comes_to_the_same(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "whole.sqlite")) as ledger:
        busy = Busy()
        whole = timeless(run(spec_of(**SETTINGS), engine_with(busy), ledger, busy))
        expected = [(each.trial, each.measured_s) for each in ledger.trials(ledger.study("study"))]
    with open_ledger(str(tmp_path / "cut.sqlite")) as ledger:
        busy, outcome = Busy(), None
        while outcome is None:
            busy.stop_after(9)
            try:
                outcome = run(spec_of(**SETTINGS), engine_with(busy), ledger, busy)
            except Died:
                continue
        assert timeless(outcome) == whole
        assert [(each.trial, each.measured_s) for each in ledger.trials(ledger.study("study"))] == expected
        assert not [note for note in busy.notes if "differs" in note]


def test_a_proof_during_which_the_machine_is_always_busy_decides_nothing(ledger: Ledger) -> None:
    busy = Busy(phases=("prove",))
    document = run(spec_of(), engine_with(busy), ledger, busy)
    outcome = Outcome.from_json(document)
    assert outcome.ratio.low is not None
    assert outcome.ratio.low > 1
    assert (outcome.recommended, outcome.disturbed_pairs, outcome.reason) == ("baseline", 6, BUSY)
    assert findings.headline(outcome) == "Undecided: the machine was busy during the proof, on a 1/64 model"
    assert findings.verdict(outcome).startswith(f"Keep the baseline. The proof is {BUSY}.")
    assert "during 6 pairs of the proof" in " ".join(advice(outcome))
    runs = [each for each in ledger.trials(ledger.study("study")) if each.phase == "prove"]
    # Six pairs, two of them with RocksDB's defaults, each measured four times.
    assert len(runs) == 4 * (6 * 2 + 2)
    # A quiet hour later.
    proven = Outcome.from_json(verify(spec_of(), engine_of(), ledger, 16))
    assert (proven.recommended, proven.disturbed_pairs, proven.reason) == ("best", 0, "")


def test_a_tail_during_which_the_machine_is_always_busy_decides_nothing(ledger: Ledger) -> None:
    busy = Busy(phases=("offer",))
    document = run(spec_of(protocol="steady", proof_pairs=6), engine_with(busy), ledger, busy)
    outcome = Outcome.from_json(document)
    assert outcome.tail is not None
    assert (outcome.tail.verdict, outcome.disturbed_pairs) == ("undecided", 0)
    assert (outcome.recommended, outcome.reason) == ("baseline", BUSY)
    assert findings.headline(outcome) == "Undecided: the machine was busy during the proof, on a 1/64 model"


def test_a_study_may_allow_a_steady_load(ledger: Ledger) -> None:
    busy = Busy(phases=("baseline", "search", "pick", "ablate", "prune", "prove"), share=0.3)
    spec = spec_of(verification={**SMALL, "max_others_share": 0.35})
    outcome = Outcome.from_json(run(spec, engine_with(busy), ledger, busy))
    assert (outcome.recommended, outcome.disturbed_pairs, outcome.reason) == ("best", 0, "")
    assert outcome.seconds.disturbed == 0


def test_few_disturbed_pairs_are_told_and_do_not_decide(ledger: Ledger) -> None:
    class Neighbour(Busy):
        def share(self) -> float:
            busy = (seeds.PROVE + 1, seeds.PROVE + 2)
            return 0.3 if seeds.original_of(self.started) in busy else 0.0

        def trial_started(self, trial: Any, index: int, of: int) -> None:
            self.started = trial.replicate

    busy = Neighbour()
    outcome = Outcome.from_json(run(spec_of(), engine_with(busy), ledger, busy))
    assert (outcome.recommended, outcome.disturbed_pairs, outcome.reason) == ("best", 2, "")
    assert "during 2 pairs of the proof, in all their repeats" in " ".join(advice(outcome))


def test_several_workers_repeat_nothing_and_decide(ledger: Ledger, quiet: Any) -> None:
    busy = Busy(phases=("baseline", "search", "pick", "ablate", "prune", "prove"))
    executor = LocalExecutor([engine_with(busy)])
    executor.is_parallel = True
    outcome = run(spec_of(**SETTINGS), executor, ledger, busy)
    assert (without_disturbance(outcome), asked(ledger)) == quiet
    assert outcome["disturbed_pairs"] == outcome["seconds"]["disturbed"] == 0


def test_a_study_of_several_workers_may_go_on_with_a_single_one(ledger: Ledger, quiet: Any) -> None:
    busy = Busy()
    busy.stop_after(15)
    executor = LocalExecutor([engine_with(busy)])
    executor.is_parallel = True
    with pytest.raises(Died):
        run(spec_of(**SETTINGS), executor, ledger, busy)
    outcome = run(spec_of(**SETTINGS), engine_with(busy), ledger, busy)
    assert (without_disturbance(outcome), asked(ledger)) == quiet
    assert not [note for note in busy.notes if "differs" in note]


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "faster"), (0.5, "no difference proven")])
def test_an_upgrade_is_undecided_on_a_busy_machine(ledger: Ledger, share: float, verdict: str) -> None:
    busy = Busy(phases=("prove",), share=share)
    engine, sides = versions_of((10_000.0, 11_000.0))
    for side in sides:
        side.others_share = busy.share
    proof = run_upgrade(upgrade_of(), engine, ledger, busy)
    assert (proof.verdict, proof.disturbed_pairs) == (verdict, 6 if share else 0)
    assert sum(len(side.opened) for side in sides) == (4 if share else 1) * 12
    assert proof.figures["throughput_ops_s"].ratio.repeats == 6
    found = {"proof": proof.to_json(), "rocksdb": ("8.6.7", "11.8.1"), "pairs": 6, "scale": "1/64"}
    if share:
        assert upgraded.proof_statement(found) == f"Nothing is proven: {BUSY}."
        assert "during 6 pairs of 6, in all their repeats" in " ".join(upgraded.proof_cautions(found))
    assert run_upgrade(upgrade_of(), versions_of((1.0, 1.0))[0], ledger) == proof
