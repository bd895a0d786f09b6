"""Scale checks."""

import json
import platform
from pathlib import Path
from typing import Any

import pytest
from tests.api.engines import SMALL, Engines
from tests.study.test_scale_check import TwoModels, by_buffer, by_smaller_buffer

from rocktune import api
from rocktune.api import tuning
from rocktune.cli.main import main
from rocktune.device import MeasuredDisk, load_device, remember
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.outcome import Outcome, ScaleCheck
from rocktune.study import make_request, recorded_outcome, resolve_scale_check, run_scale_check
from rocktune.testing.dying import Died, DiesAfter

LINE = "check-scale --workload dremel-write-heavy --device ssd-100mb --scale 1/64 --study c"


def test_a_check_is_estimated_interrupted_and_resumed(engines: Engines, ledger: str) -> None:
    given: dict[str, Any] = {"workload": "ycsb-a", "scale": "1/64", "ledger": ledger, "study": "c"}
    estimate = api.prepare_scale_check(**given).estimate()
    assert (estimate["runs"], estimate["scale"], estimate["larger_scale"]) == (85, "1/64", "1/16")
    assert not engines.opened
    with pytest.raises(Died):
        api.check_scale(observer=DiesAfter(5), **given)
    (shown,) = api.studies(ledger=ledger)
    assert shown["tuner"] == "scale check"
    found = api.resume("c", ledger=ledger)
    assert isinstance(found, ScaleCheck)
    assert found == api.check_scale(**given)
    assert found.verdict == "ranks"
    assert api.show("c", ledger=ledger)["state"] == "finished"
    assert api.check_ledger(ledger)["problems"] == []
    with pytest.raises(UserError, match="study 'c': a scale check has no configuration to export"):
        api.export("c", "options-file", ledger=ledger)
    with pytest.raises(UserError, match="study 'c': a scale check has no report; 'rocktune resume'"):
        api.report("c", ledger=ledger)
    with pytest.raises(UserError, match="study 'c': a scale check has no winner to verify"):
        api.verify("c", "1/4", ledger=ledger)


