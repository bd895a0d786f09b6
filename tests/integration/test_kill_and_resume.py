"""kill -9 of everything, ten times, at moments drawn at random: the study ends all the same."""

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

KILLS = 10


def _start(arguments: list[str], scratch: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"ROCKTUNE_DATA": str(scratch / "data")}
    arguments = [*arguments, "--ledger", str(scratch / "ledger.sqlite"), "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "rocktune.cli.main", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip


def _workers_of(scratch: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["name", "environ"]):
        if process.info["name"] == "rocktune-worker":
            environment = process.info["environ"] or {}
            if environment.get("ROCKTUNE_DATA") == str(scratch / "data"):
                found.append(process)
    return found


@pytest.mark.timeout(600)
def test_a_study_killed_ten_times_ends_with_nothing_recorded_twice(tmp_path: Path) -> None:
    moments = random.Random(20261121)
    tune = ["tune", "--workload", "dremel-write-heavy", "--device", "ssd-100mb", "--scale", "1/512"]
    tune += ["--study", "killed", "--seed", "7", "--out", str(tmp_path / "out")]
    resume = ["resume", "killed"]
    kills = 0
    finished = None
    while kills < KILLS and finished is None:
        known = (tmp_path / "ledger.sqlite").exists() and _study_exists(tmp_path)
        driver = _start(resume if known else tune, tmp_path)
        try:
            finished, errors = driver.communicate(timeout=moments.uniform(0.5, 4.0))
            assert driver.returncode == 0, errors
        except subprocess.TimeoutExpired:
            os.kill(driver.pid, signal.SIGKILL)
            driver.communicate()
            kills += 1
            _, alive = psutil.wait_procs(_workers_of(tmp_path), timeout=10)
            assert alive == [], "a worker survived its driver"
            if (tmp_path / "ledger.sqlite").exists():
                assert _query(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    if finished is None:
        driver = _start(resume, tmp_path)
        finished, errors = driver.communicate(timeout=300)
        assert driver.returncode == 0, errors
    outcome = json.loads(finished)
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
    time.sleep(0.05)
    try:
        return bool(_query(scratch, "SELECT 1 FROM studies WHERE name = 'killed'"))
    except sqlite3.OperationalError:  # killed before the schema was there
        return False
