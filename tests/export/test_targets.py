import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.export.samples import STUDY, TUNED, changed, exported, sections
from tests.report import sample

from rocktune.cli.main import main
from rocktune.errors import UserError
from rocktune.export import export_study, export_targets
from rocktune.export.db_bench import db_bench_script
from rocktune.workload import WorkloadSpec, load_workload, workload_names


def flags(script: str, command: int = -1) -> dict[str, str]:
    """Returns the flags of one of a script's db_bench commands."""
    commands = [line for line in script.replace("\\\n", " ").splitlines() if line.startswith("db_bench")]
    given = shlex.split(commands[command])[1:]
    return dict(flag.removeprefix("--").split("=", 1) for flag in given)


def test_options_file_holds_exactly_the_full_size_options() -> None:
    best = sample.document()["best"]
    read = sections(export_study("options-file", STUDY, sample.outcome()))
    assert read["[Version]"]["rocksdb_version"] == "7.8.3"
    assert read["[DBOptions]"] == best["options"]["db"]
    assert read['[CFOptions "default"]'] == best["options"]["cf"]
    assert read['[TableOptions/BlockBasedTable "default"]'] == best["options"]["table"]
    assert read['[CFOptions "default"]']["write_buffer_size"] == str(128 << 20)


@pytest.mark.parametrize("target", sorted(export_targets()))
def test_header_states_study_ratio_interval_scale_and_version(target: str) -> None:
    comments = [
        line
        for line in export_study(target, STUDY, sample.outcome()).splitlines()
        if line.startswith(("#", "//"))
    ]
    head = "\n".join(comments)
    for fact in ("orders-write-heavy", "1.571", "1.532 to 1.611", "1/64 model", "RocksDB 7.8.3", "full size"):
        assert fact in head, fact


@pytest.mark.parametrize("target", sorted(export_targets()))
def test_what_is_rocktunes_own_is_told_since_no_target_can_hold_it(target: str) -> None:
    best = sample.document()["best"]
    best["options"]["governor"] = {"mode": "toggle", "debt_runs": "70"}
    best["options"]["flsm"] = {"policy_1": "4"}
    text = export_study(target, STUDY, sample.outcome(best=best))
    for what, settings in (
        ("compaction governor", "mode=toggle, debt_runs=70"),
        ("FLSM store", "policy_1=4"),
    ):
        (line,) = [line for line in text.splitlines() if what in line]
        assert line.startswith(("#", "//"))
        assert settings in line


def test_unproven_gain_exports_the_baseline_and_says_so() -> None:
    text = export_study("options-file", STUDY, sample.undecided_outcome())
    assert "the baseline, because no gain over it was proven" in text
    (line,) = [line for line in text.splitlines() if "Tuned against baseline" in line]
    assert "a ratio of" in line
    assert "not proven better at full size" in line
    assert "times better" not in line
    assert sections(text)['[CFOptions "default"]']["write_buffer_size"] == str(64 << 20)


@pytest.mark.parametrize("target", sorted(export_targets()))
@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\x0b", "\x85"])
def test_study_name_cannot_leave_its_comment(target: str, end: str) -> None:
    hostile = replace(STUDY, name=f"x{end}evil=1 */ evil(); \\u000aevil \\")
    text = export_study(target, hostile, sample.outcome())
    assert "evil" in text
    for line in text.splitlines():
        if "evil" in line:
            assert line.startswith(("#", "//"))
            assert "\\" not in line


@pytest.mark.parametrize("target", sorted(set(export_targets()) - {"cpp", "db_bench", "options-file"}))
def test_option_text_cannot_leave_its_comment(target: str) -> None:
    text = exported(target, changed("cf", merge_operator='x\nevil=1 "; */ evil() \\'))
    assert all(line.startswith(("#", "//")) for line in text.splitlines() if "evil" in line)


