"""Runs a user's program under limits, and ends all processes that it started."""

import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rocktune.engine.base import RunFailed
from rocktune.engine.processes.postmortem import death, oom_kills
from rocktune.line_pipe import OutputTail
from rocktune.trial import Status
from rocktune.units import format_bytes

_LOOK_EVERY_S = 0.1
_END_TIMEOUT_S = 60.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Finished:
    """A command that ended with exit status 0.

    Attributes:
        output: the last 64 KiB of its standard output.
        errors: the last 64 KiB of its standard error.
        peak_resident_bytes: maximum resident bytes of the command and its descendants together, sampled ten
            times a second.
        cpu_s: CPU seconds of the command and of the children that it waited for.
        seconds: wall seconds from its start to its end.
    """

    output: str
    errors: str
    peak_resident_bytes: int
    cpu_s: float
    seconds: float

    @property
    def all_output(self) -> str:
        """The kept output, standard error after standard output."""
        return _joined(self.output, self.errors)


def run_command(
    command: Sequence[str],
    timeout_s: float,
    memory_limit_bytes: int = 0,
    watch: Callable[[float], None] | None = None,
    inherited_descriptors: Sequence[int] = (),
) -> Finished:
    """Runs a command in a session of its own, with empty input, and waits for its end.

    All descendants of the command are killed when it ends or exceeds a limit, or when the caller is
    interrupted or killed. That includes descendants in the background or in another session.

    Args:
        command: program and arguments; no shell is used.
        timeout_s: maximum wall seconds.
        memory_limit_bytes: maximum resident bytes of the command and its descendants together; 0 for no
            limit.
        watch: is called about ten times a second with the seconds since the start. An exception from it ends
            the command and is passed on, so it can raise RunFailed for a limit of its own.
        inherited_descriptors: files that stay open while any process of the command lives, such as a lock.

    Returns:
        The output and the resources of the command.

    Raises:
        RunFailed: `timed_out`; `out_of_memory`; `out_of_disk` if the output says that no space was left; else
            `crashed`, for an exit status other than 0, a signal, or a program that cannot be executed.
    """
    group = _Group(command, inherited_descriptors)
    try:
        group.wait(timeout_s, memory_limit_bytes, watch)
    except RunFailed as failure:
        group.end()
        raise RunFailed(failure.status, failure.message, group.printed()) from None
    finally:
        group.end()
    return group.finished()


