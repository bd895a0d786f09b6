from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.engines import OWN_FILE, SMALL, Engines

from rocktune import api
from rocktune.api import requests, running, scaling, sweeping, tuning


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Engines:
    engines = Engines()
    for module in (tuning, sweeping, scaling, running):
        monkeypatch.setattr(module, "opened_engine", engines)
    monkeypatch.setattr(
        requests,
        "own_options_file",
        lambda path, *_: OWN_FILE if path else None,
    )
    monkeypatch.chdir(tmp_path)
    return engines


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.sqlite")


@pytest.fixture
def tune(engines: Engines, ledger: str) -> Callable[..., dict[str, Any]]:
    def tune(**given: Any) -> dict[str, Any]:
        settings = {"workload": "dremel-write-heavy", "tuner": "random", "scale": "1/64", "budget": "4s"}
        settings |= {"ledger": ledger, "study": "mine", "verification": SMALL} | given
        return api.tune(**settings).to_json()  # type: ignore[arg-type]

    return tune
