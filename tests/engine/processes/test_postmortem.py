import signal
from pathlib import Path

import pytest

from rocktune.engine.processes import postmortem
from rocktune.engine.processes.postmortem import cause_line, death
from rocktune.trial import Status


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("", ""),
        ("first\nlast\n\n", "last"),
        ("db.cc:7: Assertion `n > 0' failed.\n#1 0x7f\n#2 0x80\n", "db.cc:7: Assertion `n > 0' failed."),
        (
            "==1==ERROR: AddressSanitizer: leak\nSUMMARY: AddressSanitizer: 8 bytes\n",
            "SUMMARY: AddressSanitizer: 8 bytes",
        ),
        ("==1==ERROR: AddressSanitizer: SEGV\n==1==ABORTING\n", "==1==ERROR: AddressSanitizer: SEGV"),
        ('Exception in thread "main" x.E: no\n\tat A.main(A.java:7)\n', 'Exception in thread "main" x.E: no'),
        (
            "IO error: No space left on device: While x\ngoodbye\n",
            "IO error: No space left on device: While x",
        ),
        ("\x1b[31mred\x00\n", "[31mred"),
        ("x" * 1000, "x" * 500),
    ],
)
def test_the_line_that_says_why(stderr: str, line: str) -> None:
    assert cause_line(stderr) == line


@pytest.mark.parametrize(
    ("returncode", "stderr", "oom_killed", "status", "message"),
    [
        (-signal.SIGSEGV, "", False, Status.CRASHED, "killed by SIGSEGV"),
        (
            -signal.SIGABRT,
            "Assertion `x' failed.",
            False,
            Status.CRASHED,
            "killed by SIGABRT: Assertion `x' failed.",
        ),
        (-signal.SIGKILL, "", False, Status.CRASHED, "killed by SIGKILL"),
        (
            -signal.SIGKILL,
            "",
            True,
            Status.OUT_OF_MEMORY,
            "killed by SIGKILL, by the kernel for lack of memory",
        ),
        (-signal.SIGSEGV, "", True, Status.CRASHED, "killed by SIGSEGV"),
        (
            -signal.SIGABRT,
            "  what():  std::bad_alloc",
            False,
            Status.OUT_OF_MEMORY,
            "killed by SIGABRT: what():  std::bad_alloc",
        ),
        (-40, "", False, Status.CRASHED, "killed by signal 40"),
        (3, "Corruption: x", False, Status.CRASHED, "ended (3): Corruption: x"),
        (0, "", False, Status.CRASHED, "ended (0)"),
        (
            1,
            "Caused by: java.lang.OutOfMemoryError: Java heap space",
            False,
            Status.OUT_OF_MEMORY,
            "ended (1): Caused by: java.lang.OutOfMemoryError: Java heap space",
        ),
        (
            1,
            "IO error: No space left on device",
            False,
            Status.OUT_OF_DISK,
            "ended (1): IO error: No space left on device",
        ),
    ],
)
def test_what_an_end_means(
    returncode: int, stderr: str, oom_killed: bool, status: Status, message: str
) -> None:
    failure = death(returncode, stderr, oom_killed, exited=f"ended ({returncode})")
    assert (failure.status, failure.message) == (status, message)


def test_the_kernels_count_of_kills_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path: "nr_free 7\noom_kill 42\nother 1\n")
    assert postmortem.oom_kills() == 42
    monkeypatch.setattr(Path, "read_text", lambda path: "nr_free 7\n")
    assert postmortem.oom_kills() == 0
