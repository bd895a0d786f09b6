"""`rocktune explain` on stores that were broken on purpose, and on healthy ones.

A kind of broken store counts if the planted cause is named first. A healthy one counts as a false alarm if
anything is named. Thresholds were chosen with one half of the stores. The figures are of the other half,
which differs in version, device and workload (`explain_stores.py`). `--draw N` takes stores that a rule draws
instead (`explain_drawn.py`): thresholds that were frozen before are then tested blindly. `--logs DIR` keeps
shortened LOG files, as tests/analysis/explain/logs has them; a store whose LOG is there is not run again.
"""

import gzip
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.claims import Claim, Settings, decided, exactly, main, reported
from benchmarks.common.tables import write_csv
from benchmarks.rocktune.explain_drawn import drawn_stores
from benchmarks.rocktune.explain_logs import make_log, shortened
from benchmarks.rocktune.explain_stores import STORES, Store
from rocktune.analysis.explain import Explained, explain_opening
from rocktune.analysis.explain.held import MIN_HELD_SHARE
from rocktune.importing.logs import read_log

SOURCE = "rocktune explain"
QUICK_STORES = ("level0-triggers-2", "healthy-small-values")
"""Stores of the RocksDB that the system has."""
QUICK_SECONDS = 3
MIN_NAMED_KINDS, MAX_FALSE_ALARMS = 12, 0
HOLD_NOTHING_UP = frozenset(
    (
        "small-cache", "missing-filters", "tombstones", "many-files", "space-amplification",
        "contradictory-options",
    )
)  # fmt: skip
"""Causes that cost reads or space. A store with another one has to delay or stop writes."""
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Outcome:
    """What `explain` said of a store.

    Attributes:
        store: the store.
        rules: the rules of its findings, in their order.
        held_share: share of the time in which writes were held up.
        short_rules: the same from the shortened LOG; None if only that was kept.
    """

    store: Store
    rules: tuple[str, ...]
    held_share: float
    short_rules: tuple[str, ...] | None

    @property
    def is_right(self) -> bool:
        """Whether the planted cause is first, or nothing was found in a healthy store."""
        return self.rules[:1] == (self.store.cause,) if self.store.cause else not self.rules


def explained(text: str, directory: Path) -> Explained:
    """Returns what the last opening in a LOG's text comes to."""
    path = directory / "explained.log"
    path.write_text(text)
    return explain_opening(read_log([path]).openings[-1])


def outcome_of(store: Store, settings: Settings) -> Outcome:
    """Explains a store's kept LOG, or else runs the store and explains its LOG, whole and shortened."""
    kept = log_path(Path(settings.extra["logs"]), store) if settings.extra["logs"] else None
    with tempfile.TemporaryDirectory(prefix="rocktune-explain-") as scratch:
        directory = Path(scratch)
        if kept is not None and kept.exists():
            found = explained(gzip.decompress(kept.read_bytes()).decode(), directory)
            return Outcome(store, rules_of(found), found.held_share or 0.0, None)
        seconds = QUICK_SECONDS if settings.quick else None
        text = stalled_log(store, directory / "db", Path(settings.extra["builds"]), seconds)
        short = shortened(text)
        whole, cut = explained(text, directory), explained(short, directory)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Without a time, so that equal text gives equal bytes.
        kept.write_bytes(gzip.compress(short.encode(), mtime=0))
    return Outcome(store, rules_of(whole), whole.held_share or 0.0, rules_of(cut))


def rules_of(found: Explained) -> tuple[str, ...]:
    """Returns the rules of findings, in their order."""
    return tuple(finding.rule for finding in found.findings)


