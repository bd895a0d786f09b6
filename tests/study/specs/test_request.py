import os
from pathlib import Path
from typing import Any

import pytest

from rocktune.engine import CommandSpec, DbBenchSpec, EmbeddedSpec
from rocktune.errors import UserError
from rocktune.study import StudySpec, VerificationSettings, estimate, make_request, resolve
from rocktune.study.specs.request import scale_and_budget
from rocktune.testing.own_options import imported_options


def _resolved(**given: Any) -> StudySpec:
    return resolve(make_request({"workload": "dremel-write-heavy", "device": "ssd-100mb"} | given), "study")


@pytest.mark.parametrize(
    ("scale", "budget", "expected"),
    [
        (None, None, (32, 2325 / 32)),
        ("1/64", None, (64, 2325 / 64)),
        ("1", None, (1, 2325.0)),
        # 2,325/16 = 145.3 s fits into 3 minutes, 2,325/8 = 290.6 s does not.
        (None, "3m", (16, 180.0)),
        (None, 2325, (1, 2325.0)),
        (None, "1h", (1, 3600.0)),
        (None, "5", (512, 5.0)),
        ("1/8", "20m", (8, 1200.0)),
    ],
)
def test_scale_and_budget_follow_from_each_other(
    scale: str | None, budget: str | float | None, expected: tuple[int, float]
) -> None:
    assert scale_and_budget(EmbeddedSpec(), scale, budget, "short") == expected


def test_a_steady_search_has_the_time_of_60_runs() -> None:
    assert scale_and_budget(EmbeddedSpec(), None, None, "steady") == (64, 7200 / 64)
    # 7,200/64 = 112.5 s fits into 2 minutes, 7,200/32 = 225 s does not.
    assert scale_and_budget(EmbeddedSpec(), None, "2m", "steady") == (64, 120.0)


def test_an_engine_that_starts_over_is_given_the_time_for_it() -> None:
    # 31 * 60 + 15 * 80 + 7 * 100 = 3,760, and the paper's 25 s beyond its own halving's 2,300.
    assert scale_and_budget(DbBenchSpec(), "1/32", None, "short") == (32, 3785 / 20)


def test_a_program_of_the_users_own_has_one_size() -> None:
    command = CommandSpec(run=("./benchmark", "{options_file}"), run_seconds=12.0)
    assert scale_and_budget(command, None, None, "own") == (1, 378.5)
    assert scale_and_budget(command, None, "5m", "own") == (1, 300.0)
    with pytest.raises(UserError, match="leave the scale out"):
        scale_and_budget(command, "1/2", None, "own")
    document = {"run": ["./benchmark", "{options_file}"], "run_seconds": 12.0}
    spec = _resolved(engine="command", command=document, device="none")
    assert spec.age_s(120.0) == pytest.approx(12.0)
    assert StudySpec.model_validate(spec.model_dump(mode="json")) == spec
    assert estimate(spec).verification_s > 0
    # None of its runs waits for others: 1000 MiB, and 64 MiB for the program itself.
    assert estimate(spec).memory_bytes == 1064 << 20


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "dbbench"}, "unknown engine 'dbbench': did you mean 'db_bench'?"),
        ({"engine": "command"}, r"table \[command\]"),
        ({"db_bench": "/opt/db_bench"}, "choose engine 'db_bench'"),
        ({"command": {"run": ["./benchmark", "{options_file}"]}}, "choose engine 'command'"),
        ({"engine": "command", "command": {"run": []}}, "command.run: needs at least 1"),
        (
            {"engine": "command", "command": {"run": ["./benchmark", "{option_file}"]}},
            r"command: run: unknown placeholder '\{option_file\}': did you mean '\{options_file\}'",
        ),
        (
            {"engine": "command", "command": {"run": ["./benchmark", "{options_file}"]}},
            "machine's own storage, not on 'ssd-100mb'; leave the device out",
        ),
    ],
)
def test_engines_are_asked_for_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        _resolved(**given)


