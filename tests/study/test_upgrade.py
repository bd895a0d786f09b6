"""Tests of the proof of an upgrade, with a synthetic engine for each version."""

from collections.abc import Sequence
from typing import Any

import pytest

from rocktune.engine import VersionsEngine
from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.study import StudyInterrupted, UpgradeProof, UpgradeSpec, make_request, run_upgrade, table_of
from rocktune.study.specs.upgrading import HowToUpgrade, resolve_upgrade
from rocktune.study.upgrade import upgrade_s
from rocktune.testing.dying import Died, DiesAfter
from rocktune.testing.own_options import imported_options
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration, Status

OLD, NEW = "8.6.7", "11.8.1"
FILE = {"db": {"max_background_jobs": "3"}, "cf": {"write_buffer_size": str(40 << 20)}, "table": {}}
"""The file as the older version reads it."""
READ_BY_NEW = {**FILE, "cf": {**FILE["cf"], "level_compaction_dynamic_level_bytes": "true"}}


def spec_of(pairs: int = 6, seconds: str | None = None, **given: Any) -> UpgradeSpec:
    request = make_request({"workload": "ycsb-a", "scale": "1/64", "seed": 3} | given)
    old, new = (imported_options(options) for options in (FILE, READ_BY_NEW))
    how = HowToUpgrade("8.5", "11.8", (OLD, NEW), old, new, pairs, seconds)
    return resolve_upgrade(request, "up", how)


def engine_of(
    speeds: Sequence[float], fault: Fault = no_fault
) -> tuple[VersionsEngine, list[SyntheticEngine]]:
    """Returns an engine whose versions have the given throughput; `fault` is the newer one's."""

    def side(version: str, speed: float, fault: Fault, own_noise: float) -> SyntheticEngine:
        engine = SyntheticEngine(lambda _: speed, fault, own_noise=own_noise)
        engine.version = f"RocksDB {version}, assertions off"
        return engine

    # Noise of equal configurations would cancel in each pair, so that only one has it.
    old, new = side(OLD, speeds[0], no_fault, 0.0), side(NEW, speeds[1], fault, 0.004)
    return VersionsEngine({OLD: old, NEW: new}), [old, new]


def proof_of(ledger: Ledger, *speeds: float, **given: Any) -> UpgradeProof:
    return run_upgrade(spec_of(**given), engine_of(speeds)[0], ledger)


@pytest.mark.parametrize(
    ("new", "verdict"), [(11_000.0, "faster"), (9_000.0, "slower"), (10_001.0, "no difference proven")]
)
def test_the_interval_decides(ledger: Ledger, new: float, verdict: str) -> None:
    proof = proof_of(ledger, 10_000.0, new)
    ratio = proof.figures["throughput_ops_s"].ratio
    assert proof.verdict == verdict
    assert ratio.repeats == 6
    assert ratio.low <= new / 10_000 <= ratio.high
    assert proof.failures == ()
    # The random numbers that a pair shares are far larger than the difference.
    old = proof.figures["throughput_ops_s"].old
    assert (old.high - old.low) / old.value > 5 * (ratio.high - ratio.low)
    assert ledger.study("up").state == "finished"


def test_pairs_share_seed_and_base_and_each_version_has_its_own_options(ledger: Ledger) -> None:
    engine, (old, new) = engine_of((1.0, 2.0))
    spec = spec_of(pairs=4)
    run_upgrade(spec, engine, ledger)
    assert [seed for _, seed in old.opened] == [seed for _, seed in new.opened]
    assert len({seed for _, seed in old.opened}) == 4
    bases = [[experiment.base_seed for experiment in side.experiments] for side in (old, new)]
    assert bases[0] == bases[1]
    assert len(set(bases[0])) == 4
    assert {configuration for configuration, _ in old.opened + new.opened} == {Configuration({})}
    for side, dynamic in ((old, None), (new, "true")):
        for experiment in side.experiments:
            assert experiment.base_options["cf"].get("level_compaction_dynamic_level_bytes") == dynamic
            assert experiment.space.options(experiment.space.default())["db"]["max_background_jobs"]
    # Equal memory: the cache that the older version's file leaves.
    assert spec.base_options is not None
    assert spec.new_options["table"]["block_cache"] == spec.base_options["table"]["block_cache"]
    order = [str(record.trial.configuration["rocksdb"]) for record in ledger.trials(ledger.study("up"))]
    assert order == [OLD, NEW, NEW, OLD, OLD, NEW, NEW, OLD]


