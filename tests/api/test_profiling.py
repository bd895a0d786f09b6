"""Profiles of real stores."""

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS

from rocktune import api
from rocktune.analysis.profile import Basis
from rocktune.device import DeviceSpec, MeasuredDisk, remember
from rocktune.engine.local.data_directory import DATA_VARIABLE
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError
from rocktune.workload import load_workload

FLAGS = (
    "--benchmarks=filluniquerandom,flush,readrandom,seekrandom --num=4000 --reads=2000 --seek_nexts=9 "
    "--key_size=24 --value_size=300 --compression_type=none --statistics --stats_dump_period_sec=1 "
    "--write_buffer_size=262144"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that db_bench wrote: 4,000 keys, then 2,000 lookups and 2,000 scans of ten entries."""
    if shutil.which("db_bench") is None:
        pytest.skip("db_bench is not here (Debian has it in rocksdb-tools)")
    directory = tmp_path_factory.mktemp("profiled") / "db"
    subprocess.run(["db_bench", f"--db={directory}", *FLAGS.split()], check=True, capture_output=True)
    return directory


@pytest.fixture(autouse=True)
def own_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, real_worker: tuple[str, ...]) -> None:
    """Lets the API find the real worker, and no other test's measured disks."""
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def contents(directory: Path) -> dict[str, tuple[str, int]]:
    """Returns digest and time of change of each file, and those of the directory."""
    found = {each.name: (hashlib.sha256(each.read_bytes()).hexdigest(), each.stat().st_mtime_ns)
             for each in directory.iterdir()}  # fmt: skip
    return found | {".": ("", directory.stat().st_mtime_ns)}


def test_the_store_is_read_and_stays_as_it_is(store: Path) -> None:
    before = contents(store)
    made = api.profile([store])
    assert contents(store) == before
    workload = made.profile.workload
    assert (workload.key_bytes, workload.value.low) == (24, 300)
    # Entries above the last level may be older versions, and a dump may have met any state of the levels.
    assert 0 < workload.keys <= 4_000
    assert made.files == ()
    assert made.options_file is not None
    assert made.options_file.parent == store


def test_a_read_only_store_can_be_profiled(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(store, copy)
    copy.chmod(0o555)
    try:
        assert api.profile([copy]).profile.workload.key_bytes == 24
    finally:
        copy.chmod(0o755)


def test_the_written_study_is_one_that_tune_takes(store: Path, tmp_path: Path) -> None:
    remember(MeasuredDisk(machine=platform.node(), directory=str(store.parent), date="2026-01-02",
                          device=DeviceSpec(name="mine", bandwidth_bytes_s=100_000_000)))  # fmt: skip
    made = api.profile([store], out=tmp_path / "mine.toml")
    assert [path.name for path in made.files] == ["mine.toml", "mine-workload.toml", "mine-device.toml"]
    assert load_workload(str(tmp_path / "mine-workload.toml")) == made.profile.workload
    text = made.files[0].read_text()
    assert "# measured: key size: 24 B" in text
    assert 'device = "mine-device.toml"' in text
    # The memtables of the store are smaller than any of the space, so that the study has a budget.
    assert 'memory = "' in text
    assert "block_cache" not in text.replace("block cache", "")
    assert [each.what for each in made.profile.findings][-1] == "memory of baseline and winner"
    estimate = api.estimate(made.files[0])
    assert any("baseline and winner have the same" in note for note in estimate["own_options_notes"])


def test_a_written_study_can_have_the_short_protocol(store: Path, tmp_path: Path) -> None:
    file = api.profile([store], out=tmp_path / "mine.toml").files[0]
    # The rate of a busier store, whose LOG has dumps of statistics.
    lines = [line for line in file.read_text().splitlines() if not line.startswith("rate = ")]
    file.write_text("\n".join([*lines, "rate = 500.5"]))
    notes = api.estimate(file, protocol="short")["own_options_notes"]
    assert notes[0] == (
        f"rate = 500.5 of {file} is left out: protocol 'short' has no phase at an offered rate."
    )
    assert "rate = " not in " ".join(api.estimate(file)["own_options_notes"])
    with pytest.raises(UserError, match="leave --rate out"):
        api.estimate(file, protocol="short", rate=100.0)


def test_a_log_alone_is_profiled() -> None:
    made = api.profile([GOLDENS[-1]])
    assert made.profile.workload.keys > 0
    document = api.profile_json(made)
    assert {each["basis"] for each in document["findings"]} >= {"measured", "assumed"}
    assert document["options_file"] is None


@pytest.fixture(scope="module")
def traced_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A database of 5,000 keys, and a trace of 8,000 operations of db_bench on it, 60% of them lookups."""
    if shutil.which("db_bench") is None:
        pytest.skip("db_bench is not here (Debian has it in rocksdb-tools)")
    directory = tmp_path_factory.mktemp("traced")
    store, trace = directory / "db", directory / "operations.trace"
    fixed = ["db_bench", f"--db={store}", "--num=5000", "--key_size=20", "--value_size=150", "--seed=7"]
    load = ["--benchmarks=filluniquerandom,flush", "--compression_type=none"]
    run = ["--benchmarks=readrandomwriterandom", "--use_existing_db", "--readwritepercent=60", "--reads=8000"]
    subprocess.run([*fixed, *load], check=True, capture_output=True)
    subprocess.run([*fixed, *run, f"--trace_file={trace}"], check=True, capture_output=True)
    return store, trace


@pytest.fixture
def own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keeps imported traces out of the user's data directory."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "rocktune"))


@pytest.mark.usefixtures("own_data")
def test_a_trace_alone_is_profiled(traced_store: tuple[Path, Path], tmp_path: Path) -> None:
    made = api.profile([traced_store[1]], out=tmp_path / "mine.toml")
    workload = load_workload(str(tmp_path / "mine-workload.toml"))
    assert workload == made.profile.workload
    mix = workload.mix_of(workload.sessions[0])
    assert (mix.get, mix.put) == pytest.approx((0.6, 0.4), abs=0.02)
    # The trace names most keys; the others follow from how often it names each.
    assert workload.keys == pytest.approx(5_000, rel=0.1)
    assert (workload.key_bytes, workload.value.low) == (20, 150)
    assert workload.key_chooser.skew == 0
    assert "block cache is unknown" in made.profile.left_out[0]
    assert api.estimate(tmp_path / "mine.toml", device="nvme")["own_options_notes"]


@pytest.mark.usefixtures("own_data")
def test_a_trace_and_its_database_are_profiled(traced_store: tuple[Path, Path]) -> None:
    store, trace = traced_store
    before = contents(store)
    made = api.profile([trace, store])
    assert contents(store) == before
    assert made.options_file is not None
    workload = made.profile.workload
    assert workload.value_compressed_fraction > 0.9
    assert workload.mix_of(workload.sessions[0]).get == pytest.approx(0.6, abs=0.02)
    assert {each.what: each.basis for each in made.profile.findings}["share of gets"] is Basis.MEASURED


@pytest.mark.usefixtures("own_data")
def test_files_that_are_neither_log_nor_trace_are_refused(
    traced_store: tuple[Path, Path], tmp_path: Path
) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.trace"
    text.write_text("nothing of interest\n" * 1000)
    with pytest.raises(UserError, match=r"notes\.txt says nothing as a LOG; as a trace: .* no trace that"):
        api.profile([text])
    shutil.copy(traced_store[1], other)
    with pytest.raises(UserError, match="name one trace at most"):
        api.profile([traced_store[1], other])


def test_no_file_is_overwritten(store: Path, tmp_path: Path) -> None:
    (tmp_path / "s-workload.toml").write_text("mine")
    with pytest.raises(UserError, match=r"s-workload\.toml exists"):
        api.profile([store], out=tmp_path / "s.toml")
    assert not (tmp_path / "s.toml").exists()


def test_the_newest_options_file_is_that_of_the_highest_number(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(store, copy)
    (old,) = copy.glob("OPTIONS-*")
    for number in ("000099", "000100"):
        shutil.copy(old, copy / f"OPTIONS-{number}")
    (copy / "OPTIONS-000200.dbtmp").write_text("half")
    assert api.profile([copy]).options_file == copy / "OPTIONS-000100"


def test_wrong_sources_are_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        api.profile([tmp_path / "missing"])
    other = tmp_path / "other"
    shutil.copytree(store, other)
    with pytest.raises(UserError, match="two databases"):
        api.profile([store, other])
    with pytest.raises(UserError, match=r"LOG"):
        api.profile([tmp_path])


def test_a_source_may_be_named_twice(store: Path) -> None:
    again = store.parent / "." / store.name
    assert api.profile([store, again, store / "LOG"]).profile == api.profile([store]).profile
