"""Other systems' configurations as the baseline, from the command line."""

import json
from pathlib import Path

import pytest

from rocktune.cli.main import main

CASES = Path(__file__).parents[1] / "importing" / "systems" / "cases"
Outputs = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("own_directories")


def run(*arguments: str) -> int:
    return main(["run", "--workload", "ycsb-a", "--scale", "1/512", "--seconds", "0.1s", *arguments])


def test_kvrocks_conf_is_measured_as_it_is(capsys: Outputs) -> None:
    assert run("--baseline", str(CASES / "kvrocks.conf"), "--json") == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["options"]["cf"]["write_buffer_size"] == str(64 << 20)
    assert measured["runs"][0]["status"] == "ok"
    assert "Read as a file of Kvrocks." in measured["own_options_notes"]
    assert measured["options_account"]["counts"]["translated"] > 5


def test_tikvs_families_share_one_cache(capsys: Outputs) -> None:
    assert run("--baseline", str(CASES / "tikv.toml")) == 2
    assert "it has 2 column families: 'default'" in capsys.readouterr().err
    assert run("--baseline", str(CASES / "tikv.toml"), "--column-family", "write") == 0
    printed = capsys.readouterr().out
    assert "Block cache of the baseline: 8GiB (LRU), as the OPTIONS file says." in printed
    assert "The file's column families share one block cache." in printed


def test_a_mistake_in_a_file_is_one_line(capsys: Outputs, tmp_path: Path) -> None:
    path = tmp_path / "kvrocks.conf"
    path.write_text((CASES / "kvrocks.conf").read_text().replace("size 64\n", "size 64MB\n"))
    assert run("--baseline", str(path)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "rocksdb.write_buffer_size: '64MB' not a number" in captured.err