def test_defaults() -> None:
    spec = _resolved()
    assert (spec.tuner, spec.space, spec.objective, spec.seed) == (
        "auto",
        {"name": "full", "left_out": spec.space["left_out"]},
        "sustained_throughput_ops_s",
        1,
    )
    assert (spec.protocol, spec.rate_ops_s) == ("steady", None)
    # A store in steady state holds all keys.
    assert spec.workload.preload.keys == spec.workload.keys
    assert spec.workload.preload.random_order
    assert spec.memory_bytes == 1000 << 20
    assert spec.base_options is None
    assert StudySpec.model_validate(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"wrkload": "x"}, "unknown field 'wrkload': did you mean 'workload'?"),
        ({"workload": "dremel-write-heav"}, "did you mean 'dremel-write-heavy'?"),
        ({"device": "ssd"}, "unknown device 'ssd': did you mean 'ssd-"),
        ({"space": "dremmel"}, "unknown space 'dremmel': did you mean 'dremel'?"),
        ({"tuner": "randm"}, "unknown tuner 'randm': did you mean 'random'?"),
        ({"tuner": "dremel", "tuner_settings": {"bukets": 3}}, "did you mean 'buckets'?"),
        ({"objective": "throughput"}, "did you mean 'throughput_ops_s'?"),
        ({"scale": "1/1000"}, "scale: '1/1000' is not a scale"),
        ({"scale": "0"}, "scale: '0' is not a scale"),
        ({"budget": "soon"}, "budget: 'soon' is not a duration"),
        ({"budget": "-3"}, "budget: '-3' is not a duration"),
        (
            {"protocol": "short", "budget": "1s"},
            r"budget: 1.0 s is too small .* at scale 1/512; it takes at least 2.34375 s",
        ),
        (
            {"tuner": "dremel", "scale": "1/2", "budget": "3m"},
            r"too small for tuner 'dremel' at scale 1/2; it takes at least 600 s",
        ),
        ({"tuner": "random", "scale": "1/2", "budget": "30s"}, "it takes at least 60 s"),
        ({"memory": "0x10"}, "memory: '0x10' is not a size"),
        ({"memory": "1MiB"}, "a memory budget of 1MiB is too small .* use at least"),
        ({"seed": -1}, "seed: .*not -1"),
        ({"verification": {"proof_pairs": 5}}, "verification.pairs: .*not 5"),
        ({"verification": {"pair": 9}}, "unknown field 'pair': did you mean 'pairs'"),
        ({"verification": {"pairs": 9, "proof_pairs": 9}}, "verification: proof_pairs: .*give 'pairs' alone"),
        ({"verification": {"indifference": -0.1}}, "verification.indifference: .*not -0.1"),
        ({"proof_pairs": 5}, "proof_pairs: .*not 5"),
    ],
)
def test_bad_input_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        _resolved(**given)
    assert "\n" not in str(error.value)


def test_a_workload_has_to_be_named() -> None:
    with pytest.raises(UserError, match="workload: missing"):
        resolve(make_request({}), "study")


@pytest.mark.parametrize("name", ["", "a/b", "../a", "-a", "a b", "a" * 101])
def test_a_name_is_one_of_a_directory(name: str) -> None:
    with pytest.raises(UserError, match=r"study: '.*' is not a valid name"):
        resolve(make_request({"workload": "ycsb-a"}), name)


def test_the_options_file_is_read_last() -> None:
    def never(_loaded: tuple[str, ...]) -> None:
        raise AssertionError("read although the device is wrong")

    with pytest.raises(UserError, match="unknown device"):
        resolve(make_request({"workload": "ycsb-a", "device": "x"}), "study", never)


