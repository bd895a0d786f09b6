"""What the benchmarks share beyond their face: experiments by preset names, and one measured run."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.space import load_space
from rocktune.study.problem import expected_entries
from rocktune.trial import Configuration, Experiment, Measurement
from rocktune.workload import load_workload

WRITE_HEAVY = "dremel-write-heavy"
READ_HEAVY = "dremel-read-heavy"
PRELOADED = "dremel-preloaded"


def experiment_of(workload: str, device: str, scale: int) -> Experiment:
    """Returns the experiment for presets or files by name, in Dremel's space."""
    workload_spec, device_spec = load_workload(workload), load_device(device)
    space = load_space("dremel", None, expected_entries(workload_spec, device_spec))
    return Experiment(workload=workload_spec, device=device_spec, scale=scale, space=space, base_options={})


@contextmanager
def embedded_engine() -> Iterator[EmbeddedEngine]:
    """An engine on a data directory of its own, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        engine = EmbeddedEngine(Path(directory) / "data", memory_limit_bytes=8 << 30, disk_limit_bytes=0)
        try:
            yield engine
        finally:
            engine.close()


def measure(
    engine: EmbeddedEngine,
    experiment: Experiment,
    configuration: Configuration,
    seed: int,
    ages_s: tuple[float, ...],
) -> Measurement:
    """Runs a fresh store to the last of `ages_s`, standing still at each; returns the whole as one window."""
    run = engine.open(experiment, configuration, seed)
    try:
        total = run.advance(ages_s[0])
        for age_s in ages_s[1:]:
            run.park()
            total = total.merged(run.advance(age_s))
        return total
    finally:
        run.close()
