"""The commands for traces, with the real worker and a trace in CSV."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocktune import api
from rocktune.cli.main import main
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.study import Observer

HOLDER = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print(flush=True)
    sys.stdin.read()
"""
"""A program that holds the lock of a database, as a process with the open database does."""


@pytest.fixture
def trace(real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A trace of 4,000 operations on 200 keys within 40 ms; one in four is a put."""
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    lines = (
        f"{10 * number},{'put' if number % 4 == 0 else 'get'},secret{number * 7 % 200:03d},100"
        for number in range(4000)
    )
    path = tmp_path / "t.csv"
    path.write_text("time_us,operation,key,value_bytes\n" + "\n".join(lines) + "\n")
    return path


def test_what_a_trace_holds(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "info", str(trace)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("4,000 operations in 40 ms")
    assert "Unknown: Keys of the store that no operation names" in printed
    assert main(["trace", "info", str(trace), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["operations"] == 4000
    counted = document["families"][0]["operations"]
    assert {kind: count for kind, count in counted.items() if count} == {"get": 3000, "put": 1000}


def test_an_imported_workload_holds_no_key_and_replays(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.toml"
    assert main(["trace", "import", str(trace), "--out", str(out), "--threads", "2"]) == 0
    assert f"Workload file: {out}" in capsys.readouterr().out
    for file in (out, out.with_suffix(".operations")):
        assert b"secret" not in file.read_bytes()
    (run,) = api.run(workload=str(out), scale="1", seconds="200ms")["runs"]
    assert run["status"] == "ok"
    assert main(["trace", "import", str(trace), "--out", str(out)]) == 2
    assert "w.toml exists; remove it" in capsys.readouterr().err


def test_a_trace_takes_the_place_of_a_workload(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--trace", str(trace), "--scale", "1", "--seconds", "200ms"]
    assert main(arguments) == 0
    assert "Replays a trace of 4,000 operations in 40 ms" in capsys.readouterr().out
    assert main([*arguments, "--workload", "ycsb-a"]) == 2
    assert "workload and trace: only one of them can be replayed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "close"], "unknown rate 'close': did you mean 'closed'"),
        (["--threads", "0"], "threads: 0 must be a number from 1 to 1,024"),
    ],
)
def test_a_bad_import_is_one_line(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["trace", "import", str(trace), "--out", str(tmp_path / "w.toml"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "w.toml").exists()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the trace's 200 keys, 100 others between them, and values of 300 bytes."""
    if (ldb := shutil.which("ldb")) is None:
        pytest.skip("ldb is not installed")
    keys = [f"secret{number:03d}" for number in range(200)] + [
        f"secret{number:03d}x" for number in range(100)
    ]
    pairs = [text for key in keys for text in (key, "v" * 300)]
    directory = tmp_path / "db"
    subprocess.run([ldb, f"--db={directory}", "--create_if_missing", "batchput", *pairs], check=True)
    return directory


def state_of(directory: Path) -> dict[str, tuple[int, int]]:
    """Returns size and time of each file."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in directory.iterdir()}


def test_a_store_begins_with_the_databases_keys(
    trace: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state_of(database)
    preloaded = ["--trace", str(trace), "--preload-from", str(database)]
    assert main(["run", *preloaded, "--scale", "1", "--seconds", "200ms"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Its store begins with the 300 keys (90.53KiB) of " in said
    assert "; the trace does not touch 100 of these." in said
    assert state_of(database) == before, "the database is only read"
    assert main(["trace", "info", str(trace), "--preload-from", str(database), "--json"]) == 0
    (family,) = json.loads(capsys.readouterr().out)["families"]
    assert family["stored"] == {
        "keys": 300,
        "untouched_keys": 100,
        "mean_key_bytes": 9,
        "value_bytes": 90_000,
    }
    assert main(["run", *preloaded[2:], "--workload", "ycsb-a"]) == 2
    assert "preload_from: names the database of a trace; give --trace too" in capsys.readouterr().err


def test_a_pipe_of_a_shell_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    try:
        assert main(["trace", "info", f"/dev/fd/{read}"]) == 2
    finally:
        os.close(read)
        os.close(write)
    assert "is not a file; name a file that holds a trace" in capsys.readouterr().err


def test_a_database_that_cannot_be_read_is_one_line(
    trace: Path, database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    info = ["trace", "info", str(trace), "--preload-from"]
    assert main([*info, str(tmp_path / "missing")]) == 2
    assert "missing is no directory; give that of a RocksDB database" in capsys.readouterr().err
    assert main([*info, str(tmp_path)]) == 2
    assert "holds no RocksDB database: it has no file CURRENT" in capsys.readouterr().err
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(database / "LOCK")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert main([*info, str(database)]) == 2
    said = capsys.readouterr().err
    holder.communicate()
    assert f"preload_from: {database} is open in another process" in said
    assert "make a checkpoint" in said


def test_no_file_of_operations_is_replaced(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A trace may have the very name.
    source = trace.rename(tmp_path / "w.operations")
    before = source.read_bytes()
    assert main(["trace", "import", str(source), "--out", str(tmp_path / "w.toml")]) == 2
    assert "w.operations exists, and the operations go there; name another file" in capsys.readouterr().err
    assert source.read_bytes() == before


def test_an_interrupted_import_leaves_no_files(trace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "w.operations.keys").write_text("a file of the user's")

    class Stop(Observer):
        def phase_started(self, phase: str, seconds: float | None) -> None:
            super().phase_started(phase, seconds)

        def progress(self, phase: str, done: float, whole: float) -> None:
            # The scratch files are there as soon as the worker reports.
            assert len(list(folder.iterdir())) > 1
            raise KeyboardInterrupt

    lines = "".join(f"{number},put,key{number:07d},9\n" for number in range(1_500_000))
    trace.write_text("time_us,operation,key,value_bytes\n" + lines)
    with pytest.raises(KeyboardInterrupt):
        api.write_trace_workload(trace, folder / "w.toml", observer=Stop())
    assert [path.name for path in folder.iterdir()] == ["w.operations.keys"]