def stalled_log(store: Store, directory: Path, builds: Path, seconds: int | None) -> str:
    """Returns the LOG of a store, which is made again if it was to hold writes up and hardly did.

    On a busy machine writers are slower, so that a store may have nothing to explain. What `explain` says
    decides nothing here.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        directory.mkdir()
        text = make_log(store, directory, builds, seconds)
        shutil.rmtree(directory)
        if not store.cause or store.cause in HOLD_NOTHING_UP or attempt == MAX_ATTEMPTS:
            break
        percents = re.findall(r"^Cumulative stall: .*?, ([0-9.]+) percent", text, re.MULTILINE)
        if percents and float(percents[-1]) >= 100 * MIN_HELD_SHARE:
            break
    return text


def log_path(directory: Path, store: Store) -> Path:
    """Returns the place of a store's shortened LOG."""
    return directory / ("held_out" if store.held_out else "chosen") / f"{store.name}.log.gz"


def claims_of(outcomes: Iterable[Outcome], prefix: str = "") -> Iterator[Claim]:
    """Yields claims of both halves, with a prefix of their names; only the held-out half has targets."""
    found = list(outcomes)
    for held_out, half in ((True, "held_out"), (False, "chosen")):
        planted = [each for each in found if each.store.held_out is held_out and each.store.cause]
        healthy = [each for each in found if each.store.held_out is held_out and not each.store.cause]
        named = _count(f"{prefix}planted_causes_named_first_{half}", "kinds of store", planted, right=True)
        alarms = _count(f"{prefix}false_alarms_{half}", "healthy stores", healthy, right=False)
        if held_out:
            wrong = ", ".join(each.store.cause for each in planted if not each.is_right)
            named = decided(named, low=MIN_NAMED_KINDS, why=f"not first: {wrong}" if wrong else "")
            alarms = decided(alarms, high=MAX_FALSE_ALARMS)
        yield from (named, alarms)
    made = [each for each in found if each.short_rules is not None]
    if made:
        same = exactly(sum(each.rules == each.short_rules for each in made), len(made))
        short = reported(
            f"{prefix}shortened_logs_with_equal_findings", SOURCE, "stores", same, engine="", device=""
        )
        yield decided(short, low=len(made))


def _count(name: str, unit: str, outcomes: list[Outcome], right: bool) -> Claim:
    count = sum(each.is_right is right for each in outcomes)
    measured = exactly(count, len(outcomes))
    return reported(name, SOURCE, f"{unit}, of {len(outcomes)}", measured, engine="", device="")


def explain_stores(settings: Settings) -> Iterator[Outcome]:
    """Yields the outcome of each store, or of two in a smoke run."""
    stores = drawn_stores(int(draw)) if (draw := settings.extra["draw"]) else STORES
    if settings.quick:
        stores = tuple(store for store in stores if store.name.endswith(QUICK_STORES))
    for store in stores:
        outcome = outcome_of(store, settings)
        verdict = "right" if outcome.is_right else "WRONG"
        settings.say(f"{store.name}: {verdict}, {', '.join(outcome.rules) or 'nothing found'}")
        yield outcome


def explain(settings: Settings) -> list[Claim]:
    """Makes the stores, explains their LOG files and counts what is right."""
    outcomes = list(explain_stores(settings))
    claims = list(claims_of(outcomes, "drawn_" if settings.extra["draw"] else ""))
    for claim in claims:
        claim.engine = "RocksDB 7.8.3, 8.6.7, 9.9.3 and 11.8.1"
        claim.device = "db_bench with a rate limiter, and the worker's devices"
    if settings.out is not None:
        rows = [
            {
                "store": each.store.name,
                "half": "held out" if each.store.held_out else "chosen",
                "rocksdb": each.store.version,
                "planted": each.store.cause,
                "found": " ".join(each.rules),
                "held_share": f"{each.held_share:.3f}",
                "right": each.is_right,
            }
            for each in outcomes
        ]
        write_csv(settings.out / "stores.csv", rows)
    return claims


if __name__ == "__main__":
    main(
        "rocktune.explain",
        explain,
        scale=16,
        quick_scale=16,
        extra={"builds": "build", "draw": "", "logs": ""},
    )
