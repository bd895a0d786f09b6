"""Conversations in lines with another process, over its pipes."""

import os
import selectors
import subprocess
import time
from typing import IO

_KEPT_BYTES = 64 << 10
# Bounds the memory that a broken process can take here by printing without a newline.
_MAX_LINE_BYTES = 64 << 20


class OverlongLineError(Exception):
    """A process printed 64 MiB without a newline; holds the first bytes."""


class OutputTail:
    """Keeps the last 64 KiB of a process' output."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Appends output and drops the oldest bytes beyond 64 KiB."""
        self._bytes += data
        del self._bytes[:-_KEPT_BYTES]

    def text(self) -> str:
        """Returns the kept output as text; bytes that are not UTF-8 are replaced."""
        return self._bytes.decode(errors="replace")


class LinePipe:
    """The three pipes of a process: lines to its input, lines of its output, and the last of its errors.

    Neither side can block the other: what the process does not take yet is written, and its errors are read,
    while we wait for its lines. Not thread-safe.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Takes over the pipes of a process, which was started with all three of them and without buffers."""
        self._stdin, self._stdout, self._stderr = _pipes(process)
        self._outgoing = b""
        self._incoming = bytearray()
        self._errors = OutputTail()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)

    @property
    def errors(self) -> str:
        """The last 64 KiB of the process' standard error, as far as they were read."""
        return self._errors.text()

    @property
    def unfinished_line(self) -> bytes:
        """What the process printed after its last newline, as far as it was read."""
        return bytes(self._incoming)

    def send(self, line: bytes) -> None:
        """Queues a line without its newline; `receive` writes it."""
        if not self._outgoing:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._outgoing += line + b"\n"

    def receive(self, deadline: float) -> bytes:
        """Returns the next line without its newline.

        Args:
            deadline: time of the monotonic clock in seconds. A line that lies in the pipe counts even if the
                deadline is past, as when we were suspended.

        Raises:
            TimeoutError: there is none before the deadline.
            EOFError: the process closed its output.
            OverlongLineError: the line is too long.
        """
        while (end := self._incoming.find(b"\n")) < 0:
            self.wait(deadline)
        line = bytes(self._incoming[:end])
        del self._incoming[: end + 1]
        return line

    def wait(self, deadline: float) -> None:
        """Waits until one of the pipes is ready, then reads and writes what is possible; see `receive`."""
        remaining_s = deadline - time.monotonic()
        ready = {key.fileobj for key, _ in self._selector.select(max(0.0, remaining_s))}
        if remaining_s <= 0 and self._stdout not in ready:
            raise TimeoutError
        if self._stdin in ready:
            self._write()
        if self._stderr in ready:
            self._read_errors()
        if self._stdout in ready:
            self._read_output()

    def drain_errors(self, deadline: float) -> None:
        """Reads standard error until it is closed or the deadline; see `receive`. The output is not read."""
        if self._stdout in self._registered():
            self._selector.unregister(self._stdout)
        while self._stderr in self._registered():
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                break
            self._read_errors()

    def close_input(self) -> None:
        """Closes the process' input, which tells it to end. Nothing may be sent or received afterwards."""
        if self._outgoing:
            self._selector.unregister(self._stdin)
        self._stdin.close()

    def close(self) -> None:
        """Closes all pipes. Idempotent; never raises."""
        self._selector.close()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()

    def _registered(self) -> set[object]:
        """Returns the pipes that are waited for."""
        return {key.fileobj for key in self._selector.get_map().values()}

    def _write(self) -> None:
        """Writes as much of the queued lines as the pipe takes."""
        try:
            written = os.write(self._stdin.fileno(), self._outgoing)
        except BrokenPipeError:
            # The process has died. Dropping the lines lets us read its last output, which says why.
            written = len(self._outgoing)
        self._outgoing = self._outgoing[written:]
        if not self._outgoing:
            self._selector.unregister(self._stdin)

    def _read_output(self) -> None:
        """Reads the process' output."""
        data = os.read(self._stdout.fileno(), 1 << 16)
        if not data:
            raise EOFError
        self._incoming += data
        if len(self._incoming) > _MAX_LINE_BYTES:
            raise OverlongLineError(self._incoming[:80].decode(errors="replace"))

    def _read_errors(self) -> None:
        """Reads the process' standard error into the kept tail."""
        data = os.read(self._stderr.fileno(), 1 << 16)
        if data:
            self._errors.add(data)
        else:
            self._selector.unregister(self._stderr)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Returns a process' pipes, set to non-blocking."""
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None
    for pipe in (stdin, stdout, stderr):
        # Writing to a full pipe must not block while the process waits for us to read its output.
        os.set_blocking(pipe.fileno(), False)
    return stdin, stdout, stderr
