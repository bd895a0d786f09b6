"""Range deletes in the mix of a workload."""

from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import load_workload
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.file_text import workload_file_text
from rocktune.workload.loads import MixSpec
from rocktune.workload.neighbours import shifted_mix
from rocktune.workload.spec import WorkloadSpec

_RANGES = {"mix": {"put": 0.9, "delete_range": 0.1}}


def _workload(**fields: Any) -> WorkloadSpec:
    document = {"name": "w", "keys": 10_000, "sessions": [_RANGES]} | fields
    return validated(WorkloadSpec, document, "w.toml")


def test_the_width_must_be_given_and_above_0() -> None:
    with pytest.raises(UserError, match=r"^w.toml: delete_range_keys: missing; write the number of keys"):
        _workload()
    with pytest.raises(UserError, match=r"^w.toml: delete_range_keys: low: 0 is not above 0"):
        _workload(delete_range_keys={"kind": "uniform", "high": 9})
    assert _workload(delete_range_keys={"low": 1}).delete_range_keys == SizeSpec(low=1)


def test_the_most_specific_width_counts() -> None:
    families = [
        {"name": "default", "keys": 50},
        {"name": "wide", "keys": 50, "delete_range_keys": {"low": 30}},
        {"name": "late", "keys": 50},
    ]
    sessions = [
        _RANGES
        | {"delete_range_keys": {"low": 20}, "families": [{"name": "late", "delete_range_keys": {"low": 40}}]}
    ]
    document = {"name": "w", "families": families, "sessions": sessions, "delete_range_keys": {"low": 10}}
    spec = validated(WorkloadSpec, document, "w.toml")
    widths = [load.delete_range_keys for load in spec.loads(spec.sessions[0])]
    assert widths == [SizeSpec(low=low) for low in (20, 30, 40)]


def test_a_file_states_a_fixed_width_as_a_number(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text("keys = 100\ndelete_range_keys = 7\nmix = {put = 0.5, delete_range = 0.5}\n")
    workload = load_workload(str(path))
    assert workload.delete_range_keys == SizeSpec(low=7)
    text = workload_file_text(workload)
    assert "delete_range_keys = 7" in text
    path.write_text(text)
    assert load_workload(str(path)) == workload


def test_documents_without_range_deletes_are_as_in_older_releases() -> None:
    document = load_workload("queue").model_dump(mode="json")
    assert "delete_range_keys" not in document
    assert "delete_range" not in document["sessions"][0]["mix"]
    written = _workload(delete_range_keys={"low": 5}).model_dump(mode="json")
    assert written["sessions"][0]["mix"]["delete_range"] == 0.1
    assert WorkloadSpec.model_validate(written).delete_range_keys == SizeSpec(low=5)


def test_the_width_does_not_depend_on_the_scale() -> None:
    model = _workload(delete_range_keys={"low": 500}).scaled(512)
    assert (model.keys, model.delete_range_keys) == (19, SizeSpec(low=500))


def test_range_deletes_are_writes_of_neighbours() -> None:
    mix = MixSpec(get=0.5, put=0.4, delete_range=0.1)
    more = shifted_mix(mix, 0.1)
    assert (more.put, more.delete_range) == pytest.approx((0.44, 0.11))