class _Group:
    """A running command and its supervisor process (see supervisor.py)."""

    def __init__(self, command: Sequence[str], inherited_descriptors: Sequence[int]) -> None:
        self._program = command[0]
        self._oom_kills_before = oom_kills()
        self._started = time.monotonic()
        self._link, remote = socket.socketpair()
        with remote:
            passed = (remote.fileno(), *inherited_descriptors)
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")),
                 ",".join(map(str, passed)), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=passed,
            )  # fmt: skip
        self._tails = {name: OutputTail() for name in ("output", "errors", "report")}
        self._peak_bytes = 0
        self._seconds: float | None = None
        self._selector = selectors.DefaultSelector()
        for source, name in (
            (self._supervisor.stdout, "output"),
            (self._supervisor.stderr, "errors"),
            (self._link, "report"),
        ):
            assert source is not None
            self._selector.register(source, selectors.EVENT_READ, name)

    def wait(self, timeout_s: float, memory_limit_bytes: int, watch: Callable[[float], None] | None) -> None:
        """Waits for the supervisor's report; raises if the command exceeds a limit. See `run_command`."""
        next_look_s = 0.0
        while self._seconds is None:
            self._read(next_look_s - self._elapsed_s())
            elapsed_s = self._elapsed_s()
            # A driver that was suspended finds the deadline past and the report in the pipe.
            if self._seconds is not None or elapsed_s < next_look_s:
                continue
            if elapsed_s > timeout_s:
                raise RunFailed(Status.TIMED_OUT, f"{self._program} did not end within {timeout_s:g} s")
            self._check_memory(memory_limit_bytes)
            if watch is not None:
                watch(elapsed_s)
            next_look_s = self._elapsed_s() + _LOOK_EVERY_S

    def end(self) -> None:
        """Kills the processes that are left, reads the last output, and waits for the supervisor.

        Idempotent.
        """
        deadline_s = self._elapsed_s() + _END_TIMEOUT_S
        if self._link.fileno() < 0:
            return
        # Closing our end tells the supervisor to kill the command.
        self._link.shutdown(socket.SHUT_WR)
        while self._selector.get_map() and self._elapsed_s() < deadline_s:
            self._read(deadline_s - self._elapsed_s())
        # A process that is stuck in the kernel cannot be killed; we stop waiting for it.
        if self._selector.get_map():
            self._supervisor.kill()
        self._supervisor.wait()
        self._selector.close()
        self._link.close()
        for pipe in (self._supervisor.stdout, self._supervisor.stderr):
            assert pipe is not None
            pipe.close()

    def finished(self) -> Finished:
        """Returns how the command ended; raises RunFailed if it failed."""
        output, errors = self._tails["output"].text(), self._tails["errors"].text()
        match self._tails["report"].text().split():
            case ["error", number, *_]:
                problem = os.strerror(int(number))
                raise RunFailed(Status.CRASHED, f"{self._program} cannot be executed: {problem}")
            case ["exit", "0", resident_kib, cpu_s]:
                peak_bytes = max(self._peak_bytes, int(resident_kib) << 10)
                return Finished(output, errors, peak_bytes, float(cpu_s), self._seconds or 0.0)
            case ["exit", status, *_]:
                # Java programs and scripts often explain their failure on standard output.
                last_output = errors if errors.strip() else output
                ended = f"{self._program} ended with exit status {status}"
                failure = death(int(status), last_output, oom_kills() > self._oom_kills_before, ended)
                raise RunFailed(failure.status, failure.message, self.printed())
        raise RunFailed(Status.CRASHED, f"{self._program} was killed with its supervisor", self.printed())

    def printed(self) -> str:
        """Returns the kept output until now, standard error after standard output."""
        return _joined(self._tails["output"].text(), self._tails["errors"].text())

    def _elapsed_s(self) -> float:
        """Returns the wall seconds since the start."""
        return time.monotonic() - self._started

    def _read(self, timeout_s: float) -> None:
        """Reads from the pipes that have data within `timeout_s`."""
        for key, _ in self._selector.select(max(0.0, timeout_s)):
            source: IO[bytes] | socket.socket = key.fileobj  # type: ignore[assignment]
            data = os.read(source.fileno(), 1 << 16)
            self._tails[key.data].add(data)
            if key.data == "report" and self._seconds is None:
                self._seconds = self._elapsed_s()
            if not data:
                self._selector.unregister(source)

    def _check_memory(self, limit_bytes: int) -> None:
        """Updates the peak memory; raises RunFailed if it is above the limit."""
        held_bytes = resident_bytes_below(self._supervisor.pid)
        self._peak_bytes = max(self._peak_bytes, held_bytes)
        if limit_bytes and held_bytes > limit_bytes:
            raise RunFailed(
                Status.OUT_OF_MEMORY,
                f"{self._program} and what it started hold {format_bytes(held_bytes)} of memory; "
                f"{format_bytes(limit_bytes)} are allowed",
            )


def _joined(output: str, errors: str) -> str:
    """Returns standard output and standard error as one text."""
    return "\n".join(text.rstrip() for text in (output, errors) if text.strip())


def resident_bytes_below(ancestor: int) -> int:
    """Returns the resident bytes of all descendants of a process. Shared pages count for each of them."""
    children: dict[int, list[int]] = {}
    resident_bytes: dict[int, int] = {}
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                # A process may end between the listing and the reading of its file.
                with suppress(OSError):
                    # The program's name in parentheses may contain spaces, so fields are counted after it.
                    stat = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                    children.setdefault(int(stat[1]), []).append(int(entry.name))
                    resident_bytes[int(entry.name)] = int(stat[21]) * _PAGE_BYTES
    total, waiting = 0, list(children.get(ancestor, []))
    while waiting:
        pid = waiting.pop()
        total += resident_bytes[pid]
        waiting += children.get(pid, [])
    return total
