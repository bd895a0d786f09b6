import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.processes import children

from rocktune.engine import RunFailed
from rocktune.engine.processes.process_group import resident_bytes_below, run_command
from rocktune.trial import Status
from rocktune.units import MIB

LONG_S = 60.0


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", text)


def failure_of(command: tuple[str, ...], timeout_s: float = LONG_S, memory_limit_bytes: int = 0) -> RunFailed:
    with pytest.raises(RunFailed) as failure:
        run_command(command, timeout_s, memory_limit_bytes)
    assert "\n" not in failure.value.message
    assert children() == []
    return failure.value


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_command_that_ends_well() -> None:
    text = "import sys; print('figures'); print('notes', file=sys.stderr); print(repr(sys.stdin.read()))"
    finished = run_command(python(text), LONG_S)
    assert (finished.output, finished.errors) == ("figures\n''\n", "notes\n")
    assert 0 < finished.seconds < LONG_S


def test_cpu_time_is_counted() -> None:
    finished = run_command(python("import time\nwhile time.process_time() < 0.2: pass"), LONG_S)
    assert finished.cpu_s >= 0.2


def test_arguments_reach_the_program_as_they_are() -> None:
    arguments = ["a b", "$HOME", "*", "'\"", ";", ""]
    finished = run_command((*python("import sys; print(sys.argv[1:])"), *arguments), LONG_S)
    assert finished.output == f"{arguments}\n"


def test_only_the_end_of_long_output_is_kept() -> None:
    finished = run_command(python("print('x\\n' * 500_000); print('the end')"), LONG_S)
    assert len(finished.output) == 64 << 10
    assert finished.output.endswith("x\n\nthe end\n")


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("import sys; sys.exit(3)", Status.CRASHED, "exit status 3"),
        ("import sys; sys.exit('bad option')", Status.CRASHED, "exit status 1: bad option"),
        ("import os; print('half', flush=True); os.abort()", Status.CRASHED, "killed by SIGABRT: half"),
        ("import os; os.kill(os.getpid(), 9)", Status.CRASHED, "killed by SIGKILL"),
        ("raise MemoryError('std::bad_alloc')", Status.OUT_OF_MEMORY, "std::bad_alloc"),
        ("raise OSError(28, 'No space left on device')", Status.OUT_OF_DISK, "No space left on device"),
    ],
)
def test_a_command_that_ends_badly(text: str, status: Status, message: str) -> None:
    failure = failure_of(python(text))
    assert failure.status is status
    assert message in failure.message


@pytest.mark.parametrize(("program", "problem"), [("/absent", "No such file"), ("/etc", "Permission denied")])
def test_a_program_that_cannot_be_executed(program: str, problem: str) -> None:
    failure = failure_of((program,))
    assert failure.status is Status.CRASHED
    assert failure.message.startswith(f"{program} cannot be executed: {problem}")


def test_a_hang_is_timed_out_with_what_was_said() -> None:
    failure = failure_of(python("import time; print('loading', flush=True); time.sleep(3600)"), timeout_s=3.0)
    assert failure.status is Status.TIMED_OUT
    assert "did not end within 3 s" in failure.message
    assert failure.output == "loading"


def test_memory_counts_for_all_that_was_started() -> None:
    """Each of three processes stays below the limit, all of them together do not."""
    text = (
        "import os, time\n"
        "os.fork(); os.fork()\n"
        "held = bytearray(os.urandom(1)) * (48 << 20)\n"
        "time.sleep(3600)\n"
    )
    failure = failure_of(python(text), memory_limit_bytes=150 * MIB)
    assert failure.status is Status.OUT_OF_MEMORY
    assert "150MiB are allowed" in failure.message


def test_the_peak_of_memory_is_known() -> None:
    held = "held = bytearray(b'x') * (64 << 20)"
    assert run_command(python(held), LONG_S).peak_resident_bytes > 64 * MIB
    assert run_command(python("pass"), LONG_S).peak_resident_bytes < 64 * MIB