def test_an_upgrade_that_died_goes_on_where_it_was(ledger: Ledger) -> None:
    spec = spec_of()
    with pytest.raises(Died):
        run_upgrade(spec, engine_of((10.0, 11.0))[0], ledger, DiesAfter(5))
    engine, sides = engine_of((10.0, 11.0))
    proof = run_upgrade(spec, engine, ledger)
    assert sum(len(side.opened) for side in sides) == 12 - 5
    whole = run_upgrade(spec.model_copy(update={"name": "whole"}), engine_of((10.0, 11.0))[0], ledger)
    assert proof == whole
    engine, sides = engine_of((10.0, 11.0))
    assert run_upgrade(spec, engine, ledger) == proof
    assert not any(side.opened for side in sides)


def test_nothing_is_proven_if_a_run_failed(ledger: Ledger) -> None:
    def fault(_configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        return Status.CRASHED if until_s else None

    proof = run_upgrade(spec_of(pairs=2), engine_of((1.0, 2.0), fault)[0], ledger)
    assert proof.verdict == "no difference proven"
    assert proof.failures == (f"RocksDB {NEW}: crashed: made to fail as crashed",) * 2
    assert proof.figures == {}
    assert proof.to_json()["failures"] == list(proof.failures)


@pytest.mark.parametrize(
    ("old", "new", "caution"),
    [
        ("RocksDB 7.8.3, assertions on", "RocksDB 11.8.1, assertions off", "RocksDB 7.8.3 is built with"),
        ("RocksDB 7.8.3, assertions off", "RocksDB 11.8.1, assertions on", "RocksDB 11.8.1 is built with"),
        ("RocksDB 7.8.3, assertions on", "RocksDB 11.8.1, assertions on", ""),
    ],
)
def test_assertions_on_one_side_are_said(old: str, new: str, caution: str) -> None:
    proof = UpgradeProof((old, new), {}, ())
    assert proof.caution.startswith(caution)
    assert bool(proof.caution) == bool(caution)


def test_what_cannot_be_proven_is_refused(ledger: Ledger) -> None:
    for pairs in (1, 501):
        with pytest.raises(UserError, match=f"pairs: {pairs} must be from 2 to 500"):
            spec_of(pairs)
    with pytest.raises(UserError, match="seconds: 'x' is not a duration"):
        spec_of(seconds="x")
    assert spec_of(seconds="1s").measured_s == 1.0
    assert spec_of().measured_s == pytest.approx(120 / 64)
    assert upgrade_s(spec_of(seconds="1s", pairs=2)) == pytest.approx(6.0)
    proof_of(ledger, 1.0, 2.0, pairs=2)
    with pytest.raises(UserError, match="study 'up': is an upgrade, whose runs differ in their RocksDB"):
        table_of(ledger, ledger.study("up"))
    with pytest.raises(UserError, match="the name is taken by a study with other settings"):
        proof_of(ledger, 1.0, 2.0, pairs=3)


def test_ctrl_c_says_how_to_go_on(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from rocktune.study.measuring.interrupt import Interrupt

    class Stopped(Interrupt):
        def __enter__(self) -> Interrupt:
            self.requested = True
            return self

    monkeypatch.setattr("rocktune.study.upgrade.Interrupt", Stopped)
    with pytest.raises(StudyInterrupted) as stopped:
        proof_of(ledger, 1.0, 2.0)
    assert stopped.value.resume.startswith("rocktune resume up")
    assert stopped.value.so_far == "1 of 12 runs are measured."
    assert ledger.study("up").state == "interrupted"
