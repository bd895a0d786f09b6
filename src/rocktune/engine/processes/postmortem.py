"""Interprets the end of a process by its exit status and its last output."""

import re
import signal
from pathlib import Path

from rocktune.engine.base import RunFailed
from rocktune.trial import Status

_MAX_MESSAGE = 500

# Lines that say more than the stack trace or the summary that may follow them, the most telling first.
_CAUSE_LINES = (
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


def cause_line(stderr: str) -> str:
    """Returns the line of a process' standard error that says why it ended, at most 500 characters.

    It is the last line if no line is known to tell more; "" if there is no output.
    """
    # Control characters of a colourful program would disturb the user's terminal.
    lines = ["".join(filter(str.isprintable, line)).strip() for line in stderr.splitlines()]
    lines = [line for line in lines if line]
    for pattern in _CAUSE_LINES:
        for line in reversed(lines):
            if pattern.search(line):
                return line[:_MAX_MESSAGE]
    return lines[-1][:_MAX_MESSAGE] if lines else ""


def death(returncode: int, stderr: str, oom_killed: bool, exited: str) -> RunFailed:
    """Returns the failure that the end of a process stands for.

    Args:
        returncode: the exit status, or minus the signal's number, as in `subprocess`.
        stderr: the process' last standard error.
        oom_killed: True if the kernel killed any process for lack of memory while this one lived.
        exited: the message if the process was not ended by a signal.
    """
    if returncode < 0:
        known = {number.value: number.name for number in signal.Signals}
        end = f"killed by {known.get(-returncode, f'signal {-returncode}')}"
    else:
        end = exited
    last = cause_line(stderr)
    message = f"{end}: {last}" if last else end
    # The kernel does not say which process it killed, so only a SIGKILL in that time is taken for one.
    if returncode == -signal.SIGKILL and oom_killed:
        return RunFailed(Status.OUT_OF_MEMORY, f"{end}, by the kernel for lack of memory")
    causes = (status for pattern, status in _CAUSES if pattern.search(last))
    return RunFailed(next(causes, Status.CRASHED), message)


def oom_kills() -> int:
    """Returns the number of processes that the kernel killed for lack of memory since boot; 0 if unknown."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return 0
    match = re.search(r"^oom_kill (\d+)$", counters, re.MULTILINE)
    return int(match[1]) if match else 0
