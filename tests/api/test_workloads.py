"""Writing workload files through the API."""

import resource
from pathlib import Path

import pytest
from tests.importing.workloads.test_ycsb import CORE

from rocktune import api
from rocktune.errors import UserError
from rocktune.workload import load_workload


def test_the_written_file_is_the_workload(tmp_path: Path) -> None:
    written = api.workload_from_ycsb(CORE, properties=["recordcount=5000"], out=tmp_path / "mine.toml")
    found = load_workload(str(written.file))
    assert found == written.imported.workload.model_copy(update={"name": "mine"})


def test_the_file_tells_what_it_lacks(tmp_path: Path) -> None:
    command = "db_bench --benchmarks=overwrite --num_multi_db=3 --wal_dir='/a\n[x]'"
    written = api.workload_from_db_bench(command, out=tmp_path / "w.toml")
    text = written.file.read_text()
    assert "# left out: num_multi_db=3: workloads have nothing like it\n" in text
    assert "\n[x]" not in text
    document = api.workload_json(written)
    assert document["entries"][1] == {
        "name": "num_multi_db",
        "given": "3",
        "use": "left out",
        "becomes": "",
        "why": "workloads have nothing like it",
    }


def test_the_default_name_is_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert api.workload_from_ycsb(CORE).file == Path("core-workload.toml")
    assert api.workload_from_db_bench("--benchmarks=fillrandom").file == Path("fillrandom.toml")


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text("mine")
    with pytest.raises(UserError, match="exists"):
        api.workload_from_ycsb(CORE, out=path)
    assert path.read_text() == "mine"


def test_a_name_that_is_no_toml_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="so that --workload takes it for a file"):
        api.workload_from_ycsb(CORE, out=tmp_path / "w.txt")


def test_a_file_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(UserError, match=r"w\.toml cannot be written: File too large"):
            api.workload_from_db_bench("--benchmarks=fillrandom", out=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not path.exists()
