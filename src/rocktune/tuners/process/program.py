"""The program of a process tuner: starting it, asking it in lines, and ending it."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rocktune.errors import UserError
from rocktune.line_pipe import LinePipe, OverlongLineError

_END_TIMEOUT_S = 10.0
_LOOK_EVERY_S = 1.0
"""Time between looks whether a silent program has ended."""
_LAST_LINES = 3
_MAX_SHOWN = 400


@dataclass(frozen=True)
class ProgramSpec:
    """A program that is a tuner.

    Attributes:
        name: name of the tuner for messages.
        command: the program and its arguments; no shell is used.
        answer_s: maximum wall seconds until each answer.
        settings: values of JSON, which are sent to the program.
    """

    name: str
    command: tuple[str, ...]
    answer_s: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """Tuner and command, with which messages begin."""
        return f"tuner '{self.name}' ({' '.join(self.command)})"

    def check(self) -> None:
        """Checks that the program exists; it is not started.

        Raises:
            UserError: it does not.
        """
        if shutil.which(self.command[0]) is None:
            raise UserError(
                f"{self.shown}: there is no program {self.command[0]}; correct the tuner's command"
            )


class Program:
    """A running program. It is in a session of its own, so that Ctrl-C reaches only rocktune.

    A call that raises has ended the program.
    """

    def __init__(self, spec: ProgramSpec) -> None:
        """Starts the program.

        Raises:
            UserError: it cannot be started.
        """
        self._spec, self._killed = spec, False
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                spec.command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as failure:
            raise UserError(f"{spec.shown}: cannot be started: {failure.strerror}") from None
        self._lines = LinePipe(self._process)

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Sends a message and returns the answer, an object of JSON; None if the program ended properly.

        Raises:
            UserError: the program failed, did not answer in time, or did not answer with an object of JSON.
                The message has the last lines of its standard error.
        """
        self._lines.send(json.dumps(message, separators=(",", ":"), allow_nan=False).encode())
        try:
            line = self._received()
        except TimeoutError:
            problem = f"no answer within {self._spec.answer_s:g} s; set answer_s if it needs longer"
            raise self.failure(problem) from None
        except EOFError:
            self._check_end()
            return None
        except OverlongLineError as overlong:
            raise self.failure(f"its answer has no end: {overlong}") from None
        except BaseException:
            self.kill()
            raise
        try:
            document = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self.failure(f"its answer is no object of JSON: {_printable(line)}")
        return document

    def _received(self) -> bytes:
        """Returns the next line; see `LinePipe.receive`.

        Raises:
            EOFError: also if the program has ended and something that it started keeps its output open.
        """
        deadline = time.monotonic() + self._spec.answer_s
        while True:
            # Looked up first, so that all that it wrote before its end is in the pipe.
            ended = self._process.poll() is not None
            try:
                return self._lines.receive(min(deadline, time.monotonic() + _LOOK_EVERY_S))
            except TimeoutError:
                if ended:
                    raise EOFError from None
                if time.monotonic() >= deadline:
                    raise

    def failure(self, problem: str) -> UserError:
        """Kills the program; returns the error with the problem and the last lines of its standard error."""
        self._kill_group()
        # What it wrote before its end is in the pipe.
        self._lines.drain_errors(time.monotonic() + _END_TIMEOUT_S)
        said = [_printable(line) for line in self._lines.errors.encode().splitlines()]
        last = " / ".join([line for line in said if line][-_LAST_LINES:])[-_MAX_SHOWN:]
        self.kill()
        return UserError(f"{self._spec.shown}: {problem}{f'; it last said: {last}' if last else ''}")

    def close(self) -> None:
        """Closes the program's input and gives it 10 s to end. Idempotent; never raises."""
        if not self._killed:
            self._lines.close_input()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_TIMEOUT_S)
            self.kill()

    def kill(self) -> None:
        """Kills the program and what it started. Idempotent; never raises."""
        self._kill_group()
        self._process.wait()
        self._lines.close()

    def _kill_group(self) -> None:
        """Kills the program's process group, once: later its number may be that of other processes."""
        if not self._killed:
            self._killed = True
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _check_end(self) -> None:
        """Waits for the end of a program that has closed its output, and checks that it ended properly.

        Raises:
            UserError: it did not.
        """
        deadline = time.monotonic() + _END_TIMEOUT_S
        if self._process.poll() is None:
            self._lines.drain_errors(deadline)
        try:
            status = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self.failure("closed its output without ending") from None
        if status < 0:
            raise self.failure(f"killed by signal {-status} ({signal.strsignal(-status)})")
        if status > 0:
            raise self.failure(f"ended with exit status {status}")
        if self._lines.unfinished_line:
            raise self.failure(f"ended in the middle of a line: {_printable(self._lines.unfinished_line)}")
        self.kill()


def _printable(line: bytes) -> str:
    """Returns a line as text without control characters, at most 400 characters of it."""
    return "".join(filter(str.isprintable, line.decode(errors="replace"))).strip()[:_MAX_SHOWN]


def _no_constant(name: str) -> NoReturn:
    """Refuses NaN and Infinity, which are not JSON."""
    raise ValueError(name)
