"""kill -9 of everything, several times, at moments drawn at random: the study ends all the same."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SLOWEST_START_S = 120


class _Driver:
    """One run of the command line, with what it wrote."""

    def __init__(self, arguments: list[str], scratch: Path) -> None:
        self._output = scratch / "stdout"
        self._errors = scratch / "stderr"
        environment = os.environ | {"ROCKTUNE_DATA": str(scratch / "data")}
        arguments = [*arguments, "--ledger", str(scratch / "ledger.sqlite"), "--json"]
        with self._output.open("w") as output, self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rocktune.cli.main", *arguments],
                stdout=output, stderr=errors, env=environment, start_new_session=True,
            )  # fmt: skip

    def ended(self, within_s: float) -> bool:
        """Says whether it ends within some time; it must have ended well then."""
        try:
            code = self.process.wait(timeout=within_s)
        except subprocess.TimeoutExpired:
            return False
        assert code == 0, self._errors.read_text()
        return True

    def output(self) -> str:
        return self._output.read_text()


def _workers_of(scratch: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["name", "environ"]):
        if process.info["name"] == "rocktune-worker":
            environment = process.info["environ"] or {}
            if environment.get("ROCKTUNE_DATA") == str(scratch / "data"):
                found.append(process)
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_a_study_killed_often_ends_with_nothing_recorded_twice(kills: int, tmp_path: Path) -> None:
    moments = random.Random(20261121)
    tune = ["tune", "--workload", "dremel-write-heavy", "--device", "ssd-100mb", "--scale", "1/512"]
    tune += ["--protocol", "short", "--study", "killed", "--seed", "7", "--out", str(tmp_path / "out")]
    resume = ["resume", "killed"]
    for kill in range(kills):
        driver = _Driver(resume if _study_exists(tmp_path) else tune, tmp_path)
        # Some are killed before they have begun to measure; how long that takes is the machine's affair.
        ended = kill % 3 != 0 and _measures_or_ends(driver, tmp_path)
        if ended or driver.ended(moments.uniform(0.1, 2.0)):
            break
        os.kill(driver.process.pid, signal.SIGKILL)
        driver.process.wait()
        _, alive = psutil.wait_procs(_workers_of(tmp_path), timeout=60)
        assert alive == [], "a worker survived its driver"
        if (tmp_path / "ledger.sqlite").exists():
            assert _query(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    else:
        driver = _Driver(resume, tmp_path)
        assert driver.ended(600)
    outcome = json.loads(driver.output())
    assert outcome["ratio_to_baseline"]["value"] > 0
    assert Path(outcome["options_file"]).exists()
    assert _query(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    twice = "SELECT COUNT(*) FROM measurements GROUP BY configuration_id, replicate, until_s"
    assert {count for (count,) in _query(tmp_path, twice)} == {1}


def _query(scratch: Path, statement: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(scratch / "ledger.sqlite") as connection:
        rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def _study_exists(scratch: Path) -> bool:
    return _count(scratch, "SELECT COUNT(*) FROM studies WHERE name = 'killed'") > 0


def _measures_or_ends(driver: _Driver, scratch: Path) -> bool:
    """Waits until something new is measured; says whether the driver ended before."""
    measured = "SELECT COUNT(*) FROM measurements"
    before = _count(scratch, measured)
    deadline = time.monotonic() + SLOWEST_START_S
    while _count(scratch, measured) == before:
        assert time.monotonic() < deadline, "nothing is measured"
        if driver.ended(0.05):
            return True
    return False


def _count(scratch: Path, statement: str) -> int:
    """Returns a count; 0 while there is no ledger or it has no tables yet."""
    if not (scratch / "ledger.sqlite").exists():
        return 0
    try:
        ((count,),) = _query(scratch, statement)
    except sqlite3.OperationalError:  # killed, or looked at, before the schema was there
        return 0
    assert isinstance(count, int)
    return count
