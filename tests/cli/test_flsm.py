import json
import random
import re
from pathlib import Path

import pytest

from rocktune import FlsmStore
from rocktune.cli.main import main

Outputs = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))


def test_a_simulation_is_a_table_or_json(capsys: Outputs) -> None:
    line = [
        "flsm",
        "simulate",
        "1TiB",
        "--policies",
        "4,2,1",
        "--then",
        "aggressive",
        "--transition",
        "greedy",
    ]
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert "write amplification" in shown
    assert "The change of policies wrote" in shown
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["user_bytes"] >= 1 << 40
    assert found["write_amplification"] > 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("simulate 1TiB --policies lazi", "did you mean 'lazy'"),
        ("simulate 1TiB --policies lazy --then lazy-leveling", "give K of each level"),
        ("simulate 1XB", "1XB"),
        ("shape nowhere", "is not an FLSM store"),
        ("map --device sata --lookups 10,many", "--lookups: '10,many' must be numbers"),
        ("map --device sata --shapes 1,universl", "did you mean 'universal'"),
        ("map --device sata --filters monky", "did you mean 'monkey'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys: Outputs, line: str, message: str) -> None:
    assert main(["flsm", *line.split()]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said


def test_a_store_shows_its_shape(tmp_path: Path, capsys: Outputs) -> None:
    drawn = random.Random(1)
    with FlsmStore(tmp_path / "store", options={"cf": {"write_buffer_size": "65536"}}) as store:
        for _ in range(200):
            store.put(drawn.randbytes(8), drawn.randbytes(1000))
        store.flush()
        store.settle()
    assert main(["flsm", "shape", str(tmp_path / "store")]) == 0
    # How many runs there are depends on how far merges came before the last flush.
    assert re.search(r"[1-3] sorted runs, each level 10 times the one above", capsys.readouterr().out)


def test_a_map_is_a_table_and_a_page(tmp_path: Path, capsys: Outputs) -> None:
    workload = tmp_path / "small.toml"
    workload.write_text(
        "keys = 2000\nkey_bytes = 16\nvalue = 100\nmix = {get = 1.0}\npreload = {keys = 2000}\n"
    )
    line = f"map --device sata --workload {workload} --scale 1 --shapes 1,leveled --lookups 0,50"
    line += f" --warm 100ms --measure 100ms --option write_buffer_size=65536 --out {tmp_path / 'out'}"
    assert main(["flsm", *line.split()]) == 0
    shown = capsys.readouterr().out
    assert "of the best" in shown
    assert "100%" in shown
    assert (tmp_path / "out" / "map.html").is_file()
