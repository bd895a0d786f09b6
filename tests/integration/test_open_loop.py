"""An offered rate has no coordinated omission: a store that pauses delays all operations that were due."""

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.space import load_space
from rocktune.study.proving.tail import share_below
from rocktune.trial import Experiment
from rocktune.workload import load_workload

RATE = 2000.0
RUN_S = 2.0
PAUSE_S = 0.8


def test_a_pause_is_in_the_latency_of_all_that_waited(tmp_path: Path, real_worker: tuple[str, ...]) -> None:
    workload = load_workload("ycsb-a").offered(RATE)
    experiment = Experiment(workload, DeviceSpec(name="none"), 512, load_space("dremel", None, 1e7))
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as engine:
        run = engine.open(experiment, experiment.space.default(), seed=1)
        # The store stops as a whole, with all of its threads, as it would in a write stop.
        worker = run._worker._process.pid
        stop = threading.Timer(0.5, os.kill, (worker, signal.SIGSTOP))
        go_on = threading.Timer(0.5 + PAUSE_S, os.kill, (worker, signal.SIGCONT))
        stop.start()
        go_on.start()
        measured = run.advance(RUN_S)
    counts = [pair for kind in measured.raw["operations"].values() for pair in kind["latency_ns"]]
    total = sum(count for _, count in counts)
    late = sum(count for bound_ns, count in counts if bound_ns > 0.1e9)
    # All operations of the pause are measured, not one for each of the 16 threads.
    assert total > 0.9 * RATE * RUN_S
    # Those that were due more than 0.1 s before its end: 0.7 of 2 s. A slow machine only adds to them.
    assert late > 0.25 * total
    assert measured.latency_us(measured.raw["operations"], 100.0) > 0.9e6 * PAUSE_S
    assert share_below(measured, RATE) > 0.2
