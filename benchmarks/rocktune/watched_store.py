"""A watch of a store under load: no change for an hour, shifts of its workload, and a bad recommendation.

A program serves a store with an OptionsWatcher on a throttled device. `rocktune profile` and `rocktune tune`
make the study whose settings a process of `rocktune watch --apply` repeats. The store begins with options for
writes: large memtables and a small block cache.
"""

import math
import os
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from benchmarks.common.claims import Claim, Settings, main
from benchmarks.common.tables import write_csv
from benchmarks.common.watched import ServedStore, Watch, environment, journal_of, served, succeed, watching
from benchmarks.rocktune.watched_journal import (
    Seen,
    Study,
    claims_of,
    has_ended,
    seen_in,
    steps_of,
    study_of,
)
from rocktune import api
from rocktune.api import watching as watch_module
from rocktune.deploy.watch import Phase, Row, rows_of
from rocktune.engine import OptionsChecker, find_worker
from rocktune.units import MIB

STUDY = "watched"
STORE = {
    "options": "write_buffer_size=16M;max_write_buffer_number=4;compression=kNoCompression;"
    "max_bytes_for_level_base=64M;target_file_size_base=16M",
    "cache_bytes": 16 * MIB,
    "keys": 150_000,
    "value_bytes": 1000,
    "threads": 4,
}
"""The served store: 150 MB, with 80 MiB of memory, of which the memtables take 64."""
SPACE = """base = "full"
[knobs.write_buffer_size]
low = "1MiB"
high = "32MiB"
default = "4MiB"
[knobs.max_write_buffer_number]
low = 2
high = 4
default = 4
[knobs.max_bytes_for_level_base]
low = "8MiB"
high = "128MiB"
default = "64MiB"
[knobs.target_file_size_base]
low = "2MiB"
high = "16MiB"
default = "16MiB"
"""
"""The space `full` with bounds for a store of this size."""
WRITES, READS, MIXED = 0.1, 0.9, 0.5
"""Shares of lookups before the first shift, behind it, and behind the third; the second shift is back."""
SHIFTS = {"turned": READS, "back": WRITES, "third": MIXED}
BAD = """[Version]
[DBOptions]
delayed_write_rate=65536
[CFOptions "default"]
write_buffer_size=65536
arena_block_size=16384
level0_file_num_compaction_trigger=1
level0_slowdown_writes_trigger=1
"""
"""Options that delay nearly all writes."""


@dataclass(frozen=True)
class Pace:
    """How fast the store is, and how long the parts of the benchmark take.

    Attributes:
        bandwidth_bytes_s: bytes per second of the device, which set the pace of store and models.
        operations_s: operations per second that the store is asked for.
        dump_s: length of the store's intervals in seconds; each has to have 1,000 operations.
        minutes: minutes without a change of the load, behind the learning of the first workload.
        scale: S of the study whose settings the watch repeats.
        tuner: its tuner.
        budget: time of measuring of each search.
        ablation_pairs: pairs of runs for each option of a winner; 0 keeps all of its options.
        patience_s: seconds after which a part ends as it is.
        shifts: number of shifts, from 2 to 3.
        others: share of the processors that other programs may use during a run of a study.
    """

    bandwidth_bytes_s: int
    operations_s: int
    dump_s: int
    minutes: float
    scale: int
    tuner: str
    budget: str
    ablation_pairs: int
    patience_s: float
    shifts: int
    others: float

    @property
    def store(self) -> dict[str, Any]:
        """The settings of the served store."""
        return STORE | {"bandwidth_bytes_s": self.bandwidth_bytes_s, "dump_s": self.dump_s}


def watched_store(settings: Settings) -> list[Claim]:
    """Watches a store through an hour without a change, three shifts of its load, and a bad recommendation.

    `--minutes` is the time without a change, `--dump` the seconds of an interval, `--bandwidth` the MiB/s of
    the device, `--rate` the store's operations per second. `--scale`, `--tuner`, `--budget` and `--ablation`
    (pairs) are those of the studies. A part ends as it is after `--patience` minutes. `--shifts 2` leaves out
    the third load. `--others` is the share of the processors that other programs may use in the studies.
    """
    pace = _pace(settings)
    with tempfile.TemporaryDirectory(prefix="rocktune-watched-") as name:
        folder = Path(name)
        parts, failed, studies = _shifted(folder / "shifts", pace, settings)
        bad, failed_then = _planted(folder / "bad", folder / "shifts", pace)
    settings.say(f"bad: {steps_of(bad)}")
    if settings.out is not None:
        write_csv(settings.out / "journal.csv", [
            {"part": part, "at": row.at, "step": row.event, "text": row.text, **seen_in(row)}
            for part, rows in (parts | {"bad": bad}).items() for row in rows
        ])  # fmt: skip
    with closing(OptionsChecker(find_worker())) as checker:
        engine = f"RocksDB {checker.linked().version}"
    return claims_of(
        Seen(parts, bad, failed + failed_then, studies), engine, f"{pace.bandwidth_bytes_s // MIB} MiB/s"
    )


