import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.explain.made import Family, explained_text, findings, level0, log_text
from tests.analysis.explain.stores import LOGS, log_of

from rocktune.analysis.explain import Finding
from rocktune.api import running
from rocktune.cli.main import main
from rocktune.trial import Result, Status

TIGHT = Family({"level0_slowdown_writes_trigger": 5})
CHOSEN = [log for log in LOGS if log.parent.name == "chosen" and not log.name.startswith("healthy")]


def command(directory: Path, tickers: dict[str, int]) -> str:
    text = log_text({"default": TIGHT}, [level0(6)] * 3, stall_s=30, tickers=tickers)
    return explained_text(directory, text).findings[0].commands[0]


@pytest.mark.parametrize(
    ("reads", "scans", "writes", "workload"),
    [
        (0, 0, 9, "overwrite"),
        (2, 0, 8, "overwrite"),
        (3, 0, 7, "ycsb-a"),
        (8, 0, 2, "ycsb-b"),
        (4, 3, 3, "ycsb-e"),
    ],
)
def test_the_workload_is_the_preset_nearest_to_the_counters(
    tmp_path: Path, reads: int, scans: int, writes: int, workload: str
) -> None:
    tickers = {"number.keys.read": reads, "number.db.seek": scans, "number.keys.written": writes}
    assert f"--workload {workload} " in command(tmp_path, tickers)


def test_present_values_and_those_to_try_are_compared(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, TIGHT, [level0(6)] * 3, stall_s=30)
    now, tried = finding.commands
    assert now.endswith("--option level0_slowdown_writes_trigger=5 --option level0_stop_writes_trigger=36")
    assert tried.endswith("--option level0_slowdown_writes_trigger=20 --option level0_stop_writes_trigger=36")


def test_values_beyond_a_knobs_bounds_become_the_nearest_ones(tmp_path: Path) -> None:
    family = Family({"target_file_size_base": 32 << 10}, levels={"L6": (1000, 100)})
    (finding,) = findings(tmp_path, family)
    assert finding.commands[0].endswith("--option target_file_size_base=1048576")


def commands_of(log: Path, directory: Path) -> list[str]:
    found: tuple[Finding, ...] = explained_text(directory, log_of(log)).findings
    return list(found[0].commands)


def test_commands_of_all_rules_are_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_measured(engine: Any, experiment: Any, trial: Any, *rest: Any) -> tuple[Result, str]:
        return Result(trial, Status.CRASHED, message="not measured"), ""

    # Reading, checking and RocksDB's own validation of the options happen before.
    monkeypatch.setattr(running, "_measured", not_measured)
    for each in [command for log in CHOSEN for command in commands_of(log, tmp_path)]:
        code = main(shlex.split(each)[1:])
        assert code == 0, (each, capsys.readouterr().err)