_SPAWN = "import subprocess, sys\nsubprocess.Popen(['sleep', '3600'], start_new_session={session})\n"


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("end", ["", "sys.exit(1)", "import os; os.abort()", "import time; time.sleep(3600)"])
def test_nothing_is_left_in_the_background(session: bool, end: str) -> None:
    """Whether it holds the program's output open or not, in its session or another."""
    text = _SPAWN.format(session=session).replace("subprocess.Popen", "child = subprocess.Popen")
    text += f"print(child.pid, flush=True)\n{end}\n"
    try:
        said = run_command(python(text), timeout_s=3.0).output
    except RunFailed as failure:
        said = failure.output
    assert gone(int(said.splitlines()[0]))
    assert children() == []


def test_what_watch_raises_ends_the_command() -> None:
    seen: list[float] = []

    def watch(elapsed_s: float) -> None:
        seen.append(elapsed_s)
        if len(seen) == 3:
            raise RunFailed(Status.OUT_OF_DISK, "full")

    with pytest.raises(RunFailed, match="out_of_disk: full"):
        run_command(python("import time; time.sleep(3600)"), LONG_S, watch=watch)
    assert seen == sorted(seen)
    assert children() == []


def test_an_interrupt_ends_the_command() -> None:
    def watch(elapsed_s: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_command(python("import time; time.sleep(3600)"), LONG_S, watch=watch)
    assert children() == []


def test_a_supervisor_that_is_killed_takes_the_command_along() -> None:
    command_pids: list[int] = []

    def watch(elapsed_s: float) -> None:
        (supervisor,) = children()
        for child in supervisor.children():
            command_pids.append(child.pid)
            os.kill(supervisor.pid, signal.SIGKILL)

    with pytest.raises(RunFailed, match=r"crashed: .* was killed with its supervisor"):
        run_command(python("import time; time.sleep(3600)"), LONG_S, watch=watch)
    assert psutil.wait_procs([psutil.Process(pid) for pid in command_pids[:1] if not gone(pid)], 30)[1] == []


def test_nothing_survives_a_driver_that_is_killed() -> None:
    """The command, its child, and a daemon in a session of its own; all say who they are."""
    inner = (
        "import os, subprocess, time\n"
        "pids = [subprocess.Popen(['sleep', '3600'], start_new_session=own).pid for own in (False, True)]\n"
        "print(os.getpid(), *pids, flush=True)\n"
        "time.sleep(3600)\n"
    )
    driver_text = (
        "import sys\n"
        "from rocktune.engine.processes.process_group import _Group\n"
        "group = _Group(sys.argv[1:], ())\n"
        "while not group.printed():\n"
        "    group._read(1.0)\n"
        "print(group.printed(), flush=True)\n"
        "group.wait(3600.0, 0, None)\n"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", driver_text, *python(inner)], stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    pids = [int(pid) for pid in driver.stdout.readline().split()]
    assert len(pids) == 3
    processes = [psutil.Process(pid) for pid in pids]
    driver.kill()
    driver.wait()
    driver.stdout.close()
    assert psutil.wait_procs(processes, timeout=60)[1] == []


def test_descriptors_are_held_but_not_passed_on(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        text = "import os, time; print(os.listdir('/proc/self/fd'), flush=True); time.sleep(0.5)"
        held: list[bool] = []

        def watch(elapsed_s: float) -> None:
            (supervisor,) = children()
            held.append(any(file.path == lock.name for file in supervisor.open_files()))

        finished = run_command(python(text), LONG_S, watch=watch, inherited_descriptors=(lock.fileno(),))
    assert any(held)
    # The three streams, and the one that lists the directory.
    assert finished.output == "['0', '1', '2', '3']\n"


def test_memory_of_no_descendants() -> None:
    sleeper = subprocess.Popen(["sleep", "3600"])
    try:
        assert resident_bytes_below(sleeper.pid) == 0
        assert resident_bytes_below(os.getpid()) > 0
    finally:
        sleeper.kill()
        sleeper.wait()
