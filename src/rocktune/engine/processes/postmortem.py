"""What a process's end means: its exit status and the last that it said."""

import re
import signal
from pathlib import Path

from rocktune.engine.base import RunFailed
from rocktune.trial import Status

_KEPT_BYTES = 64 << 10
_MAX_MESSAGE = 500

# What says more than the stack trace or the summary of counts that may follow it, the best first.
_TELLING_LINES = (
    re.compile(r"Assertion .* failed"),
    re.compile(r"SUMMARY: \w+Sanitizer"),
    re.compile(r"ERROR: \w+Sanitizer"),
    re.compile(r"std::bad_alloc|\bOutOfMemoryError\b"),
    re.compile(r"No space left on device"),
    re.compile(r"^Exception in thread "),
)
_CAUSES = (
    (re.compile(r"std::bad_alloc|\bOutOfMemoryError\b"), Status.OUT_OF_MEMORY),
    (re.compile(r"No space left on device"), Status.OUT_OF_DISK),
)


class OutputTail:
    """The last 64 KiB that a process wrote."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Adds what the process wrote."""
        self._bytes += data
        del self._bytes[:-_KEPT_BYTES]

    def text(self) -> str:
        """Returns the tail as text; bytes that are no UTF-8 are replaced."""
        return self._bytes.decode(errors="replace")


def telling_line(stderr: str) -> str:
    """Returns the one line of a process's standard error that says why it ended, "" if there is none."""
    lines = ["".join(filter(str.isprintable, line)).strip() for line in stderr.splitlines()]
    lines = [line for line in lines if line]
    for pattern in _TELLING_LINES:
        for line in reversed(lines):
            if pattern.search(line):
                return line[:_MAX_MESSAGE]
    return lines[-1][:_MAX_MESSAGE] if lines else ""


def death(returncode: int, stderr: str, oom_killed: bool, exited: str) -> RunFailed:
    """Returns the failure that the end of a process stands for.

    Args:
        returncode: as `subprocess` has it: below 0 for a signal.
        stderr: the last that it wrote to standard error.
        oom_killed: the kernel killed some process for memory while this one lived.
        exited: says that it ended of its own, with its exit status.
    """
    if returncode < 0:
        known = {number.value: number.name for number in signal.Signals}
        end = f"killed by {known.get(-returncode, f'signal {-returncode}')}"
    else:
        end = exited
    last = telling_line(stderr)
    message = f"{end}: {last}" if last else end
    if returncode == -signal.SIGKILL and oom_killed:
        return RunFailed(Status.OUT_OF_MEMORY, f"{end}, by the kernel for want of memory")
    causes = (status for pattern, status in _CAUSES if pattern.search(last))
    return RunFailed(next(causes, Status.CRASHED), message)


def oom_kills() -> int:
    """Returns how many processes the kernel has killed for want of memory since it booted (0 if unknown)."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return 0
    match = re.search(r"^oom_kill (\d+)$", counters, re.MULTILINE)
    return int(match[1]) if match else 0
