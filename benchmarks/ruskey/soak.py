"""Hours of serving a changing workload with a store that learns: does anything grow or stall?"""

import random
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.common.claims import Claim, Settings, decided, exactly, main, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from rocktune.online import AdaptiveStore
from rocktune.online.control import Controller, Decision, Greedy, Mission

SOURCE = "serving for hours"
KEYS = 100_000
VALUE = bytes(200)
OPTIONS = {
    "cf": {"write_buffer_size": str(1 << 20), "target_file_size_base": str(4 << 20)},
    "table": {"block_cache": str(8 << 20)},
}
LOOKUPS = (0.1, 0.3, 0.5, 0.7, 0.9)
SESSION_S = (20.0, 120.0)
SAMPLE_S = 5.0
MISSION_OPERATIONS = 5_000
BATCH = 200
"""Operations, after which the client waits until the next ones are due."""
MAX_GROWTH = 1.2
MAX_STALL_S = 1.0
MIN_MISSIONS = 10_000


class Slowest:
    """The latency of the slowest operation of a period."""

    def __init__(self) -> None:
        """Creates it without operations."""
        self._lock = threading.Lock()
        self._seconds = 0.0

    def saw(self, seconds: float) -> None:
        """Adds the time of an operation in seconds."""
        if seconds > self._seconds:
            with self._lock:
                self._seconds = max(self._seconds, seconds)

    def take(self) -> float:
        """Returns the slowest time since the last call."""
        with self._lock:
            seconds, self._seconds = self._seconds, 0.0
        return seconds


class Quick:
    """A controller for smoke runs, which have no PyTorch."""

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        return Greedy(0.4, 0.6).decide(mission)


def soak(settings: Settings) -> list[Claim]:
    """Serves `--rate` operations per second for `--minutes`.

    Observes memory, threads, files and the slowest operation.
    """
    minutes = 0.1 if settings.quick else float(settings.extra["minutes"])
    controller: Controller | None = Quick() if settings.quick else None
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "db"
        operations = 200 if settings.quick else MISSION_OPERATIONS
        with AdaptiveStore(
            path, controller=controller, mission_operations=operations, options=OPTIONS
        ) as store:
            rows = _served(store, path, minutes * 60, settings)
            problem = store.problem
    if settings.out is not None:
        write_csv(settings.out / "samples.csv", rows)
        _figure(settings, rows)
    return _claims(rows, problem)


def _served(store: AdaptiveStore, path: Path, seconds: float, settings: Settings) -> list[dict[str, Any]]:
    drawn, slowest = random.Random(settings.seed), Slowest()
    begun = time.monotonic()
    ends, lookups, sampled, due = 0.0, 0.5, -SAMPLE_S, 0.0
    rows: list[dict[str, Any]] = []
    while (now := time.monotonic() - begun) < seconds:
        if now >= ends:
            ends, lookups = now + drawn.uniform(*SESSION_S), drawn.choice(LOOKUPS)
        if now >= sampled + min(SAMPLE_S, seconds / 20):
            sampled = now
            rows.append(_sample(store, path, now, lookups, slowest))
            if len(rows) % 120 == 0:
                settings.say(f"{now:.0f} of {seconds:.0f} s, {store.missions} missions")
        due = max(now, due) + BATCH / float(settings.extra["rate"])
        for _ in range(BATCH):
            key = b"%012d" % drawn.randrange(KEYS)
            started = time.perf_counter()
            if drawn.random() < lookups:
                store.get(key)
            else:
                store.put(key, VALUE)
            slowest.saw(time.perf_counter() - started)
        time.sleep(max(0.0, due - (time.monotonic() - begun)))
    return rows


def _sample(store: AdaptiveStore, path: Path, now: float, lookups: float, slowest: Slowest) -> dict[str, Any]:
    process = psutil.Process()
    return {
        "seconds": round(now, 1),
        "lookups": lookups,
        "missions": store.missions,
        "resident_mb": round(process.memory_info().rss / 1e6, 1),
        "threads": process.num_threads(),
        "open_files": process.num_fds(),
        "files": sum(1 for _ in path.iterdir()),
        "slowest_s": round(slowest.take(), 4),
        "policies": " ".join(str(level.policy) for level in store.shape().levels[:4]),
    }


def _claims(rows: list[dict[str, Any]], problem: str) -> list[Claim]:
    tenth = max(1, len(rows) // 10)

    def claim(name: str, unit: str, value: float) -> Claim:
        return reported(name, SOURCE, unit, exactly(value), engine="RocksDB in process", device="none")

    claims = []
    for name in ("resident_mb", "threads", "open_files", "files"):
        early = max(row[name] for row in rows[tenth : 2 * tenth])
        late = max(row[name] for row in rows[-tenth:])
        grown = claim(f"growth_of_{name}", "largest in the last tenth over that in the second", late / early)
        claims.append(decided(grown, high=MAX_GROWTH))
    problems = decided(claim("problems", "problems of learning", float(bool(problem))), high=0)
    stall = claim("slowest_operation", "s", max(row["slowest_s"] for row in rows))
    return [
        *claims,
        decided(stall, high=MAX_STALL_S),
        decided(claim("missions", "missions", float(rows[-1]["missions"])), low=MIN_MISSIONS),
        replace(problems, why=problem),
    ]


def _figure(settings: Settings, rows: list[dict[str, Any]]) -> None:
    minutes = [row["seconds"] / 60 for row in rows]
    panels = [
        Panel(title, "minutes", unit, [lines(name, minutes, [row[name] for row in rows])])
        for name, title, unit in (
            ("resident_mb", "memory", "MB"),
            ("files", "files of the store", "files"),
            ("slowest_s", "slowest operation of five seconds", "s"),
            ("lookups", "share of lookups", "share"),
        )
    ]
    first = [float(np.float64(row["policies"].split()[0])) for row in rows]
    panels.append(Panel("policy of level 1", "minutes", "K", [lines("K", minutes, first)]))
    write_figure(settings, "Hours of serving", panels)


if __name__ == "__main__":
    main("ruskey.soak", soak, scale=1, quick_scale=1, extra={"minutes": 120.0, "rate": 10_000.0})