def _pace(settings: Settings) -> Pace:
    if settings.quick:
        return Pace(20 * MIB, 1500, 1, 0.1, settings.scale, "random", "6s", 0, 600, 2, 0.9)
    extra = settings.extra
    return Pace(
        bandwidth_bytes_s=int(extra["bandwidth"]) * MIB,
        operations_s=int(extra["rate"]),
        dump_s=int(extra["dump"]),
        minutes=float(extra["minutes"]),
        scale=settings.scale,
        tuner=str(extra["tuner"]),
        budget=str(extra["budget"]),
        ablation_pairs=int(extra["ablation"]),
        patience_s=60 * float(extra["patience"]),
        shifts=int(extra["shifts"]),
        others=float(extra["others"]),
    )


def _shifted(
    folder: Path, pace: Pace, settings: Settings
) -> tuple[dict[str, list[Row]], int, dict[str, Study]]:
    """Watches a store whose load shifts; returns the journal's rows by part, failures, and the studies."""
    folder.mkdir()
    parts = {}
    with served(folder / "store", pace.store, pace.operations_s, WRITES) as store:
        store.wait_for_dumps(4)
        _first_study(folder, store, pace)
        settings.say("the study whose settings count is finished")
        arguments = ("--interval", f"{pace.dump_s}s", "--budget", pace.budget)
        with watching(store, STUDY, arguments, folder) as watch:
            parts["still"] = _still(watch, pace)
            settings.say(f"still: {steps_of(parts['still'])}")
            for name, reads in list(SHIFTS.items())[: pace.shifts]:
                store.turn(reads)
                parts[name] = watch.wait(has_ended, sum(map(len, parts.values())), pace.patience_s)
                settings.say(f"{name}: {steps_of(parts[name])}")
        _, failed = store.end()
    names = {name: study_of(rows) for name, rows in parts.items()}
    with mock.patch.dict(os.environ, environment(folder)):
        studies = {name: Study.recorded(study) for name, study in names.items() if study}
    return parts, failed, studies


def _first_study(folder: Path, store: ServedStore, pace: Pace) -> None:
    """Makes and runs the study whose settings the watch repeats, as docs/watch.md says."""
    (folder / "device.toml").write_text(f"bandwidth_bytes_s = {pace.bandwidth_bytes_s}\n")
    (folder / "space.toml").write_text(SPACE)
    succeed(folder, "profile", str(store.directory), "--out", "study.toml")
    # In the short protocol a workload with a rate has that throughput with every configuration.
    workload = folder / "study-workload.toml"
    workload.write_text(workload.read_text().partition("\n[arrival]")[0] + "\n")
    with (folder / "study.toml").open("a") as study:
        study.write(
            f"\n[verification]\nablation_pairs = {pace.ablation_pairs}\nmax_others_share = {pace.others}\n"
        )
    succeed(
        folder, "tune", "study.toml", "--study", STUDY, "--protocol", "short", "--device", "device.toml",
        "--space", "space.toml", "--scale", f"1/{pace.scale}", "--tuner", pace.tuner, "--budget", pace.budget,
        "--out", "study",
    )  # fmt: skip


def _still(watch: Watch, pace: Pace) -> list[Row]:
    """Returns the rows of a load without a change, from the first on."""
    learned = watch.wait(lambda rows: any(row.event == "observing" for row in rows), 0, pace.patience_s)
    if not learned:
        return []
    end = time.monotonic() + 60 * pace.minutes
    return watch.wait(lambda _: time.monotonic() >= end, 0, math.inf)


def _planted(folder: Path, first: Path, pace: Pace) -> tuple[list[Row], int]:
    """Watches a store with studies that recommend bad options; returns the journal's rows, and failures."""
    folder.mkdir()
    journal = journal_of(folder, STUDY)
    ledger = str(first / "user" / "rocktune" / "ledger.sqlite")
    end = time.monotonic() + pace.patience_s
    with (
        served(folder / "store", pace.store, pace.operations_s, WRITES) as store,
        mock.patch.dict(os.environ, environment(folder)),
        mock.patch.object(watch_module, "run_study", return_value=True),
        mock.patch.object(watch_module, "outcome_of", return_value=(SimpleNamespace(reason=""), BAD)),
        mock.patch.object(watch_module, "proof_sentence", return_value="The benchmark has planted them."),
    ):
        store.wait_for_dumps(1)
        turned, rows = False, list[Row]()
        while not has_ended(rows) and time.monotonic() < end:
            looks = api.watch(
                store.log, STUDY, apply=store.watched_file, budget=pace.budget, ledger=ledger, once=True
            )
            found = next(iter(looks))
            if not turned and found.state.phase is Phase.OBSERVING:
                store.turn(MIXED)
                turned = True
            rows = list(rows_of(journal))
            time.sleep(pace.dump_s)
        return rows, store.end()[1]


if __name__ == "__main__":
    main(
        "rocktune.watched_store",
        watched_store,
        scale=32,
        quick_scale=128,
        extra={
            "minutes": 60.0, "dump": 10, "bandwidth": 16, "rate": 1200, "tuner": "auto", "budget": "75s",
            "ablation": 3, "patience": 120.0, "shifts": 3, "others": 0.1,
        },
    )  # fmt: skip
