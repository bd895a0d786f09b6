"""Workloads written as TOML."""

from pathlib import Path

import pytest

from rocktune.workload import WorkloadSpec, load_workload, workload_file_text, workload_names
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import FamilySpec, MixSpec
from rocktune.workload.sessions import SessionSpec


def read_back(workload: WorkloadSpec, folder: Path) -> WorkloadSpec:
    path = folder / "w.toml"
    path.write_text(workload_file_text(workload))
    return load_workload(str(path))


@pytest.mark.parametrize("name", sorted(workload_names()))
def test_each_preset_is_read_back(name: str, tmp_path: Path) -> None:
    assert read_back(load_workload(name), tmp_path) == load_workload(name)


def test_families_and_own_sizes_are_read_back(tmp_path: Path) -> None:
    workload = WorkloadSpec(
        name='a "b"',
        keys=7,
        families=(
            FamilySpec(name="x", keys=3, mix=MixSpec(get=1), value=SizeSpec(low=5)),
            FamilySpec(name="y", keys=4, mix=MixSpec(put=1), key_bytes=9),
        ),
        sessions=(SessionSpec(seconds=5, scan_length=SizeSpec(low=3)), SessionSpec()),
    )
    assert read_back(workload, tmp_path) == workload


def test_fixed_sizes_are_numbers_and_one_session_is_none() -> None:
    text = workload_file_text(load_workload("ycsb-a"))
    assert "value = 1000\n" in text
    assert "sessions" not in text
