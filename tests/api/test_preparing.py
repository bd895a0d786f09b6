"""A request is read once, and then run."""

from typing import Any

import pytest
from tests.api.engines import Engines

from rocktune.api import comparing, requests
from rocktune.cli.main import main
from rocktune.ledger import Ledger


def counting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Counts the calls of a function."""
    calls, function = [], getattr(owner, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return function(*given, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_tuning_resolves_and_creates_the_study_once(
    engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = counting(monkeypatch, requests, "own_options_file")
    creations = counting(monkeypatch, Ledger, "create_study")
    line = "tune --workload dremel-write-heavy --tuner random --scale 1/64 --budget 4s --options-file OPTIONS"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert (len(reads), len(creations)) == (1, 1)


def test_sweeping_resolves_once(engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = counting(monkeypatch, requests, "own_options_file")
    line = "sweep --workload dremel-write-heavy --scale 1/64 --samples 2 --options-file OPTIONS"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert len(reads) == 1


def test_comparing_resolves_once(engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = counting(monkeypatch, comparing, "resolved_study")
    monkeypatch.setattr(comparing, "opened_engine", engines)
    line = "compare --tuners random --settings ycsb-a --scale 1/64 --budget 4s --seeds 1"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert len(reads) == 1
