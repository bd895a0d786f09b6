"""Small studies on a synthetic engine, which the tests of studies share."""

from collections.abc import Callable
from typing import Any

from rocktune.ledger import Ledger
from rocktune.study import (
    Observer,
    StudySpec,
    run_study,
    verify_study,
)
from rocktune.study.specs.resolving import resolve
from rocktune.study.specs.study_file import make_request
from rocktune.testing.dying import Died
from rocktune.testing.own_options import imported_options
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration, OptionMaps, Result, Trial

SMALL = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2}


TIMES = ("opening", "loading", "other", "total", "repeated")


class Recorder(Observer):
    """Counts trials, and may die when some number of them have been recorded."""

    def __init__(self, dies_after: int | None = None) -> None:
        self.phases: list[str] = []
        self.finished: list[Result] = []
        self.ratios: list[float | None] = []
        self.notes: list[str] = []
        self._dies_after = dies_after

    def phase_started(self, name: str, total_s: float | None) -> None:
        self.phases.append(name)

    def trial_finished(self, result: Result) -> None:
        self.finished.append(result)
        if len(self.finished) == self._dies_after:
            raise Died

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:
        self.ratios.append(ratio)

    def note(self, text: str) -> None:
        self.notes.append(text)


def spec_of(
    budget_s: float = 1.875 * 4,
    tuner: str = "random",
    base_options: OptionMaps | None = None,
    verification: dict[str, Any] = SMALL,
    seed: int = 3,
    **given: Any,
) -> StudySpec:
    request = make_request(
        {
            "workload": "dremel-write-heavy",
            "device": "ssd-100mb",
            "tuner": tuner,
            "scale": "1/64",
            "seed": seed,
            "protocol": "short",
        }
        | {"budget": budget_s, "verification": verification}
        | given
    )
    file = None if base_options is None else imported_options(base_options)
    return resolve(request, "study", lambda _loaded: file)


def run(*given: Any) -> dict[str, Any]:
    """The outcome as the ledger has it."""
    return run_study(*given).to_json()


def verify(*given: Any) -> dict[str, Any]:
    return verify_study(*given).to_json()


def response(configuration: Configuration) -> float:
    """Large write buffers make it fast; nothing else matters. Bare RocksDB is slow."""
    if not configuration:
        return 10_000
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 15)


def engine_of(
    fault: Fault = no_fault, response: Callable[[Configuration], float] = response
) -> SyntheticEngine:
    return SyntheticEngine(response, fault, own_noise=0.002)


def timeless(outcome: dict[str, Any]) -> dict[str, Any]:
    seconds = {name: value for name, value in outcome["seconds"].items() if name not in TIMES}
    return outcome | {"seconds": seconds, "ledger": ""}


def recorded_keys(ledger: Ledger) -> list[tuple[Trial, float]]:
    return [(record.trial, record.measured_s) for record in ledger.trials(ledger.study("study"))]
