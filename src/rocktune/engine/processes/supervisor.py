"""Runs one command and, when that has ended, kills all processes that it left behind.

It is a program of its own, so that it outlives a driver that is killed. Orphans of the command become its
children (PR_SET_CHILD_SUBREAPER), even in another session. It uses only Python's standard library.

    python supervisor.py LINK[,DESCRIPTOR...] PROGRAM [ARGUMENT...]

LINK is a connected stream socket. The supervisor writes one line to it: "exit STATUS RESIDENT_KIB CPU_S",
or "error ERRNO" if the program cannot be executed. A negative STATUS is the number of a signal. If the
other end of LINK is closed, it kills the command at once. It exits when no process of the command is left.
The other DESCRIPTORs stay open until then, and the command does not inherit them.
"""

import ctypes
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Runs and reports the command in the program's arguments."""
    descriptors, *command = sys.argv[1:]
    own_descriptors = [int(each) for each in descriptors.split(",")]
    for descriptor in own_descriptors:
        os.set_inheritable(descriptor, False)
    link = socket.socket(fileno=own_descriptors[0])
    child_ended, wake_up = os.pipe()
    os.set_blocking(wake_up, False)
    # A pipe for select: a child that ends just before the call would go unnoticed otherwise.
    signal.set_wakeup_fd(wake_up)
    # Python writes to the pipe only for signals that have a handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own, child = os.getpid(), os.fork()
    if child == 0:
        _execute(command, link, libc, own)
    sources: list[int | socket.socket] = [child_ended, link]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if child_ended in ready:
            os.read(child_ended, 4096)
            report = _reap(child)
            if report is not None:
                with suppress(BrokenPipeError):
                    link.sendall(report)
                break
        if link in ready:
            break
    _end_children(child)


def _execute(command: list[str], link: socket.socket, libc: ctypes.CDLL, supervisor: int) -> None:
    """Executes the command in this process, as the leader of a new session; never returns."""
    os.setsid()
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The supervisor may have died before prctl; the signal would then never come.
    if os.getppid() != supervisor:
        os._exit(127)
    # Python ignores these signals, and exec keeps ignored signals ignored.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as failure:
        link.sendall(f"error {failure.errno}\n".encode())
    finally:
        os._exit(127)


def _reap(child: int) -> bytes | None:
    """Reaps the children that have ended; returns the report line if the command is one of them."""
    report = None
    with suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                cpu_s = usage.ru_utime + usage.ru_stime
                report = f"exit {os.waitstatus_to_exitcode(status)} {usage.ru_maxrss} {cpu_s:.6f}\n".encode()
    return report


def _end_children(session: int) -> None:
    """Kills and reaps until no child is left.

    The children of a killed process become our own, so it repeats.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for pid in _children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _children() -> list[int]:
    """Returns the process ids of this process' children."""
    own, found = os.getpid(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # The program's name in parentheses may contain spaces, so fields are counted after it.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if int(fields[1]) == own:
                    found.append(int(entry.name))
    return found


if __name__ == "__main__":
    main()
