import subprocess
import sys
import time

from rocktune.engine.embedded.machine import OtherCpuMeter

BUSY = "import time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass"


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
