import os
import shlex
import subprocess
import sys
import time

import pytest

from rocktune.engine.embedded import machine
from rocktune.engine.embedded.machine import OtherCpuMeter

BUSY = "import time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass"


@pytest.mark.skipif(os.nice(0) > 0, reason="children would be at low priority, too, and not count")
def test_what_other_processes_take_is_counted_and_what_is_our_own_is_not() -> None:
    others = OtherCpuMeter()
    subprocess.run([sys.executable, "-c", BUSY.format(seconds=0.5)], check=True)
    until_s = time.process_time() + 0.5
    while time.process_time() < until_s:
        pass
    counted = others.counted(0.0)
    assert counted["cpu_s"] >= 0.4
    assert counted["available_s"] >= counted["cpu_s"]
    # Whatever else runs here meanwhile, what is said to be the run's is not the others'.
    assert others.counted(1e9)["cpu_s"] == 0.0


KERNEL = "import os, sys\nend = os.times().system + {seconds}\nwhile os.times().system < end: os.stat('/')"


def test_what_the_kernel_does_for_polite_processes_is_known() -> None:
    """A child of a shell that stays, as in a build at low priority."""
    before = machine._polite_now()
    command = (
        f"{shlex.quote(sys.executable)} -c {shlex.quote(KERNEL.format(seconds=0.3))}; echo ended; read line"
    )
    with subprocess.Popen(
        ["nice", "-n", "5", "sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"ended\n"
        ticks = machine._polite_between(before, machine._polite_now())
        shell.communicate(b"\n")
    assert ticks / os.sysconf("SC_CLK_TCK") >= 0.25


def test_processes_that_end_do_not_count_twice() -> None:
    polite = machine._Polite
    then = {1: polite(0, 100), 2: polite(1, 50), 3: polite(9, 70)}
    # 2 ended with 60 ticks, which are now with its parent 1; 3 ended, and its parent is not polite; 4 is new.
    now = {1: polite(0, 165), 4: polite(1, 8)}
    assert machine._polite_between(then, now) == 5 + 10 + 8


def test_polite_work_never_exceeds_what_the_kernel_did(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([
        machine._Moment(busy=100, system=40, available=1000, own_s=0.0, polite={}),
        machine._Moment(busy=160, system=60, available=1100, own_s=0.0, polite={7: machine._Polite(1, 500)}),
    ])  # fmt: skip
    monkeypatch.setattr(machine, "_now", lambda: next(moments))
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    assert OtherCpuMeter().counted(0.0)["cpu_s"] * ticks_per_s == pytest.approx(40)
