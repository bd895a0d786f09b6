"""Aged stores on the real worker: made once, continued after a cut, and used by runs."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, RunFailed
from rocktune.engine.embedded import ageing
from rocktune.engine.embedded.ageing import Ageing
from rocktune.space import load_space
from rocktune.trial import Configuration, Experiment
from rocktune.workload import WorkloadSpec

SCALE = 512
STEPS = 6
"""Steps of 20 s / 512 until a store is given up in these tests."""


@pytest.fixture
def engine(tmp_path: Path, real_worker: tuple[str, ...]) -> Iterator[EmbeddedEngine]:
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "LIMIT_FULL_SIZE_S", STEPS * 20.0)


def experiment(put: float = 0.5, base_seed: int = 0) -> Experiment:
    workload = WorkloadSpec.model_validate(
        {
            "name": "mixed",
            "keys": 1_000_000,
            "threads": 2,
            "sessions": [
                {
                    "mix": {"get": 1 - put, "put": put},
                    "arrival": {"kind": "fixed_rate", "operations_s": 1000.0},
                }
            ],
        }
    )
    device = DeviceSpec(name="fast", bandwidth_bytes_s=100_000_000)
    space = load_space("dremel", None, 1e6)
    return replace(Experiment(workload.with_all_keys(), device, SCALE, space), aged=True, base_seed=base_seed)


def opened(engine: EmbeddedEngine, conditions: Experiment, **knobs: int) -> Ageing:
    """Returns how the store of a run was aged."""
    configuration = conditions.space.default().replaced(knobs)
    with closing(engine.open(conditions, configuration, seed=1)) as run:
        first, second = run.advance(0.1), run.advance(0.2)
    assert "ageing" not in second.raw
    found = dict(first.merged(second).raw["ageing"])
    assert found.pop("wall_s") >= 0
    assert not list(run.directory.glob("rocktune-ageing*"))
    return Ageing(**found)


def test_a_store_is_aged_once(engine: EmbeddedEngine) -> None:
    first = opened(engine, experiment())
    loading_s = engine.loading_s
    assert first.load_s == pytest.approx(STEPS * 20 / SCALE)
    # The offered rate of 1,000 a second does not hold it back.
    assert first.throughput_ops_s > 2000
    assert opened(engine, experiment()) == first
    assert engine.loading_s == loading_s


@pytest.mark.parametrize("changes", [{"base_seed": 1}, {}])
def test_other_conditions_have_a_store_of_their_own(engine: EmbeddedEngine, changes: dict[str, int]) -> None:
    opened(engine, experiment())
    loading_s = engine.loading_s
    knobs = {} if changes else {"level0_file_num_compaction_trigger": 6}
    opened(engine, experiment(**changes), **knobs)
    assert engine.loading_s > loading_s


def test_ageing_goes_on_after_a_cut(engine: EmbeddedEngine) -> None:
    conditions, seen = experiment(), []

    def cut(phase: str, done: float, total: float) -> None:
        if phase == "age":
            seen.append(done)
            if len(seen) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.open(conditions, conditions.space.default(), 1, cut)
    # A third step goes on from the two recorded ones.
    with closing(engine.open(conditions, conditions.space.default(), 1, cut)) as run:
        found = run.advance(0.1).raw["ageing"]
    assert seen == pytest.approx([(step + 1) * 20 / SCALE for step in range(STEPS)])
    assert found["load_s"] == pytest.approx(STEPS * 20 / SCALE)


def test_stores_of_several_runs_are_aged_ahead(engine: EmbeddedEngine) -> None:
    conditions = [experiment(base_seed=seed) for seed in (1, 2, 1)]
    configuration = conditions[0].space.default()
    seen: list[float] = []
    runs = [(each, configuration) for each in conditions]
    engine.prepare(runs, lambda phase, done, _total: seen.append(done) if phase == "age" else None)
    assert seen[-1] == pytest.approx(2 * STEPS * 20 / SCALE)
    loading_s = engine.loading_s
    for each, has_made in ((conditions[0], True), (conditions[1], True), (conditions[0], False)):
        with closing(engine.open(each, configuration, seed=1)) as run:
            found = run.advance(0.1).raw["ageing"]
        # The time counts once, for the first run on the store.
        assert (found["wall_s"] > 0) == has_made
    assert engine.loading_s == loading_s
    engine.prepare(runs, lambda *_: pytest.fail("nothing is missing"))


def test_options_that_are_refused_fail_when_the_run_is_opened(engine: EmbeddedEngine) -> None:
    """Not while stores are made ahead, which would end the study."""
    good = experiment(base_seed=1)
    bad = replace(good, base_options={"cf": {"no_such_option": "1"}})
    engine.prepare([(bad, Configuration({})), (bad, bad.space.default())], lambda *_: None)
    with pytest.raises(RunFailed):
        engine.open(bad, bad.space.default(), 1)


def test_stores_that_the_quota_does_not_hold_are_not_aged_ahead(
    tmp_path: Path, real_worker: tuple[str, ...]
) -> None:
    """The second store would remove the first before it is used."""
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker, base_quota_bytes=5 << 20)) as engine:
        runs = [(each, each.space.default()) for each in (experiment(base_seed=1), experiment(base_seed=2))]
        engine.prepare(runs, lambda *_: pytest.fail("nothing is aged"))


def test_stores_on_the_machines_own_disk_are_aged_one_by_one(engine: EmbeddedEngine) -> None:
    free = [replace(experiment(base_seed=seed), device=DeviceSpec(name="none")) for seed in (1, 2)]
    engine.prepare([(each, each.space.default()) for each in free], lambda *_: pytest.fail("nothing is aged"))


def test_a_cut_while_stores_age_together_loses_no_step(engine: EmbeddedEngine) -> None:
    runs = [(each, each.space.default()) for each in (experiment(base_seed=1), experiment(base_seed=2))]

    def cut(phase: str, _done: float, _total: float) -> None:
        if phase == "age":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.prepare(runs, cut)
    partial = list(engine.data.bases.glob("*.partial")) + [
        path for path in engine.data.bases.iterdir() if (path / "rocktune-ageing.json").exists()
    ]
    assert partial
    engine.prepare(runs, lambda *_: None)
    with closing(engine.open(*runs[0], seed=1)) as run:
        assert run.advance(0.1).raw["ageing"]["load_s"] == pytest.approx(STEPS * 20 / SCALE)


def test_a_store_that_only_reads_becomes_steady(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ageing, "LIMIT_FULL_SIZE_S", 10_000.0)
    conditions = experiment(put=0.0)
    # Throughput may differ by more than the tolerance for a while; the store itself does not change.
    assert opened(engine, conditions).amplification == 0


def test_steady_amplification_is_what_is_owed(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Ageing(1.0, True, "", 1000.0, 7.5)
    monkeypatch.setattr(Ageing, "taken_from", lambda directory: made)
    conditions = experiment()
    with closing(engine.open(conditions, conditions.space.default(), 1)) as run:
        raw = run.advance(0.2).raw
    assert raw["debt"]["owed_bytes"] == pytest.approx(7.5 * raw["user_bytes_written"])


def test_a_store_that_fails_while_it_ages_is_a_failed_run(engine: EmbeddedEngine) -> None:
    small = replace(experiment(), device=DeviceSpec(name="small", capacity_bytes=1_000_000))
    for _ in range(2):
        with pytest.raises(RunFailed):
            engine.open(small, small.space.default(), 1)


def test_bare_defaults_can_be_aged(engine: EmbeddedEngine) -> None:
    with closing(engine.open(experiment(), Configuration({}), 1)) as run:
        assert run.advance(0.1).raw["ageing"]["load_s"] > 0