def test_what_the_command_prints(engines: Engines, ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE.split(), "--ledger", ledger, "--dry-run"]) == 0
    assert "20 configurations at 1/64 and 1/16, at most 85 runs, about" in capsys.readouterr().out
    assert main([*LINE.split(), "--ledger", ledger]) == 0
    printed = capsys.readouterr().out
    assert "A 1/64 model ranks the configurations of space full for dremel-write-heavy on ssd-100" in printed
    assert "its choice is as good as the larger model's." in printed
    assert "rank at 1/16" in printed
    assert main([*LINE.split(), "--ledger", ledger, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "ranks"
    assert document["regret"]["repeats"] == 3
    assert main(["resume", "c", "--ledger", ledger, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale", "1"], "scale: 1 has no model 4 times larger; give 1/S with S a multiple of 4"),
        (["--scale", "1/2"], "scale: 1/2 has no model 4 times larger"),
        (["--configurations", "5"], "configurations: 5 must be from 20 to 1000"),
        (["--objective", "balance"], "objective: models are compared by one figure"),
        (["--workload", "ycsb-aa"], "unknown workload 'ycsb-aa'"),
        (["--tuner", "random"], "unknown option '--tuner'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    engines: Engines, ledger: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([*LINE.split(), "--ledger", ledger, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert captured.err.count("\n") == 1


STUDY: dict[str, Any] = {"workload": "dremel-write-heavy", "scale": "1/64", "study": "mine"}
QUICK: dict[str, Any] = {"tuner": "random", "budget": "4s", "verification": SMALL}


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine says which RocksDB it is without a worker."""
    monkeypatch.setattr(tuning, "engine_version", lambda _: "RocksDB 7.8.3, assertions on")


def misranking_check(ledger: str) -> None:
    """Records a check by which 1/64 does not rank."""
    with open_ledger(ledger) as opened:
        engine = TwoModels(by_smaller_buffer, by_buffer)
        engine.version = "RocksDB 7.8.3, assertions on"
        spec = resolve_scale_check(make_request({**STUDY, "study": None}), "check", 20)
        assert run_scale_check(spec, engine, opened).verdict == "does not rank"


@pytest.mark.usefixtures("version")
def test_a_study_on_a_device_unlike_the_measured_disk_says_so(
    engines: Engines,
    ledger: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    slow = load_device("ssd-100mb").model_copy(update={"bandwidth_bytes_s": 20 << 20})
    here = platform.node()
    remember(MeasuredDisk(machine=here, directory="/srv/db", date="2026-11-26", device=slow))
    outcome = api.tune(**STUDY, **QUICK, device="ssd-100mb", ledger=ledger)
    says = (
        "Device ssd-100mb is unlike the disk under /srv/db, measured on 2026-11-26: bandwidth 20MiB/s there"
    )
    (note,) = outcome.device_notes
    assert note.startswith(says)
    assert main(["resume", "mine", "--ledger", ledger]) == 0
    assert says in capsys.readouterr().out
    assert outcome.report is not None
    assert (
        "<code>rocktune device measure /srv/db --out my-disk.toml</code>" in Path(outcome.report).read_text()
    )


@pytest.mark.usefixtures("version")
def test_a_study_on_a_scale_that_does_not_rank_says_so_and_goes_on(
    engines: Engines, ledger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    misranking_check(ledger)
    says = "A 1/64 model ranks these configurations unlike a 1/16 model by sustained throughput: Spearman's"
    mends = "tune with --scale 1/16."
    estimate = api.estimate(**STUDY, ledger=ledger)
    assert estimate["scale_check"]["verdict"] == "does not rank"
    (note,) = estimate["scale_notes"]
    assert note.startswith(says)
    line = "tune --workload dremel-write-heavy --scale 1/64 --budget 4s --tuner random --ledger"
    assert main([*line.split(), ledger, "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert says in printed
    assert mends in printed
    outcome = api.tune(**STUDY, **QUICK, ledger=ledger)
    assert outcome.scale_check is not None
    assert outcome.scale_check.verdict == "does not rank"
    assert outcome.scale_check.foremost == ()
    assert outcome.check_command is None
    assert main(["resume", "mine", "--ledger", ledger]) == 0
    printed = capsys.readouterr().out
    assert says in printed
    assert mends in printed
    assert outcome.report is not None
    assert "<code>--scale 1/16</code>" in Path(outcome.report).read_text()
    with open_ledger(ledger) as opened:
        assert recorded_outcome(opened, opened.study("mine")) == outcome


@pytest.mark.usefixtures("version")
def test_a_study_without_a_check_names_the_command_in_its_advice_only(
    engines: Engines, ledger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    estimate = api.estimate(**STUDY, ledger=ledger)
    assert (estimate["scale_check"], estimate["scale_notes"]) == (None, [])
    outcome = api.tune(**STUDY, **QUICK, ledger=ledger)
    assert outcome.scale_check is None
    command = outcome.check_command
    assert command is not None
    assert main(["resume", "mine", "--ledger", ledger]) == 0
    printed = capsys.readouterr().out
    assert f"like a larger one: {command} measures it." in " ".join(printed.split())
    # The command makes a check that the study finds.
    assert main([*command.split()[1:], "--ledger", ledger]) == 0
    assert api.estimate(**STUDY, ledger=ledger)["scale_check"]["verdict"] == "ranks"
    resumed = api.resume("mine", ledger=ledger)
    assert isinstance(resumed, Outcome)
    assert resumed.scale_check is not None
    assert (resumed.scale_check.verdict, resumed.check_command) == ("ranks", None)


@pytest.mark.usefixtures("version")
def test_a_scale_without_a_larger_model_has_no_advice(engines: Engines, ledger: str) -> None:
    given = {**STUDY, "scale": "1/2"} | QUICK | {"budget": "150s"}
    outcome = api.tune(**given, ledger=ledger)
    assert (outcome.scale_check, outcome.check_command) == (None, None)
