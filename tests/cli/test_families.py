"""Workloads on several column families from the command line, on the real worker."""

import json
import shutil
from pathlib import Path

import pytest

from rocktune.cli.main import main

WORKLOAD = """
threads = 2
value = 200
[[families]]
name = "default"
keys = 200000
mix = { get = 0.5, put = 0.5 }
preload = { keys = 100000 }
[[families]]
name = "events"
keys = 100000
mix = { insert = 1.0 }
"""
OPTIONS = """
[DBOptions]
max_background_jobs=4
[CFOptions "default"]
write_buffer_size=32M
[CFOptions "events"]
compression=kNoCompression
[TableOptions/BlockBasedTable "events"]
block_size=8192
[CFOptions "idle"]
merge_operator=acme.Merge
"""
Outputs = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(own_directories: None) -> None:
    Path("two.toml").write_text(WORKLOAD)
    Path("OPTIONS").write_text(OPTIONS)


def called(command: str, *arguments: str) -> int:
    return main([command, "--workload", "./two.toml", "--scale", "1/64", *arguments])


def test_a_run_measures_each_family(capsys: Outputs) -> None:
    assert called("run", "--options-file", "OPTIONS", "--seconds", "0.3s", "--json") == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["options"]["cf:events"]["compression"] == "kNoCompression"
    assert measured["options"]["cf:default"]["write_buffer_size"] == str(32 << 20)
    (run,) = measured["runs"]
    assert run["status"] == "ok"
    assert set(run["families"]) == {"default", "events"}
    assert run["families"]["events"]["throughput_ops_s"] > 0
    fates = {entry["name"]: entry["fate"] for entry in measured["options_account"]["entries"]}
    assert fates["compression"] == fates["block_size"] == "used"
    assert fates["merge_operator"] == "not measured"
    assert called("run", "--seconds", "0.2s") == 0
    assert "column family events" in capsys.readouterr().out


def test_an_option_is_set_for_one_family_or_for_all(capsys: Outputs) -> None:
    asked = ("--option", "events.write_buffer_size=48MiB", "--option", "ttl=77", "--option", "events.ttl=88")
    for own in ((), ("--options-file", "OPTIONS")):
        assert called("run", *asked, *own, "--seconds", "0.1s", "--json") == 0
        options = json.loads(capsys.readouterr().out)["options"]
        assert options["cf:events"]["write_buffer_size"] == str(48 << 20)
        assert options["cf:default"]["write_buffer_size"] == str((32 if own else 50) << 20)
        assert (options["cf:default"]["ttl"], options["cf:events"]["ttl"]) == ("77", "88")
    assert called("run", "--option", "event.ttl=1") == 2
    assert "unknown option 'event.ttl'" in capsys.readouterr().err


def test_a_study_tunes_one_family_or_all_together(capsys: Outputs) -> None:
    asked = ("--options-file", "OPTIONS", "--dry-run")
    assert called("tune", *asked) == 2
    assert "choose the one to tune with --column-family NAME" in capsys.readouterr().err
    assert called("tune", *asked, "--column-family", "events") == 0
    printed = capsys.readouterr().out
    assert "Loaded are column families default, events; tuned is 'events'." in printed
    assert "The file's other column families are not loaded: idle." in printed
    assert called("tune", *asked, "--all-families", "--tuner", "tpe") == 0
    assert "all are tuned together" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column-family", "event"], "unknown column family 'event': did you mean 'events'?"),
        (["--column-family", "events", "--all-families"], "exclude each other"),
        (
            ["--all-families", "--tuner", "dremel"],
            "tuner 'dremel': its features fuse the options of one column family",
        ),
        (["--all-families", "--engine", "db_bench"], "only engine 'embedded' loads several column families"),
        (["--all-families", "--space", "flsm"], "cannot be tuned for several column families together"),
    ],
)
def test_what_does_not_go_is_one_line(capsys: Outputs, arguments: list[str], message: str) -> None:
    assert called("tune", "--dry-run", *arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_a_family_that_the_file_lacks_is_named(capsys: Outputs) -> None:
    Path("OPTIONS").write_text(OPTIONS.replace('"events"', '"others"'))
    assert called("run", "--options-file", "OPTIONS") == 2
    assert "it has no column family 'events'" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("db_bench") is None, reason="db_bench is not installed (rocksdb-tools)")
def test_engines_of_one_family_get_the_tuned_ones_options(capsys: Outputs) -> None:
    asked = ("--options-file", "OPTIONS", "--column-family", "events", "--seconds", "1s", "--json")
    assert main(["run", "--engine", "db_bench", "--workload", "fillrandom", "--scale", "1/512", *asked]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["runs"][0]["status"] == "ok"  # the other families name a class that db_bench lacks
    program = Path("program.sh")
    program.write_text('#!/bin/sh\ncp "$1" seen\necho \'{"throughput_ops_s": 5}\'\n')
    program.chmod(0o755)
    Path("own.toml").write_text(
        'engine = "command"\nworkload = "ycsb-a"\n[command]\n'
        f'run = ["{program.absolute()}", "{{options_file}}", "{{data_directory}}", "{{seconds}}"]\n'
    )
    assert main(["run", "own.toml", *asked]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["runs"][0]["status"] == "ok"


def test_other_commands_say_that_they_load_one_family(capsys: Outputs) -> None:
    for command in ("govern", "flsm map"):
        assert main([*command.split(), "--workload", "./two.toml", "--device", "ssd-100mb"]) == 2
        assert f"'{command}' loads one column family" in capsys.readouterr().err


def test_a_whole_study_of_all_families_exports_each(capsys: Outputs) -> None:
    budget = ("--budget", "2s", "--tuner", "random", "--device", "ssd-100mb", "--scale", "1/512")
    Path("study.toml").write_text(
        "[verification]\npairs = 6\nablation_pairs = 0\nprune_attempts = 0\nfinalists = 1\n"
        "age_s = 60.0\npick_runs = 1\n"
    )
    arguments = ["--workload", "./two.toml", "--options-file", "OPTIONS", "--all-families", *budget]
    arguments += ["--protocol", "short"]
    assert main(["tune", "study.toml", *arguments, "--study", "s", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["best"] is None or "events.write_buffer_size" in outcome["best"]["configuration"]
    assert outcome["baseline"]["memory"]["memtable_bytes"] == (2 * 32 + 2 * 64) << 20
    text = Path(outcome["options_file"]).read_text()
    for name in ("default", "events", "idle"):
        assert f'[CFOptions "{name}"]' in text
    assert "merge_operator=acme.Merge" in text
    assert text.index('[CFOptions "default"]') < text.index('[CFOptions "events"]')
    assert "all column families share it" in text
    report = Path(outcome["report"]).read_text()
    assert "Column family events" in report
    assert "--all-families" in outcome["command"]
    assert main(["resume", "s", "--json"]) == 0
