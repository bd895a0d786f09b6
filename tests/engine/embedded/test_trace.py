"""A trace that RocksDB recorded, imported and replayed."""

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, RunFailed, import_trace, sample_trace
from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.trial import Experiment
from rocktune.workload import WorkloadSpec, load_workload, trace_workload

KEYS = 2000


@pytest.fixture(name="engine")
def fixture_engine(tmp_path: Path) -> EmbeddedEngine:
    return EmbeddedEngine(tmp_path / "data", memory_limit_bytes=0, disk_limit_bytes=0)


def live_experiment(keys: int = KEYS) -> Experiment:
    given = load_workload("ycsb-a")
    preload = given.preload.model_copy(update={"keys": keys})
    workload = given.model_copy(update={"keys": keys, "preload": preload, "threads": 4})
    space = load_space("dremel", 128 << 20, keys)
    return Experiment(
        workload=workload, device=DeviceSpec(name="none"), scale=1, space=space, base_options={}
    )


def test_a_recorded_run_is_replayed_whole_and_as_a_sample(engine: EmbeddedEngine, tmp_path: Path) -> None:
    live = live_experiment()
    trace, operations = tmp_path / "trace", tmp_path / "operations"
    with closing(engine), closing(engine.open(live, live.space.default(), seed=1)) as recorded:
        recorded.start_trace(trace)
        done = recorded.advance_operations(20_000).raw["operations"]
        recorded.end_trace()
        summary = import_trace(trace, operations)
        assert summary.notes == {}
        for kind in ("get", "put"):
            # An operation of each thread may have been traced without being done at the window's end.
            assert 0 <= summary.total(kind) - done[kind]["count"] <= 4
        workload = trace_workload(summary, str(operations), "replayed", threads=4)
        for scale in (1, 4):
            replayed = replace(live, workload=workload, scale=scale)
            with closing(engine.open(replayed, live.space.default(), seed=1)) as run:
                kinds = run.advance_operations(summary.operations // scale // 2).raw["operations"]
            assert kinds["get"]["count"] > 0
            # All keys that are read before they are put are loaded.
            assert kinds["get"]["found"] == kinds["get"]["count"]


def test_recorded_range_deletes_are_replayed(engine: EmbeddedEngine, tmp_path: Path) -> None:
    # In draws of such operations the live keys vary by 3.9% with 8,000 keys, by 7.6% with 2,000.
    keys, operations_done = 8000, 80_000
    live, mix = live_experiment(keys), {"get": 0.49, "put": 0.5, "delete_range": 0.01}
    changed = {
        "sessions": [{"mix": mix}],
        "delete_range_keys": {"low": 40},
        "key_chooser": {"kind": "uniform"},
    }
    document = live.workload.model_dump(mode="json", exclude_none=True) | changed
    live = replace(live, workload=WorkloadSpec.model_validate(document))
    trace, operations, copy = tmp_path / "trace", tmp_path / "operations", tmp_path / "db"
    with closing(engine):
        with closing(engine.open(live, live.space.default(), seed=1)) as recorded:
            shutil.copytree(recorded.directory, copy)
            recorded.start_trace(trace)
            left = recorded.advance_operations(operations_done).raw["live_keys"]
            recorded.end_trace()
        # 0.5 puts and 0.4 deleted keys for each operation: five ninths of the keys are live in equilibrium.
        assert left == pytest.approx(keys * 5 / 9, rel=0.2)
        summary = import_trace(trace, operations, preload_from=copy)
        assert summary.notes == {}
        ranges = summary.total("delete_range")
        assert 600 < ranges < 1000  # seven standard deviations of 800 draws
        assert summary.range_keys / ranges == pytest.approx(40, abs=2)  # those at the end are shorter
        workload = trace_workload(summary, str(operations), "replayed", threads=4, preload_from=str(copy))
        for scale in (1, 4):
            replayed = replace(live, workload=workload, scale=scale)
            with closing(engine.open(replayed, live.space.default(), seed=1)) as run:
                raw = run.advance_operations(sample_trace(operations, scale).operations).raw
            assert raw["live_keys"] == pytest.approx(left / scale, rel=0.25)
            assert raw["operations"]["delete_range"]["count"] >= ranges / scale / 2


def test_a_replays_store_begins_with_the_databases_entries(engine: EmbeddedEngine, tmp_path: Path) -> None:
    live = live_experiment()
    trace, operations, copy = tmp_path / "trace", tmp_path / "operations", tmp_path / "db"
    with closing(engine):
        with closing(engine.open(live, live.space.default(), seed=1)) as recorded:
            with pytest.raises(UserError, match="is open in another process"):
                import_trace(trace, operations, preload_from=recorded.directory)
            shutil.copytree(recorded.directory, copy)
            recorded.start_trace(trace)
            recorded.advance_operations(3000)
            recorded.end_trace()
        summary = import_trace(trace, operations, preload_from=copy)
        (stored,) = summary.stored
        assert stored.keys == KEYS
        assert 0 < stored.untouched_keys < KEYS
        assert stored.mean_value_bytes == live.workload.value.low
        workload = trace_workload(summary, str(operations), "replayed", threads=4, preload_from=str(copy))
        assert workload.preload.keys == KEYS
        for scale in (1, 4):
            replayed = replace(live, workload=workload, scale=scale)
            with closing(engine.open(replayed, live.space.default(), seed=1)) as run:
                raw = run.advance_operations(summary.operations // scale // 2).raw
            assert raw["live_keys"] == pytest.approx(KEYS / scale, rel=0.25 if scale > 1 else 0)
            assert raw["operations"]["get"]["found"] == raw["operations"]["get"]["count"]


def test_a_recording_that_cannot_be_written_ends_the_run(engine: EmbeddedEngine, tmp_path: Path) -> None:
    live = live_experiment()
    with (
        closing(engine),
        closing(engine.open(live, live.space.default(), seed=1)) as run,
        pytest.raises(RunFailed, match="recording a trace failed"),
    ):
        run.start_trace(tmp_path / "no" / "trace")
