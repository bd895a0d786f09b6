from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, EmbeddedRun, RunFailed
from rocktune.online import MissionLoad, flsm_shape_of, run_missions
from rocktune.trial import Measurement
from rocktune.workload import WorkloadSpec, load_workload
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

SMALL = {
    "cf": {"write_buffer_size": "65536", "target_file_size_base": "65536"},
    "flsm": {"size_ratio": "4", "policy_1": "1"},
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    with closing(EmbeddedEngine(tmp_path / "data", memory_limit_bytes=0, disk_limit_bytes=0)) as engine:
        yield engine


def workload(**changes: object) -> WorkloadSpec:
    spec = WorkloadSpec(
        name="missions", keys=10_000, threads=2, sessions=(SessionSpec(mix=MixSpec(get=0.5, put=0.5)),)
    )
    return spec.model_copy(update=changes)


def load(**changes: object) -> MissionLoad:
    given = {
        "workload": workload(), "device": DeviceSpec(name="none"), "scale": 1,
        "missions": 3, "operations": 1500, "options": SMALL,
    }  # fmt: skip
    return MissionLoad(**(given | changes))  # type: ignore[arg-type]


def test_missions_follow_each_other_and_a_controller_changes_policies(engine: EmbeddedEngine) -> None:
    told: list[tuple[float, float]] = []

    def control(run: EmbeddedRun, done: Sequence[Measurement]) -> None:
        if len(done) == 1:
            run.set_policy(1, 3, "flexible")

    first, second, third = run_missions(
        engine, load(), control, lambda phase, done, total: told.append((done, total))
    )
    assert first.until_s == second.from_s
    assert second.until_s == third.from_s
    for mission in (first, second, third):
        assert sum(kind["count"] for kind in mission.raw["operations"].values()) >= 1500
    assert [flsm_shape_of(each.raw["flsm"]).levels[0].policy for each in (first, second, third)] == [1, 3, 3]
    assert told[-1] == (3, 3)


def test_an_flsm_store_is_preloaded_as_one(engine: EmbeddedEngine) -> None:
    preloaded = load(workload=workload(preload=PreloadSpec(keys=5000, random_order=True)), missions=1)
    (only,) = run_missions(engine, preloaded)
    assert only.raw["operations"]["get"]["found"] > 0
    assert sum(level.held_bytes for level in flsm_shape_of(only.raw["flsm"]).levels) > 2_500_000


def test_what_no_store_has_ends_the_run(engine: EmbeddedEngine) -> None:
    with pytest.raises(RunFailed, match="policy 9 is not from 1 to 4"):
        run_missions(engine, load(), lambda run, done: run.set_policy(1, 9, "flexible"))
    plain = load(options={})
    with pytest.raises(RunFailed, match="is not an FLSM store"):
        run_missions(engine, plain, lambda run, done: run.set_policy(1, 1, "flexible"))


@pytest.mark.parametrize("letter", "abcdef")
def test_ycsb_runs_on_an_flsm_store(engine: EmbeddedEngine, letter: str) -> None:
    ycsb = load_workload(f"ycsb-{letter}")
    sizes = {"write_buffer_size": str(2000 << 16), "target_file_size_base": str(2000 << 16)}
    (only,) = run_missions(
        engine,
        load(workload=ycsb, options=SMALL | {"cf": sizes}, scale=2000, missions=1, operations=4_000_000),
    )
    done = {kind for kind, figures in only.raw["operations"].items() if figures["count"]}
    mix = ycsb.mix_of(ycsb.sessions[0]).model_dump()
    assert done == {kind for kind, share in mix.items() if share}
    if "scan" in done:
        scans = only.raw["operations"]["scan"]
        # Of 1 to 100 entries, shorter only at the end of the keys.
        assert 45 < scans["found"] / scans["count"] < 56
