"""The commands for traces, with the real worker and a trace in CSV."""

import json
from pathlib import Path

import pytest

from rocktune import api
from rocktune.cli.main import main
from rocktune.engine.worker import WORKER_VARIABLE


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