def test_settings_of_the_block_cache_are_kept_or_said() -> None:
    cache = changed("table", block_cache="capacity=1048576;num_shard_bits=2")
    for target in ("options-file", "db_bench"):
        assert "  block_cache=capacity=1048576;num_shard_bits=2\n" in exported(target, cache)
    for target in ("cpp", "java", "flink"):
        text = exported(target, cache)
        assert "The block cache was measured with num_shard_bits=2" in text
        assert "capacity=" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind=hyper_clock;capacity=67108864", "kind=hyper_clock"),
        ("kind=hyper_clock;capacity=67108864;num_shard_bits=2", "kind=hyper_clock, num_shard_bits=2"),
    ],
)
def test_a_cache_of_another_kind_keeps_its_capacity(text: str, said: str) -> None:
    def settings(target: str, cache: str) -> list[str]:
        lines = exported(target, changed("table", block_cache=cache)).splitlines()
        return [line for line in lines if not line.startswith(("#", "//"))]

    for target in sorted(set(export_targets()) - {"db_bench", "options-file"}):
        assert settings(target, text) == settings(target, "67108864")
        exported_text = exported(target, changed("table", block_cache=text))
        assert f"The block cache was measured with {said}" in exported_text
        assert "hyper_clock;" not in exported_text


@pytest.mark.parametrize("target", ["cpp", "db_bench", "options-file"])
def test_option_text_that_a_format_cannot_hold_is_refused(target: str) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        exported(target, changed("cf", merge_operator="x\nevil"))


@pytest.mark.parametrize("target", sorted(set(export_targets()) - {"cpp", "db_bench", "options-file"}))
@pytest.mark.parametrize("name", ["write_buffer_size", "block_size", "max_open_files"])
def test_value_that_is_no_number_never_becomes_a_setting(target: str, name: str) -> None:
    section = next(section for section in TUNED if name in TUNED[section])
    try:
        text = exported(target, changed(section, **{name: "1; evil"}))
    except UserError:
        return
    assert all(line.startswith(("#", "//")) for line in text.splitlines() if "evil" in line)


@pytest.mark.parametrize("target", sorted(set(export_targets()) - {"cpp", "db_bench", "options-file"}))
def test_every_option_is_set_or_listed(target: str) -> None:
    named = changed("cf", a_new_option="17")
    assert "a_new_option=17: no such setting" in exported(target, named)


@pytest.mark.parametrize(
    ("engine", "version"),
    [
        ("RocksDB 11.8.1", "11.8.1"),
        ("db_bench, RocksDB 9.7, assertions off", "9.7.0"),
        ("service-1.2.3.jar (sha256 0123456789ab), options read by RocksDB 7.8.3", "7.8.3"),
    ],
)
def test_version_is_rocksdbs_whatever_the_engine(engine: str, version: str) -> None:
    text = export_study("options-file", replace(STUDY, engine_version=engine), sample.outcome())
    assert sections(text)["[Version]"]["rocksdb_version"] == version


def test_study_without_a_version_is_refused() -> None:
    with pytest.raises(UserError, match="its engine did not report a RocksDB version"):
        export_study("tikv", replace(STUDY, engine_version="mine 1.2.3"), sample.outcome())


def test_unknown_target_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'options-file'"):
        export_study("option-file", STUDY, sample.outcome())


def test_study_without_a_result_is_refused() -> None:
    with pytest.raises(UserError, match="no configuration to export"):
        export_study("db_bench", STUDY, sample.outcome(best=None))


def test_db_bench_has_the_workload_as_flags_and_the_options_as_a_file() -> None:
    best = sample.document()["best"]
    script = export_study("db_bench", STUDY, sample.outcome())
    given = flags(script)
    expected = {
        "benchmarks": "readrandomwriterandom",
        "readwritepercent": "30",
        "num": "10000000",
        "threads": "16",
        "key_size": "16",
        "value_size": "1024",
        "seed": "7",
        "options_file": "$options",
        "cache_size": "0",
        "disable_wal": "false",
    }
    assert {name: given.get(name) for name in expected} == expected
    read = sections(script.partition("<<'END_OF_OPTIONS'\n")[2].partition("END_OF_OPTIONS")[0])
    assert read["[DBOptions]"] == best["options"]["db"]
    assert read['[CFOptions "default"]'] == best["options"]["cf"]
    assert read['[TableOptions/BlockBasedTable "default"]'] == best["options"]["table"]


