"""Single runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.engines import Engines

from rocktune import api
from rocktune.api import options
from rocktune.engine import CommandSpec, DbBenchSpec
from rocktune.errors import UserError
from rocktune.trial import Status


def test_running_measures_the_default_afresh_each_time(engines: Engines, tmp_path: Path) -> None:
    measured = api.run(workload="dremel-write-heavy", scale="1/64", repeat=3)
    (engine,) = engines.opened
    assert len(engine.opened) == len({seed for _, seed in engine.opened}) == 3
    assert engine.advanced_s == pytest.approx(3 * 120 / 64)
    assert [run["status"] for run in measured["runs"]] == ["ok"] * 3
    assert measured["runs"][0]["figures"]["throughput_ops_s"] > 0
    assert measured["configuration"]["write_buffer_size"] == 64 << 20
    assert list(tmp_path.iterdir()) == []
    again = api.run(workload="dremel-write-heavy", scale="1/64", repeat=3)
    assert json.dumps(again) == json.dumps(measured)


def test_single_options_are_knobs_or_catalogued(engines: Engines) -> None:
    options = {"write_buffer_size": "48MiB", "max_subcompactions": "2"}
    measured = api.run(workload="ycsb-a", seconds="2s", options=options)
    assert measured["configuration"]["write_buffer_size"] == 48 << 20
    assert measured["options"]["db"]["max_subcompactions"] == "2"
    over_file = api.run(workload="ycsb-a", seconds=2, options=options, options_file="OPTIONS")
    assert over_file["configuration"] == {}
    assert over_file["options"]["db"] == {"max_background_jobs": "3", "max_subcompactions": "2"}
    assert over_file["options"]["cf"] == {"write_buffer_size": str(48 << 20)}


def test_an_option_over_a_file_is_not_said_to_be_the_files(engines: Engines) -> None:
    plain = api.run(workload="ycsb-a", seconds=2, options_file="OPTIONS", block_cache="1GiB")
    options = {"block_cache": "64MiB"}
    changed = api.run(
        workload="ycsb-a", seconds=2, options=options, options_file="OPTIONS", block_cache="1GiB"
    )
    assert changed["options"]["table"]["block_cache"] == str(64 << 20)
    assert changed["own_options_notes"] == [
        *plain["own_options_notes"],
        "Changed from the OPTIONS file, as you asked: block_cache=64MiB.",
    ]
    assert plain["own_options_notes"][0].startswith("Block cache of the baseline: 1GiB (LRU)")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workload": None}, "workload: missing"),
        ({"scale": "64"}, "scale: '64' is not a scale"),
        ({"seconds": "0"}, "seconds: '0' is not a duration"),
        ({"repeat": 0}, "repeat: 0 must be at least 1"),
        ({"seed": -1}, "seed"),
        ({"until": "stead"}, "unknown until 'stead': did you mean 'steady'"),
        ({"until": "steady", "seconds": "3s"}, "until: 'steady' and --seconds exclude each other"),
        (
            {"until": "steady", "engine": "db_bench", "workload": "fillrandom"},
            "until: engine 'db_bench' does not show its levels",
        ),
        ({"engine": "dbbench"}, "unknown engine 'dbbench': did you mean 'db_bench'"),
        ({"engine": "command"}, "command: missing"),
        ({"engine": "db_bench", "workload": "ycsb-e"}, "db_bench"),
        ({"options": {"write_buffer_size": "1TiB"}}, "write_buffer_size: 1TiB is outside 16MiB to 128MiB"),
        ({"options": {"write_buffer_size": "0x10"}}, "write_buffer_size: '0x10' is not a size"),
        ({"options": {"block_cache": "8MiB"}}, "block_cache: the memory budget sets it to"),
        ({"options": {"min_write_buffer_number_to_merge": "4", "max_write_buffer_number": "4"}}, "4"),
    ],
)
def test_a_bad_run_is_one_line(engines: Engines, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        api.run(**{"workload": "ycsb-a", **given})
    assert "\n" not in str(error.value)
    assert engines.opened == []


def test_an_unknown_option_suggests_the_nearest(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_all_sections", lambda: {"ttl": "cf", "paranoid_checks": "db"})
    with pytest.raises(
        UserError, match="unknown option 'write_bufer_size': did you mean 'write_buffer_size'"
    ):
        api.run(workload="ycsb-a", options={"write_bufer_size": "1"})
    measured = api.run(workload="ycsb-a", seconds=1, options={"ttl": "9"})
    assert measured["options"]["cf"]["ttl"] == "9"


def test_a_failed_run_is_a_status(engines: Engines) -> None:
    engines.fault = lambda _configuration, _seed, until_s: Status.OUT_OF_DISK if until_s > 0 else None
    (failed,) = api.run(workload="ycsb-a", seconds=1)["runs"]
    message = "made to fail as out_of_disk"
    assert failed == {
        "status": "out_of_disk",
        "message": message,
        "figures": {},
        "families": {},
        "output": "",
    }


def test_a_run_is_followed_until_it_is_steady(engines: Engines) -> None:
    followed = api.run(workload="ycsb-a", scale="1/64", until="steady")
    (engine,) = engines.opened
    (run,) = followed["runs"]
    # Without writes to turn over, two windows of five steps of 20 s are enough.
    assert run["steady"] == {
        "is_steady": True,
        "load_s": pytest.approx(200 / 64),
        "window_s": pytest.approx(200 / 64),
        "changes": "",
    }
    assert followed["seconds"] == 4 * 3600 / 64
    assert engine.advanced_s == pytest.approx(200 / 64)
    assert run["figures"]["throughput_ops_s"] > 0


def test_a_run_takes_engine_and_file_as_a_study_does(engines: Engines, tmp_path: Path) -> None:
    program = Path("/opt/db_bench")
    measured = api.run(workload="fillrandom", engine="db_bench", db_bench=program, scale="1/32")
    assert engines.specs.pop() == DbBenchSpec(program="/opt/db_bench")
    assert measured["seconds"] == 6.0  # 120 s over 32, such that 20 s over it is a whole second
    study = tmp_path / "study.toml"
    study.write_text(
        'workload = "ycsb-a"\nengine = "command"\n[command]\nrun = ["./bench", "{options_file}"]\n'
        "run_seconds = 7.5\n"
    )
    measured = api.run(study, seed=5)
    assert engines.specs.pop() == CommandSpec(
        run=(str(tmp_path / "bench"), "{options_file}"), run_seconds=7.5
    )
    assert (measured["scale"], measured["seconds"], measured["seed"]) == ("1", 7.5, 5)


def test_a_knob_of_a_conditional_space_takes_its_dependants_along(engines: Engines, tmp_path: Path) -> None:
    space = tmp_path / "mine.toml"
    space.write_text(
        "[knobs.max_subcompactions]\nchoices = [1, 2]\nwhen = { block_size = [4096, 8192] }\n"
        '[knobs.enable_pipelined_write]\nunless = { block_size = "4KiB" }\n'
    )
    given: dict[str, Any] = {"workload": "ycsb-a", "seconds": 2, "space": str(space)}
    default = api.run(**given)["configuration"]
    assert "max_subcompactions" in default
    assert "enable_pipelined_write" not in default
    larger = api.run(**given, options={"block_size": "16KiB"})["configuration"]
    assert "max_subcompactions" not in larger
    assert larger["enable_pipelined_write"] is False
    with pytest.raises(
        UserError, match=r"^max_subcompactions: has an effect only if block_size is 4096 or 8192"
    ):
        api.run(**given, options={"block_size": "16KiB", "max_subcompactions": "2"})
