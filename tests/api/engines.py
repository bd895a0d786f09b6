"""Engines without stores that the tests of the API open."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rocktune.engine import EngineSpec
from rocktune.testing.own_options import imported_options
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration

OWN = {"db": {"max_background_jobs": "3"}, "cf": {"write_buffer_size": str(40 << 20)}, "table": {}}
OWN_FILE = imported_options(OWN)


SMALL = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2, "prune_attempts": 1}
"""A verification that takes few runs."""

Tune = Callable[..., dict[str, Any]]


def _response(configuration: Configuration) -> float:
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 14)


class Engines:
    """Makes the engines that the API opens."""

    def __init__(self) -> None:
        self.fault: Fault = no_fault
        self.opened: list[SyntheticEngine] = []
        self.specs: list[EngineSpec] = []

    @contextmanager
    def __call__(self, spec: EngineSpec, figures: Sequence[str] = ()) -> Iterator[SyntheticEngine]:
        engine = SyntheticEngine(_response, self.fault, own_noise=0.002)
        engine.version = "RocksDB 7.8.3, assertions on"
        self.opened.append(engine)
        self.specs.append(spec)
        yield engine
        assert not engine.open_runs