def test_db_bench_names_what_it_cannot_express() -> None:
    text = export_study("db_bench", STUDY, sample.outcome())
    assert "# - scrambled_zipfian keys with skew 0.3" in text
    assert "# - the simulated device" in text


def test_db_bench_loads_before_it_measures_a_preloaded_workload() -> None:
    script = db_bench_script({}, "7.8.3", load_workload("ycsb-e"), 1, "# head")
    assert flags(script, 0)["benchmarks"] == "filluniquerandom,flush,waitforcompaction"
    assert flags(script, 1)["use_existing_db"] == "true"
    assert flags(script, 1)["benchmarks"] == "mixgraph"
    assert flags(script, 1)["mix_seek_ratio"] == "0.95"


def test_db_bench_takes_mixgraphs_own_key_law_over() -> None:
    workload = WorkloadSpec.model_validate(
        {
            "name": "mix",
            "keys": 1000,
            "value": {"kind": "pareto", "high": 1024, "k": 0.2, "sigma": 25.0, "theta": 5.0},
            "key_chooser": {
                "kind": "two_term_exponential",
                "range_a": 14.0,
                "range_b": -2.9,
                "range_c": 0.02,
                "range_d": -0.07,
                "ranges": 30,
                "key_a": 0.002,
                "key_b": 0.3,
            },
            "sessions": [{"mix": {"get": 0.85, "put": 0.14, "scan": 0.01}}],
        }
    )
    script = db_bench_script({}, "7.8.3", workload, 1, "# head")
    given = flags(script)
    assert (given["keyrange_num"], float(given["keyrange_dist_b"]), given["value_k"]) == ("30", -2.9, "0.2")
    assert "uniformly" not in script
    assert "Pareto" not in script


@pytest.mark.skipif(shutil.which("db_bench") is None, reason="db_bench is not installed")
@pytest.mark.parametrize("preset", ["dremel-write-heavy", "ycsb-e"])
def test_db_bench_accepts_every_flag(preset: str, tmp_path: Path) -> None:
    workload = load_workload(preset).model_copy(update={"keys": 2000, "threads": 1})
    workload = workload.model_copy(
        update={"preload": workload.preload.model_copy(update={"keys": min(2000, workload.preload.keys)})}
    )
    script = db_bench_script(sample.document()["best"]["options"], "7.8.3", workload, 1, "# head")
    # Few operations instead of two minutes of them.
    script = script.replace("--duration=120", "--duration=0 --reads=200 --writes=200")
    path = tmp_path / "bench.sh"
    path.write_text(script)
    done = subprocess.run(
        ["/bin/sh", str(path)],
        env={"DB": str(tmp_path / "db"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "micros/op" in done.stdout


def test_the_db_bench_script_leaves_no_store_that_nobody_named(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "db_bench"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nmkdir -p "${1#--db=}" && echo "$1"\n')
    program.chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script = tmp_path / "bench.sh"
    script.write_text(db_bench_script({}, "7.8.3", load_workload("ycsb-e"), 1, "# head"))

    def directories(**named: str) -> set[str]:
        environment = {"TMPDIR": str(temporary), "PATH": f"{program.parent}:/usr/bin:/bin"} | named
        done = subprocess.run(
            ["/bin/sh", str(script)], env=environment, capture_output=True, text=True, check=True
        )
        return {line.removeprefix("--db=") for line in done.stdout.splitlines()}

    (own,) = directories()
    (other,) = directories()
    assert own != other
    assert Path(own).is_relative_to(temporary)
    assert not list(temporary.iterdir())
    named = tmp_path / "named"
    assert directories(DB=str(named)) == {str(named)}
    assert named.is_dir()


def test_every_preset_can_be_written() -> None:
    for name in workload_names():
        assert "--benchmarks=" in db_bench_script({}, "7.8.3", load_workload(name), 1, "# head")


def test_command_line_names_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "--help"])
    shown = capsys.readouterr().out
    assert all(target in shown for target in export_targets())
