import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocktune.engine.base import RunFailed
from rocktune.engine.worker import WorkerProcess, find_worker, start_worker
from rocktune.errors import UserError
from rocktune.testing.fake_worker import FAULTS, fake_worker_command
from rocktune.trial import Status
from rocktune.workload import WorkloadSpec

OPTIONS: dict[str, dict[str, str]] = {"db": {}, "cf": {}, "table": {}}


def script(path: Path, text: str) -> str:
    """Writes an executable Python program."""
    path.write_text(f"#!{sys.executable} -IS\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def greeting(protocol: int = 7) -> str:
    return (
        "import json, os, sys, time\n"
        "def say(**event): print(json.dumps(event), flush=True)\n"
        f"say(event='hello', protocol={protocol}, rocksdb_version='7', assertions=False, compressions=[])\n"
    )


@pytest.fixture
def open_fields(tmp_path: Path) -> dict[str, Any]:
    workload = WorkloadSpec.model_validate({"name": "w", "keys": 1000, "sessions": [{"mix": {"put": 1.0}}]})
    return {
        "directory": str(tmp_path),
        "options": OPTIONS,
        "workload": workload.model_dump(mode="json"),
        "device": {"name": "none"},
        "seed": 1,
        "series_interval_s": 0.1,
        "memory_limit_bytes": 0,
        "disk_limit_bytes": 0,
    }


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    worker = WorkerProcess(fake_worker_command())
    yield worker
    worker.kill()


def test_a_whole_run(worker: WorkerProcess, open_fields: dict[str, Any]) -> None:
    assert worker.hello["rocksdb_version"] == "7.8.3"
    worker.request("check_options", 60, {"options": OPTIONS})
    assert worker.request("open", 60, open_fields)["options"]["cf"]["num_levels"] == "7"
    seen: list[tuple[str, float, float]] = []
    window = worker.request("advance", 60, {"until_s": 2.0}, progress=lambda *progress: seen.append(progress))
    assert (window["from_s"], window["until_s"]) == (0.0, 2.0)
    assert seen == [("advance", 0.0, 2.0)]
    assert worker.request("park", 60)["resident_bytes"] > 0
    assert worker.request("advance", 60, {"until_s": 3.0})["from_s"] == 2.0
    worker.close_store(10)
    worker.close()


DEATHS = {
    "segfault": (Status.CRASHED, "killed by SIGSEGV"),
    "assertion": (
        Status.CRASHED,
        "killed by SIGABRT: db.cc:7: Write(): Assertion `n > 0' failed.",
    ),
    "sanitizer": (
        Status.CRASHED,
        "killed by SIGABRT: SUMMARY: AddressSanitizer: heap-use-after-free db.cc:7 in Write",
    ),
    "bad_alloc": (Status.OUT_OF_MEMORY, "killed by SIGABRT: what():  std::bad_alloc"),
    "hang": (Status.TIMED_OUT, "no answer to 'advance' within 0 s"),
    "garbage": (Status.CRASHED, "the worker's answer is malformed: %$ garbage"),
    "cut": (Status.CRASHED, "ended without an answer (exit status 3)"),
    "wrong_event": (Status.CRASHED, "the worker's answer is malformed: loaded or parked to 'advance'"),
    "exit": (Status.CRASHED, "ended without an answer (exit status 3): Corruption: made up"),
    "invalid": (Status.INVALID, "made up: invalid"),
    "out_of_memory": (Status.OUT_OF_MEMORY, "made up: out_of_memory"),
    "out_of_disk": (Status.OUT_OF_DISK, "made up: out_of_disk"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_status(fault: str, open_fields: dict[str, Any]) -> None:
    worker = WorkerProcess(fake_worker_command(f"advance={fault}"))
    worker.request("open", 60, open_fields)
    with pytest.raises(RunFailed) as failure:
        worker.request("advance", 0.2 if fault == "hang" else 10, {"until_s": 1.0})
    assert (failure.value.status, failure.value.message) == DEATHS[fault]
    assert not psutil.pid_exists(worker._process.pid)
    worker.close()


def test_an_error_printed_between_commands_answers_the_next(tmp_path: Path) -> None:
    text = greeting() + "say(event='error', status='out_of_memory', message='3GiB of 2GiB')\n"
    worker = WorkerProcess([script(tmp_path / "worker", text)])
    worker._process.wait()
    with pytest.raises(RunFailed, match="out_of_memory: 3GiB of 2GiB"):
        worker.request("park", 60)


def test_an_unknown_status_is_a_crash(tmp_path: Path) -> None:
    text = greeting() + "sys.stdin.readline(); say(event='error', status='ok', message='odd')\n"
    with pytest.raises(RunFailed, match="crashed: odd"):
        WorkerProcess([script(tmp_path / "worker", text)]).request("park", 60)


@pytest.mark.parametrize("line", ["[1,2]", '{"no":"event"}', "nan{", '{"event":7}'])
def test_a_line_that_is_no_event(line: str, tmp_path: Path) -> None:
    text = greeting() + f"print({line!r}, flush=True); time.sleep(60)\n"
    with pytest.raises(RunFailed, match="crashed: the worker's answer is malformed"):
        WorkerProcess([script(tmp_path / "worker", text)]).request("park", 60)


def test_progress_renews_the_deadline_where_asked(tmp_path: Path) -> None:
    # Twenty lines, 0.1 s apart, then the reply: 2 s in all, against a deadline of 1.5 s.
    text = greeting() + (
        "command = json.loads(sys.stdin.readline())['command']\n"
        "for done in range(20): say(event='progress', phase='load', done=done, total=20); time.sleep(0.1)\n"
        "say(event={'load': 'loaded', 'advance': 'measurement'}[command])\n"
    )
    program = [script(tmp_path / "worker", text)]
    seen: list[float] = []
    patient = WorkerProcess(program)
    patient.request("load", 1.5, progress=lambda _, done, __: seen.append(done), renewed=True)
    patient.kill()
    assert seen == list(range(20))
    with pytest.raises(RunFailed, match="timed_out: no answer to 'advance' within 2 s"):
        WorkerProcess(program).request("advance", 1.5)


def test_a_reply_in_time_counts_though_the_driver_looks_late(tmp_path: Path) -> None:
    """As when the driver was suspended: the deadline is past, the reply in the pipe."""
    text = greeting() + "sys.stdin.readline(); say(event='parked'); time.sleep(60)\n"
    worker = WorkerProcess([script(tmp_path / "worker", text)])
    worker._send({"command": "park"})
    worker._lines.wait(time.monotonic() + 10)
    while not worker._lines._selector.select(0.1):
        pass
    assert worker._receive(time.monotonic() - 100, "late") == {"event": "parked"}
    worker.kill()


def test_large_commands_and_replies_do_not_block(tmp_path: Path) -> None:
    """Commands and replies far larger than a pipe, while the worker fills its standard error."""
    text = greeting() + (
        "sys.stderr.write('e' * 300000 + '\\n')\n"
        "command = json.loads(sys.stdin.readline())\n"
        "say(event='options', options=command['options'])\n"
    )
    options = {"cf": {f"option_{number}": "x" * 1000 for number in range(500)}}
    worker = WorkerProcess([script(tmp_path / "worker", text)])
    assert worker.request("check_options", 30, {"options": options})["options"] == options
    worker.kill()


def test_it_is_in_a_session_of_its_own(worker: WorkerProcess) -> None:
    assert os.getsid(worker._process.pid) == worker._process.pid != os.getsid(0)


def test_an_interrupted_request_ends_the_worker(worker: WorkerProcess, open_fields: dict[str, Any]) -> None:
    worker.request("open", 60, open_fields)

    def interrupt(phase: str, done: float, total: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        worker.request("advance", 60, {"until_s": 1.0}, progress=interrupt)
    assert not psutil.pid_exists(worker._process.pid)


def test_closing_twice_and_after_death(worker: WorkerProcess) -> None:
    os.kill(worker._process.pid, 9)
    worker.close()
    worker.close()
    assert not psutil.pid_exists(worker._process.pid)


def test_closing_a_worker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocktune.engine.worker._CLOSE_TIMEOUT_S", 0.1)
    worker = WorkerProcess(fake_worker_command("close=hang"))
    worker.close()
    assert not psutil.pid_exists(worker._process.pid)


def test_it_outlives_the_thread_that_asked_for_it() -> None:
    """PR_SET_PDEATHSIG means the thread that forked, so that must not be the caller's."""
    started: list[WorkerProcess] = []
    thread = threading.Thread(target=lambda: started.append(WorkerProcess(fake_worker_command())))
    thread.start()
    thread.join()
    started[0].request("check_options", 60, {"options": OPTIONS})
    started[0].kill()


def test_it_ends_with_its_driver() -> None:
    text = (
        "import sys, time\n"
        "from rocktune.engine.worker import WorkerProcess\n"
        "from rocktune.testing.fake_worker import fake_worker_command\n"
        "workers = [WorkerProcess(fake_worker_command('park=hang')) for _ in range(2)]\n"
        "print(*(worker._process.pid for worker in workers), flush=True)\n"
        "workers[0].request('park', 60)\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    workers = [psutil.Process(int(pid)) for pid in driver.stdout.readline().split()]
    assert len(workers) == 2
    driver.kill()
    driver.wait()
    driver.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert alive == []


def test_finding_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(tmp_path / "rocktune-worker", "")
    monkeypatch.setenv("ROCKTUNE_WORKER", program)
    assert find_worker() == (program,)
    monkeypatch.delenv("ROCKTUNE_WORKER")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert find_worker() == (program,)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "empty"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "empty" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_worker() == (program,)


def test_without_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_WORKER", str(tmp_path / "absent"))
    with pytest.raises(UserError, match=r"ROCKTUNE_WORKER: '.*absent' is not an executable file"):
        find_worker()
    monkeypatch.delenv("ROCKTUNE_WORKER")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="rocktune-worker is not installed: build it with 'make setup'"):
        find_worker()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "import sys\nsys.exit('x: error while loading shared libraries: librocksdb.so.7: not found')\n",
            "librocksdb.so.7: not found; install RocksDB .apt-get install librocksdb-dev. or build",
        ),
        ("import os\nos.abort()\n", "does not start: killed by SIGABRT; build it again with 'make setup'"),
        ("print('usage: worker')\n", "does not start: the worker's answer is malformed: usage: worker"),
        ('print(\'{"event":"bye"}\')\n', "does not start: the worker's answer is malformed"),
        (greeting(protocol=1), "uses protocol 1, but this rocktune uses 7: build both again"),
    ],
)
def test_a_worker_that_does_not_start(text: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=error):
        start_worker([script(tmp_path / "worker", text)])


def test_a_worker_that_is_no_program(tmp_path: Path) -> None:
    program = tmp_path / "worker"
    program.write_bytes(b"\x7fNOT")
    program.chmod(0o755)
    with pytest.raises(UserError, match="cannot be started: Exec format error; build it with"):
        start_worker([str(program)])
