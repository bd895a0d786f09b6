"""Scale checks."""

import json
from typing import Any

import pytest
from tests.api.engines import Engines

from rocktune import api
from rocktune.cli.main import main
from rocktune.errors import UserError
from rocktune.outcome import ScaleCheck
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
    with pytest.raises(UserError, match="study 'c': a scale check has no winner to verify"):
        api.verify("c", "1/4", ledger=ledger)


def test_what_the_command_prints(engines: Engines, ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE.split(), "--ledger", ledger, "--dry-run"]) == 0
    assert "20 configurations at 1/64 and 1/16, at most 85 runs, about" in capsys.readouterr().out
    assert main([*LINE.split(), "--ledger", ledger]) == 0
    printed = capsys.readouterr().out
    assert (
        "A 1/64 model ranks the configurations of space dremel for dremel-write-heavy on ssd-100" in printed
    )
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