def _file(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_a_study_file_says_what_is_not_given(tmp_path: Path) -> None:
    file = _file(
        tmp_path,
        'workload = "ycsb-b"\ndevice = "nvme"\nscale = "1/128"\nbudget = "1m"\nseed = 7\n'
        "[tuner_settings]\nbuckets = 3\n[verification]\npairs = 8\n",
    )
    request = make_request({"device": "sata", "seed": None}, file)
    assert (request.workload, request.device, request.scale, request.seed) == ("ycsb-b", "sata", "1/128", 7)
    assert request.tuner_settings == {"buckets": 3}
    assert request.verification.pairs == 8


def test_the_older_name_of_a_fixed_number_of_pairs_is_read(tmp_path: Path) -> None:
    file = _file(tmp_path, "[verification]\nproof_pairs = 9\n")
    assert make_request({}, file).verification == VerificationSettings(pairs=9)
    assert make_request({}).verification.pairs is None


def test_file_names_in_a_study_file_count_from_where_it_lies(tmp_path: Path) -> None:
    file = _file(tmp_path, 'workload = "mine.toml"\ndevice = "nvme"\noptions_file = "OPTIONS"\nout = "out"\n')
    request = make_request({}, file)
    assert (request.workload, request.device) == (str(tmp_path / "mine.toml"), "nvme")
    assert (request.options_file, request.out) == (str(tmp_path / "OPTIONS"), str(tmp_path / "out"))


def test_programs_in_a_study_file_count_from_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absolutely, for the study may be resumed from elsewhere."""
    folder = tmp_path / "mine"
    folder.mkdir()
    command = '[command]\nrun = ["bin/bench", "./a.jar", "../b", "c/d", "--dir=./e", "{options_file}"]\n'
    _file(folder, f'{command}set_up = ["fill", "all"]\n')
    monkeypatch.chdir(tmp_path)
    request = make_request({}, Path("mine/study.toml"))
    assert request.command is not None
    assert request.command.run == (
        str(folder / "bin/bench"),
        str(folder / "a.jar"),
        str(tmp_path / "b"),
        "c/d",
        "--dir=./e",
        "{options_file}",
    )
    assert request.command.set_up == ("fill", "all")
    file = _file(folder, '[command]\nshell = true\nrun = ["./bench {options_file}"]\n')
    shell = make_request({}, file).command
    assert shell is not None
    assert shell.run == ("./bench {options_file}",)


@pytest.mark.parametrize("command", ["7", "[1]", '{ run = "x" }', "{ run = [1] }"])
def test_a_command_of_the_wrong_form_is_one_line(tmp_path: Path, command: str) -> None:
    with pytest.raises(UserError, match=r"study.toml: command"):
        make_request({}, _file(tmp_path, f"command = {command}\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('workload = "ycsb-a"\ndevice = nvme\n', "malformed TOML: .*line 2"),
        ('worklod = "ycsb-a"\n', "study.toml: unknown field 'worklod': did you mean 'workload'?"),
        ("seed = 1.5\n", "study.toml: seed: .*not 1.5"),
        ("[verification]\npairs = 2\n", "study.toml: verification.pairs: "),
    ],
)
def test_a_bad_study_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_request({}, _file(tmp_path, text))


def test_a_missing_study_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"study\.toml: cannot be read: No such file"):
        make_request({}, tmp_path / "study.toml")


def test_the_short_protocol_is_dremels() -> None:
    spec = _resolved(protocol="short")
    assert (spec.tuner, spec.space) == ("dremel", {"name": "dremel"})
    assert (spec.objective, spec.workload.preload.keys) == ("throughput_ops_s", 0)
    assert _resolved(protocol="short", objective="db_bytes").objective == "db_bytes"


def test_engines_that_cannot_age_a_store_have_the_short_protocol() -> None:
    spec = _resolved(engine="db_bench", workload="fillrandom", device="none")
    assert (spec.protocol, spec.objective) == ("short", "throughput_ops_s")


def test_an_own_program_decides_itself_what_its_figures_are_of() -> None:
    document = {"run": ["./benchmark", "{options_file}"], "run_seconds": 12.0}
    for given in ({}, {"protocol": "short"}):
        spec = _resolved(engine="command", command=document, device="none", **given)
        assert (spec.protocol, spec.objective) == ("own", "throughput_ops_s")


@pytest.mark.parametrize(
    ("option", "text"),
    [("compaction_style", "kCompactionStyleFIFO"), ("disable_auto_compactions", "true")],
)
def test_a_baseline_without_a_steady_state_is_refused(option: str, text: str) -> None:
    file = imported_options({"db": {}, "cf": {option: text}, "table": {}})
    asked = {"workload": "ycsb-a", "device": "ssd-100mb"}
    with pytest.raises(UserError, match=f"protocol: the baseline has {option}={text}.*give --protocol short"):
        resolve(make_request(asked), "study", lambda _: file)
    short = resolve(make_request(asked | {"protocol": "short"}), "study", lambda _: file)
    assert short.protocol == "short"


def test_aged_stores_are_in_the_estimated_disk() -> None:
    short, steady = (
        estimate(_resolved(scale="1/64", protocol=name, space="dremel")) for name in ("short", "steady")
    )
    # 26 aged stores of 10 million keys / 64 with 1,040 bytes, at about twice their data.
    assert steady.disk_bytes - short.disk_bytes > 26 * 2 * 10_000_000 / 64 * 1040


def test_stores_without_a_model_of_debt_have_the_short_protocol() -> None:
    assert _resolved(space="flsm", tuner="random").protocol == "short"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"protocol": "long"}, "protocol"),
        (
            {"protocol": "steady", "engine": "db_bench", "workload": "fillrandom", "device": "none"},
            "protocol: engine 'db_bench' cannot age a store; choose engine 'embedded'",
        ),
        ({"protocol": "steady", "space": "flsm"}, "protocol: there is no model of the debt of a FLSM store"),
        (
            {"protocol": "short", "rate": 100.0},
            "rate: only the steady protocol has a phase",
        ),
        ({"protocol": "own"}, "protocol: 'own' is that of engine 'command'"),
        ({"rate": 0.0}, "rate"),
    ],
)
def test_a_protocol_that_is_not_possible_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        _resolved(**given)
    assert "\n" not in str(refused.value)


def test_the_estimate_of_steady_studies_has_ageing_and_offered_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    short = estimate(_resolved(scale="1/64", protocol="short"))
    # Short studies have this space, whose knobs are ablated.
    steady = estimate(_resolved(scale="1/64", space="dremel"))
    # 26 runs of 480 s instead of 120 s, and at an offered rate 24 of 10,080 s in the proof and twice 6 of
    # 2,880 s before. Steady studies have bounds to keep, and so up to two more rounds of 4 finalists.
    assert steady.verification_s - short.verification_s == pytest.approx(
        (26 * 360 + 24 * 10_080 + 12 * 2880) / 64
    )
    assert short.ageing_s == 0
    # On a limited device three stores age together, or as many as the quota of 16 GiB holds: 7.3 GiB each.
    assert steady.ageing_s == pytest.approx(26 * 7000 / 64 / 3)
    assert estimate(_resolved(scale="1/4")).ageing_s == pytest.approx(26 * 7000 / 4 / 2)
    assert estimate(_resolved(scale="1")).ageing_s == pytest.approx(26 * 7000)
    assert estimate(_resolved(scale="1/64", device="none")).ageing_s == pytest.approx(26 * 7000 / 64)
    assert steady.total_s == pytest.approx(
        steady.search_s + steady.verification_s + steady.ageing_s + steady.other_s
    )


def test_the_estimate_adds_up() -> None:
    expected = estimate(_resolved(scale="1/64", protocol="short"))
    assert expected.search_s == 2325 / 64
    # Full size: baseline 120 s, pick 3 * 4 * 2 * 120, ablation of 14 knobs 15 * 3 * 60, pruning twice
    # 2 * 3 * 120, proof (2 * 12 + 2) * 120: 120 + 2880 + 2700 + 1440 + 3120 = 10260 s.
    assert expected.verification_s == pytest.approx(10260 / 64)
    assert expected.total_s == expected.search_s + expected.verification_s + expected.other_s
    fixed = estimate(_resolved(scale="1/64", protocol="short", proof_pairs=8))
    assert fixed.verification_s == pytest.approx((10260 - 8 * 120) / 64)
    assert 0 < expected.other_s < 0.2 * expected.total_s


def test_preloading_takes_time_and_disk() -> None:
    without, with_data = (
        _resolved(workload=workload, protocol="short")
        for workload in ("dremel-write-heavy", "dremel-preloaded")
    )
    assert estimate(with_data).other_s > estimate(without).other_s
    assert estimate(with_data).disk_bytes > estimate(without).disk_bytes
