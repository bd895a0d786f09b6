import subprocess
import sys
import threading

import pytest

from rocktune.engine.processes.spawner import start_on_lasting_thread

INTERRUPTED = (
    "import threading\n"
    "from rocktune.engine.processes.spawner import start_on_lasting_thread\n"
    "start = threading.Thread.start\n"
    "def interrupted(thread):\n"
    "    start(thread)\n"
    "    raise KeyboardInterrupt\n"
    "threading.Thread.start = interrupted\n"
    "try:\n"
    "    start_on_lasting_thread(lambda: 1)\n"
    "except KeyboardInterrupt:\n"
    "    print('interrupted')\n"
    "threading.Thread.start = start\n"
    "if TWICE:\n"
    "    print(start_on_lasting_thread(lambda: 2))\n"
)


def test_all_callers_share_a_thread_that_outlives_theirs() -> None:
    names: list[str] = []
    for _ in range(2):
        caller = threading.Thread(
            target=lambda: names.append(start_on_lasting_thread(lambda: threading.current_thread().name))
        )
        caller.start()
        caller.join()
    assert names == ["rocktune-spawner"] * 2
    assert "rocktune-spawner" in [thread.name for thread in threading.enumerate()]


def test_failures_reach_the_caller_and_the_thread_goes_on() -> None:
    def fail() -> None:
        raise FileNotFoundError("nowhere")

    with pytest.raises(FileNotFoundError, match="nowhere"):
        start_on_lasting_thread(fail)
    assert start_on_lasting_thread(lambda: 7) == 7


@pytest.mark.parametrize(("twice", "printed"), [(False, "interrupted\n"), (True, "interrupted\n2\n")])
def test_an_interrupt_while_the_thread_starts_does_no_harm(twice: bool, printed: str) -> None:
    program = INTERRUPTED.replace("TWICE", str(twice))
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert ended.stdout == printed
