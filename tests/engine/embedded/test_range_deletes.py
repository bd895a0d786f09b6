"""Range deletes on the real worker."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.measurement import Measurement
from rocktune.space import space_document, space_from_document
from rocktune.trial import Experiment
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec, load_workload

_KEYS = 5_000


@pytest.fixture
def engine(tmp_path: Path, real_worker: tuple[str, ...]) -> Iterator[EmbeddedEngine]:
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as opened:
        yield opened


def _served(engine: EmbeddedEngine, workload: WorkloadSpec, operations: int) -> list[Measurement]:
    """Returns successive windows of a run that together have at least so many operations."""
    space = space_from_document(space_document("dremel"), 3000 * MIB, 5000.0)
    device = DeviceSpec(name="fast", bandwidth_bytes_s=100_000_000)
    experiment = Experiment(workload, device, 16, space, {}, None)
    windows: list[Measurement] = []
    with closing(engine.open(experiment, space.default(), seed=1)) as run:
        while sum(window.operations() for window in windows) < operations:
            assert len(windows) < 300, "the load stands still"
            windows.append(run.advance(0.2 * (len(windows) + 1)))
    return windows


def test_live_keys_and_found_keys_reach_an_equilibrium(engine: EmbeddedEngine) -> None:
    # Per key, puts come 0.3 times as often as the operations of the family, range deletes 0.2 times: three
    # fifths of the keys are live. After 30,000 operations little is left of the beginning.
    mix = {"get": 0.69, "put": 0.3, "delete_range": 0.01}
    families = [
        {"name": "users", "keys": _KEYS * 16, "share": 0.9, "mix": mix, "preload": {"keys": _KEYS * 16}},
        {"name": "other", "keys": 16, "share": 0.1, "mix": {"put": 1.0}},
    ]
    document = {"name": "w", "threads": 2, "value": {"low": 100}, "families": families, "sessions": [{}]}
    workload = WorkloadSpec.model_validate(document | {"delete_range_keys": {"low": 20}})
    windows = _served(engine, workload, 60_000)
    users = windows[-1].families["users"].raw
    assert 0.45 * _KEYS < users["live_keys"] < 0.75 * _KEYS
    ranges = sum(window.operations(["delete_range"]) for window in windows)
    assert ranges > 200
    gets = users["operations"]["get"]
    assert 0.4 < gets["found"] / gets["count"] < 0.8
    assert windows[-1].families["other"].operations(["delete_range"]) == 0


def test_expired_entries_go_and_scans_pass_what_is_left(engine: EmbeddedEngine) -> None:
    expiry = load_workload("expiry").model_copy(update={"keys": 80_000, "threads": 2})
    windows = _served(engine, expiry.with_all_keys(), 40_000)
    inserted = sum(window.operations(["insert"]) for window in windows)
    assert inserted > 20_000
    # As many entries go as come, but for the luck of some 360 range deletes of 100 entries.
    assert windows[-1].raw["live_keys"] < 5_000 + 0.4 * inserted
    assert all(window.figures["skipped_keys_per_scan"] >= 0 for window in windows)
