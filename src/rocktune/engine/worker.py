"""Finds, starts, calls and ends `rocktune-worker` processes (docs/design/worker-protocol.md)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.processes.postmortem import death, oom_kills
from rocktune.engine.processes.spawner import start_on_lasting_thread
from rocktune.errors import UserError
from rocktune.line_pipe import LinePipe, OverlongLineError
from rocktune.trial import Status

WORKER_NAME = "rocktune-worker"
WORKER_VARIABLE = "ROCKTUNE_WORKER"
PROTOCOL = 7
"""Version of the protocol. A new field that rocktune needs is a new version, too: without one, an older
worker of another RocksDB is taken, and its answer ends in a KeyError."""
_MEND = f"build it with 'make setup', or set {WORKER_VARIABLE} to its path"

_REPLIES = {
    "check_options": "options",
    "examine_options": "examined",
    "mutable_options": "mutable",
    "try_watched": "watched_tried",
    "measure_device": "device_measured",
    "read_tables": "tables",
    "copy_store": "store_copied",
    "rewrite_store": "store_rewritten",
    "import_trace": "trace_imported",
    "sample_trace": "trace_sampled",
    "open": "opened",
    "load": "loaded",
    "advance": "measurement",
    "set_policy": "policy_set",
    "start_trace": "trace_started",
    "end_trace": "trace_ended",
    "park": "parked",
    "close": "closed",
}
"""The event that answers each command."""
_START_TIMEOUT_S = 60.0
_CLOSE_TIMEOUT_S = 10.0
_DEATH_TIMEOUT_S = 10.0


def find_worker() -> tuple[str, ...]:
    """Returns the command that starts the worker.

    It is $ROCKTUNE_WORKER if set, else `rocktune-worker` in the directory of Python, else on the PATH.

    Raises:
        UserError: no worker is found, or $ROCKTUNE_WORKER is not an executable file.
    """
    named = os.environ.get(WORKER_VARIABLE)
    if named:
        if shutil.which(named) is None:
            raise UserError(f"{WORKER_VARIABLE}: '{named}' is not an executable file")
        return (named,)
    folders = [
        sysconfig.get_path("scripts"),
        str(Path(sys.executable).parent),
        os.environ.get("PATH", os.defpath),
    ]
    found = shutil.which(WORKER_NAME, path=os.pathsep.join(folders))
    if found is None:
        raise UserError(f"{WORKER_NAME} is not installed: {_MEND}")
    return (found,)


def start_worker(command: Sequence[str], inherited_descriptors: Sequence[int] = ()) -> "WorkerProcess":
    """Starts a worker and turns a failure to start into a message for the user.

    Args:
        command: program and arguments.
        inherited_descriptors: open files that the worker keeps open while it lives, such as a lock.

    Raises:
        UserError: the worker does not start (such as for a missing library), or it has another version than
            rocktune. The message says how to mend it.
    """
    try:
        return WorkerProcess(command, inherited_descriptors)
    except RunFailed as failure:
        mend = "build it again with 'make setup'"
        if "shared libraries" in failure.message:
            mend = f"install RocksDB (apt-get install librocksdb-dev) or {mend}"
        raise UserError(f"{command[0]} does not start: {failure.message}; {mend}") from None


class WorkerProcess:
    """One worker process. It is not thread-safe: one caller at a time, from any thread.

    The process has a session of its own, so that Ctrl-C in the terminal reaches only the driver. A request
    that raises has ended the process.

    Attributes:
        hello: the worker's greeting, with its versions (docs/design/worker-protocol.md).
    """

    def __init__(self, command: Sequence[str], inherited_descriptors: Sequence[int] = ()) -> None:
        """Starts a worker and waits for its greeting.

        Args:
            command: program and arguments.
            inherited_descriptors: open files that the worker keeps open while it lives, such as a lock.

        Raises:
            RunFailed: the worker ended or stayed silent for 60 s before its greeting.
            UserError: the program cannot be executed, or it uses another version of the protocol.
        """
        self._oom_kills_before = oom_kills()
        try:
            self._process = start_on_lasting_thread(lambda: _spawn(command, inherited_descriptors))
        except OSError as failure:
            raise UserError(f"{command[0]} cannot be started: {failure.strerror}; {_MEND}") from None
        self._lines = LinePipe(self._process)
        self.hello = self._receive_hello(command[0])

    @property
    def pid(self) -> int:
        """The number of the process, also after its end."""
        return self._process.pid

    @property
    def engine(self) -> str:
        """The linked RocksDB for the record, such as "RocksDB 7.8.3, assertions on"."""
        assertions = "on" if self.hello["assertions"] else "off"
        return f"RocksDB {self.hello['rocksdb_version']}, assertions {assertions}"

    def request(
        self,
        command: str,
        timeout_s: float,
        fields: dict[str, Any] | None = None,
        progress: Progress | None = None,
        renewed: bool = False,
    ) -> dict[str, Any]:
        """Sends a command and waits for its reply.

        Args:
            command: name of a command of the protocol.
            timeout_s: maximum wall seconds until the reply.
            fields: the command's fields; must be values of JSON.
            progress: is called for each progress event before the reply.
            renewed: restart the timeout at each progress event.

        Returns:
            The reply.

        Raises:
            RunFailed: the worker answered with an error, ended, or did not reply in time.
        """
        try:
            self._send({"command": command, **(fields or {})})
            deadline = time.monotonic() + timeout_s
            while True:
                event = self._receive(deadline, f"no answer to '{command}' within {timeout_s:.0f} s")
                if event["event"] == _REPLIES[command]:
                    return event
                self._handle(event, command, progress)
                if renewed:
                    deadline = time.monotonic() + timeout_s
        except BaseException:
            self.kill()
            raise

    def close(self) -> None:
        """Ends the worker without closing its store properly. Idempotent; never raises."""
        if self._process.returncode is None:
            try:
                self.request("close", _CLOSE_TIMEOUT_S, {"keep": False})
            except RunFailed:
                return
            self.kill()

    def close_store(self, timeout_s: float) -> None:
        """Closes the store so that its files can be opened again, and ends the worker.

        Args:
            timeout_s: maximum wall seconds.

        Raises:
            RunFailed: closing failed or took too long.
        """
        self.request("close", timeout_s, {"keep": True})
        self.kill()

    def kill(self) -> None:
        """Kills the worker and its children. Idempotent; never raises."""
        if self._process.returncode is None:
            _kill_group(self._process)
        self._lines.close()

    def _receive_hello(self, program: str) -> dict[str, Any]:
        """Returns the worker's greeting after checking its protocol."""
        try:
            hello = self._receive(time.monotonic() + _START_TIMEOUT_S, "no greeting within 60 s of its start")
            if hello["event"] != "hello":
                raise _nonsense(json.dumps(hello))
        except BaseException:
            self.kill()
            raise
        if hello.get("protocol") != PROTOCOL:
            self.kill()
            raise UserError(
                f"{program} uses protocol {hello.get('protocol')}, but this rocktune uses {PROTOCOL}: "
                "build both again with 'make setup', and a worker in build/rocksdb with 'make rocksdb'"
            )
        return hello

    def _handle(self, event: dict[str, Any], command: str, progress: Progress | None) -> None:
        """Handles an event that is not the reply: progress, an error, or an unexpected one."""
        if event["event"] == "progress":
            if progress is not None:
                progress(str(event["phase"]), float(event["done"]), float(event["total"]))
        elif event["event"] == "error":
            status = event.get("status")
            failed = {str(each): each for each in Status if each is not Status.OK}
            raise RunFailed(failed.get(str(status), Status.CRASHED), str(event.get("message", "")))
        else:
            raise _nonsense(f"{event['event']} to '{command}'")

    def _send(self, command: dict[str, Any]) -> None:
        """Queues a command, which `_receive` writes."""
        self._lines.send(json.dumps(command, separators=(",", ":")).encode())

    def _receive(self, deadline: float, complaint: str) -> dict[str, Any]:
        """Returns the next event. Raises RunFailed with `complaint` if none arrives before `deadline`."""
        try:
            line = self._lines.receive(deadline)
        except TimeoutError:
            raise RunFailed(Status.TIMED_OUT, complaint) from None
        except EOFError:
            raise self._death() from None
        except OverlongLineError as overlong:
            raise _nonsense(str(overlong)) from None
        try:
            event = json.loads(line)
        except ValueError:
            raise _nonsense(line.decode(errors="replace")) from None
        # A broken worker can print JSON that is not an event.
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            raise _nonsense(line.decode(errors="replace"))
        return event

    def _death(self) -> RunFailed:
        """Reads the worker's last output, waits for its end, and returns the failure that it stands for."""
        deadline = time.monotonic() + _DEATH_TIMEOUT_S
        self._lines.drain_errors(deadline)
        try:
            returncode = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return RunFailed(Status.CRASHED, "closed its output without ending")
        exited = f"ended without an answer (exit status {returncode})"
        return death(returncode, self._lines.errors, oom_kills() > self._oom_kills_before, exited)


def _spawn(command: Sequence[str], inherited_descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    """Starts the worker's process in a session of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        # Unbuffered, because we select and read on the descriptors.
        bufsize=0,
        start_new_session=True,
        pass_fds=tuple(inherited_descriptors),
    )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills the worker's process group and waits for the worker's end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
    process.wait()


def _nonsense(text: str) -> RunFailed:
    """Returns the failure of a worker whose answer is not of the protocol."""
    return RunFailed(Status.CRASHED, f"the worker's answer is malformed: {text.strip()[:200]}")
