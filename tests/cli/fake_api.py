"""Stands for the API where the commands alone are tested."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.report import sample

from rocktune.report.governed import GOVERNED_LABELS

ESTIMATE = {
    "study": "s",
    "min_total_s": 70.0,
    "total_s": 112.0,
    "commands": [],
    "disk_bytes": 3 << 30,
    "memory_bytes": 1 << 30,
}

RUN = {
    "workload": "w",
    "device": "d",
    "scale": "1/32",
    "seconds": 3.75,
    "engine": "RocksDB 7.8.3",
    "runs": [
        {
            "status": "ok",
            "message": "",
            "figures": {"throughput_ops_s": 51_234.5, "scan_latency_us_p99": math.nan},
            "output": "",
        },
        {"status": "crashed", "message": "signal 6", "figures": {}, "output": "last words"},
    ],
}

GOVERNED = {
    **dict.fromkeys(GOVERNED_LABELS, math.nan),
    "mode": "toggle",
    "workload": "sine",
    "device": "d",
    "scale": "1/16",
    "level_bytes": [1 << 20, 0],
    "report": Path("governed/report.html"),
}


class FakeApi:
    """Stands for `rocktune.api`: keeps what it was called with, and answers with the sample study."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self.failure: BaseException | None = None
        self.failing = ""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            self.calls[name] = (positional, {key: value for key, value in named.items() if value is not None})
            if self.failure is not None and self.failing in ("", name):
                raise self.failure
            if "observer" in named:
                named["observer"].phase_started("baseline", 1.0)
            return self._answer(name)

        return call

    def _answer(self, name: str) -> Any:
        outcome = sample.outcome()
        if name == "prepare":
            return FakePrepared(self)
        answers: dict[str, Any] = {
            "estimate": ESTIMATE,
            "tune": outcome,
            "verify": outcome,
            "resume": outcome,
            "run": RUN,
            "studies": [{"study": "s", "state": "finished", "created_at": datetime(2026, 3, 4, tzinfo=UTC)}],
            "show": {"study": "s", "state": "search", "outcome": None},
            "delete": None,
            "clean": {"removed_bytes": 1 << 20},
            "report": Path("/out/report.html"),
            "export": "# head\n[Version]\n",
            "estimate_govern": ESTIMATE | {"scale": "1/16"},
            "govern": GOVERNED,
            "doctor": [{"check": "RocksDB", "ok": True, "detail": "7.8.3"}],
        }
        return answers.get(name, {"first": "one line", "second": "another"})


class FakePrepared:
    """A study that the fake API prepared."""

    def __init__(self, api: FakeApi) -> None:
        self._api = api

    def estimate(self) -> Any:
        return self._api.estimate()

    def run(self, **named: Any) -> Any:
        return self._api.tune(**named)
