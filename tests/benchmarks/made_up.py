from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rocktune.ledger import TrialRecord
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Status, Trial


def rising(configuration: Configuration) -> float:
    """Larger write buffers are faster, and faster is of lower latency."""
    return 10_000 + float(configuration["write_buffer_size"]) / 2_000


@contextmanager
def synthetic_engine() -> Iterator[SyntheticEngine]:
    """Stands in for `benchmarks.common.measuring.embedded_engine`."""
    yield SyntheticEngine(rising)


def record(batch: int, name: int, age_s: float, measured_s: float, throughput_ops_s: float) -> TrialRecord:
    """A trial of the configuration {x: name}; without throughput it failed."""
    failed = throughput_ops_s == 0
    return TrialRecord(
        phase="search",
        batch=batch,
        index=name,
        trial=Trial(Configuration({"x": name}), age_s),
        status=Status.CRASHED if failed else Status.OK,
        message="it crashed" if failed else "",
        measured_s=measured_s,
        repeated_s=0.0,
        options={},
        measurement=None if failed else synthetic_window(0.0, age_s, throughput_ops_s),
        window=None,
        recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
