"""The worker as a process: what no in-process test of its session can show."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocktune.engine.worker import find_worker
from rocktune.errors import UserError

Reply = dict[str, Any]
PATIENCE_S = 60.0
"""Far beyond what anything here takes; only a hang runs into it."""


class Worker:
    def __init__(self, command: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.hello = self.read()

    def send_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, command: str, **fields: object) -> None:
        self.send_line(json.dumps({"command": command, **fields}))

    def read(self) -> Reply:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the worker ended without a reply"
        reply: Reply = json.loads(line)
        return reply

    def ask(self, command: str, **fields: object) -> Reply:
        self.send(command, **fields)
        while (reply := self.read())["event"] == "progress":
            pass
        return reply

    def wait(self) -> int:
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        with self.process:
            self.process.kill()


@pytest.fixture(scope="module")
def worker_command() -> tuple[str, ...]:
    try:
        return find_worker()
    except UserError as failure:
        pytest.skip(str(failure))


@pytest.fixture
def worker(worker_command: tuple[str, ...]) -> Iterator[Worker]:
    started = Worker(worker_command)
    yield started
    started.end()


def open_fields(directory: Path, **changes: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "directory": str(directory / "db"),
        "options": {"db": {}, "cf": {"write_buffer_size": "256K"}, "table": {}},
        "workload": {
            "name": "test",
            "keys": 10000,
            "threads": 2,
            "sessions": [{"mix": {"get": 0.5, "put": 0.5}}],
        },
        "device": {"name": "ssd", "bandwidth_bytes_s": 50_000_000},
        "seed": 1,
        "series_interval_s": 0.1,
        "memory_limit_bytes": 0,
        "disk_limit_bytes": 0,
    }
    return fields | changes


def test_a_run_from_open_to_close(worker: Worker, tmp_path: Path) -> None:
    assert worker.hello["event"] == "hello"
    assert worker.ask("open", **open_fields(tmp_path))["event"] == "opened"
    first = worker.ask("advance", until_s=0.2)
    assert worker.ask("park")["resident_bytes"] > 0
    second = worker.ask("advance", until_s=0.3)
    assert (first["from_s"], first["until_s"], second["from_s"], second["until_s"]) == (0.0, 0.2, 0.2, 0.3)
    assert worker.ask("close", keep=False) == {"event": "closed"}
    assert worker.wait() == 0


def test_a_kept_store_can_be_opened_again(
    worker: Worker, worker_command: tuple[str, ...], tmp_path: Path
) -> None:
    fields = open_fields(tmp_path)
    fields["workload"] = {
        "name": "test",
        "keys": 500,
        "preload": {"keys": 500},
        "sessions": [{"mix": {"get": 1.0}}],
    }
    worker.ask("open", **fields)
    assert worker.ask("load")["keys"] == 500
    worker.ask("close", keep=True)
    assert worker.wait() == 0
    again = Worker(worker_command)
    again.ask("open", **fields)
    reads = again.ask("advance", until_s=0.1)["operations"]["get"]
    again.end()
    # A thread may be between the count of a found key and that of its lookup.
    assert 0 < reads["count"] <= reads["found"] <= reads["count"] + 16


@pytest.mark.parametrize("moment", ["idle", "advance"])
def test_ends_with_its_input(worker: Worker, tmp_path: Path, moment: str) -> None:
    worker.ask("open", **open_fields(tmp_path))
    if moment == "advance":
        worker.send("advance", until_s=3600.0)
        assert worker.read()["event"] == "progress"
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.wait() == 0


def test_ends_with_its_parent(worker_command: tuple[str, ...]) -> None:
    # The parent's death leaves the input open, for this test holds its other end too.
    read_end, write_end = os.pipe()
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
            "child.stdout.readline()\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(3600)\n",
            *worker_command,
        ],
        stdin=read_end,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    worker_pid = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + PATIENCE_S
    while _runs(worker_pid):
        assert time.monotonic() < deadline, "the worker outlived its parent"
        time.sleep(0.01)
    os.close(read_end)
    os.close(write_end)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("limit", "status"), [("memory_limit_bytes", "out_of_memory"), ("disk_limit_bytes", "out_of_disk")]
)
def test_reports_an_overrun_in_the_middle_of_a_window(
    worker: Worker, tmp_path: Path, limit: str, status: str
) -> None:
    worker.ask("open", **open_fields(tmp_path, **{limit: 1000}))
    worker.send("advance", until_s=3600.0)
    while (reply := worker.read())["event"] == "progress":
        pass
    assert (reply["event"], reply["status"]) == ("error", status)
    assert worker.wait() == 1


def test_a_full_device_ends_the_run(worker: Worker, tmp_path: Path) -> None:
    worker.ask("open", **open_fields(tmp_path, device={"name": "small", "capacity_bytes": 1_000_000}))
    reply = worker.ask("advance", until_s=3600.0)
    assert (reply["event"], reply["status"]) == ("error", "out_of_disk")
    assert worker.wait() == 1


def test_an_assertion_of_rocksdb_kills_the_worker_alone(worker: Worker, tmp_path: Path) -> None:
    if not worker.hello["assertions"]:
        pytest.skip("this RocksDB was built without assertions")
    # RocksDB cannot make a table cache of 2^25 shards, and asserts that it could.
    worker.send(
        "open",
        **open_fields(tmp_path, options={"db": {"table_cache_numshardbits": "25"}, "cf": {}, "table": {}}),
    )
    assert worker.wait() == -signal.SIGABRT
    assert worker.process.stdout is not None
    assert worker.process.stderr is not None
    assert worker.process.stdout.read() == ""
    assert "Assertion" in worker.process.stderr.read()


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '"close"', '{"command":"fly"}', '{"command":"open"}', "\x00"]
)
def test_refuses_a_malformed_command_in_one_line(worker: Worker, line: str) -> None:
    worker.send_line(line)
    reply = worker.read()
    assert (reply["event"], reply["status"]) == ("error", "invalid")
    assert "\n" not in reply["message"]
    assert worker.wait() == 1


def test_standard_output_carries_the_protocol_alone(worker: Worker, tmp_path: Path) -> None:
    # RocksDB dumps its statistics into its LOG, and nothing it does may reach the protocol's stream.
    options = {"db": {"stats_dump_period_sec": "1", "info_log_level": "DEBUG_LEVEL"}, "cf": {}, "table": {}}
    commands = [
        {"command": "open", **open_fields(tmp_path, options=options)},
        {"command": "advance", "until_s": 1.2},
        {"command": "close", "keep": True},
    ]
    for command in commands:
        worker.send_line(json.dumps(command))
    events: list[str] = []
    while not events or events[-1] != "closed":
        events.append(worker.read()["event"])
    assert [event for event in events if event != "progress"] == ["opened", "measurement", "closed"]
    assert worker.wait() == 0
