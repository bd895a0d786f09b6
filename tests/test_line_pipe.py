import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocktune import line_pipe
from rocktune.line_pipe import LinePipe, OutputTail, OverlongLineError


@contextmanager
def piped(code: str) -> Iterator[LinePipe]:
    command = [sys.executable, "-I", "-c", f"import sys, time; {code}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        lines = LinePipe(process)
        try:
            yield lines
        finally:
            process.kill()
            lines.close()


def soon() -> float:
    return time.monotonic() + 60


def test_lines_larger_than_a_pipe_go_both_ways_while_errors_pile_up() -> None:
    echo = (
        "sys.stderr.write('e' * 300000); [sys.stdout.write(line) or sys.stdout.flush() for line in sys.stdin]"
    )
    with piped(echo) as lines:
        sent = [b"x" * 400_000, b"y" * 400_000]
        for line in sent:  # the second is queued behind the first
            lines.send(line)
        assert [lines.receive(soon()) for _ in sent] == sent
        assert set(lines.errors) == {"e"}


def test_silence_ends_at_the_deadline_and_a_line_in_the_pipe_counts_after_it() -> None:
    with piped("print(sys.stdin.readline(), flush=True); time.sleep(60)") as lines:
        with pytest.raises(TimeoutError):
            lines.receive(time.monotonic())
        lines.send(b"late")
        lines.wait(soon())
        while not lines._selector.select(0.1):
            pass
        assert lines.receive(time.monotonic() - 100) == b"late"


def test_the_end_leaves_the_unfinished_line_and_the_errors() -> None:
    with piped("print('half', end=''); sys.exit('because')") as lines:
        with pytest.raises(EOFError):
            lines.receive(soon())
        assert lines.unfinished_line == b"half"
        lines.drain_errors(soon())
        assert lines.errors == "because\n"
        lines.drain_errors(soon())


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_pipe, "_MAX_LINE_BYTES", 1000)
    with piped("sys.stdout.write('a' * 10000)") as lines, pytest.raises(OverlongLineError, match=r"^a{80}$"):
        lines.receive(soon())


def test_only_the_end_of_a_long_output_is_kept() -> None:
    tail = OutputTail()
    for _ in range(100):
        tail.add(b"a" * 4096)
    tail.add(b"\nthe end \xff\n")
    assert len(tail.text()) <= 64 << 10
    assert tail.text().endswith("a\nthe end �\n")
