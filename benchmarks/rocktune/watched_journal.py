"""What the journal of a watched store shows, as claims."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common.claims import Claim, Measured, decided, exactly, reported
from rocktune.api.watch_studies import outcome_of, recorded_study
from rocktune.deploy.watch import WINDOW_INTERVALS, Interval, Row
from rocktune.outcome import Outcome

SOURCE = "a watched store"
MAX_WINDOWS = 2
_READ = "read"
_QUIET = ("observing", "suspecting")
_LAST = ("kept", "not tuned", "confirmed", "rolled back", "left alone")
_MAX_SILENT_INTERVALS = 24
"""Intervals without a step behind a recognised workload, whose options are in force then: a watch that has to
apply them waits for no more."""


@dataclass(frozen=True)
class Study:
    """What a study of the watch has found.

    Attributes:
        name: its name.
        outcome: its outcome; None before its end.
        seeded: number of configurations that it took over from earlier studies.
    """

    name: str
    outcome: Outcome | None
    seeded: int

    @classmethod
    def recorded(cls, name: str) -> "Study":
        """Returns a study of the user's ledger."""
        found, spec = outcome_of(name, None), recorded_study(name, None)
        seeded = 0 if spec is None else sum(bool(each.study) for each in spec.tried)
        return cls(name, None if found is None else found[0], seeded)

    @property
    def ratio(self) -> Measured | None:
        """The proof's ratio; None without one."""
        ratio = None if self.outcome is None else self.outcome.ratio
        if ratio is None or ratio.value is None or ratio.low is None or ratio.high is None:
            return None
        return Measured(ratio.value, ratio.low, ratio.high, ratio.repeats)


@dataclass(frozen=True)
class Seen:
    """What the benchmark has seen.

    Attributes:
        parts: the journal's rows without a change ("still"), behind the shift ("turned"), behind the shift
            back ("back"), and behind that to a third load ("third"), which may be missing.
        bad: the rows of the watch with a bad recommendation.
        failed: operations that failed.
        studies: by part, the study that was made in it.
    """

    parts: Mapping[str, Sequence[Row]]
    bad: Sequence[Row]
    failed: int
    studies: Mapping[str, Study]


def has_ended(rows: Sequence[Row]) -> bool:
    """Returns whether the steps that follow a shift have come to an end."""
    events = [row.event for row in rows]
    if any(event in _LAST for event in events):
        return True
    if "recognised" not in events or {"tuning", "applying"} & set(events):
        return False
    behind = rows[events.index("recognised") :]
    return sum(len(row.intervals) for row in behind) > _MAX_SILENT_INTERVALS


def study_of(rows: Sequence[Row]) -> str:
    """Returns the name of the study that was begun; "" without one."""
    text = next((row.text for row in rows if row.event == "tuning"), "")
    found = re.match(r"Study '([^']*)'", text)
    return found[1] if found else ""


def steps_of(rows: Sequence[Row]) -> str:
    """Returns the steps in one line."""
    return "; ".join(f"{row.event}: {row.text}" for row in rows if row.event != _READ)


def seen_in(row: Row) -> dict[str, float]:
    """Returns the number of intervals of a row, their mean lookup latency and the bytes that were moved."""
    waits = [each.waited_s["get"] for each in row.intervals if "get" in each.waited_s]
    lookups = sum(count for count, _ in waits)
    return {
        "intervals": len(row.intervals),
        "lookup_us": round(1e6 * sum(total for _, total in waits) / lookups, 1) if lookups else math.nan,
        "moved_mb": round(sum(each.moved_bytes for each in row.intervals) / 1e6, 1),
    }


def windows_until_rollback(rows: Sequence[Row]) -> int:
    """Returns the number of windows behind the application within which a rollback began.

    It is one more than a watch observes if there was no rollback.
    """
    events = [row.event for row in rows]
    if "applied" not in events or "rolling back" not in events:
        return MAX_WINDOWS + 1
    between = rows[events.index("applied") : events.index("rolling back")]
    return 1 + sum(row.event in ("observed", "waiting") for row in between)


def latencies(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    """Returns the mean latencies of lookups in us, by interval, before and after new options were in force.

    Of as many intervals at most as the watch observes. The first two after the application are left out.
    """
    events = [row.event for row in rows]
    if "applied" not in events:
        return [], []
    at = events.index("applied")
    sides = (_intervals(rows[:at])[-2 * WINDOW_INTERVALS :], _intervals(rows[at:])[2:])
    before, after = (
        [1e6 * each.waited_s["get"][1] / each.waited_s["get"][0] for each in side if "get" in each.waited_s]
        for side in sides
    )
    return before, after


def claims_of(seen: Seen, engine: str, device: str) -> list[Claim]:
    """Returns the claims of the benchmark.

    Args:
        seen: what it has seen.
        engine: the store and its version.
        device: its device.
    """

    def claim(name: str, unit: str, measured: Measured) -> Claim:
        return reported(name, SOURCE, unit, measured, engine=engine, device=device)

    def happened(name: str, part: str, *events: str) -> Claim:
        rows = seen.parts[part]
        there = all(any(row.event == event for row in rows) for event in events)
        return decided(claim(name, "of 1", exactly(int(there))), low=1, why=steps_of(rows))

    still = [row for row in seen.parts["still"] if row.event not in (_READ, *_QUIET)]
    without = _without_a_study(seen.parts["back"])
    return [
        decided(claim("actions_without_a_change", "steps", exactly(len(still))), high=0, why=steps_of(still)),
        claim("time_without_a_change", "s", exactly(sum(each.seconds for each in _observed(seen)))),
        happened("shift_noticed", "turned", "changed", "new workload"),
        happened("better_options_proven", "turned", "proposed"),
        happened("options_applied_and_confirmed", "turned", "applied", "confirmed"),
        decided(
            claim("shift_back_recognised_without_a_study", "of 1", exactly(int(without))),
            low=1,
            why=steps_of(seen.parts["back"]),
        ),
        *_warm(seen, claim),
        decided(
            claim("rollback_of_bad_options", "windows", exactly(windows_until_rollback(seen.bad))),
            high=MAX_WINDOWS,
            why=steps_of(seen.bad),
        ),
        decided(claim("failed_operations", "operations", exactly(seen.failed)), high=0),
        *_observations(seen, claim),
    ]


def _warm(seen: Seen, claim: Callable[[str, str, Measured], Claim]) -> list[Claim]:
    """Returns what the studies took over from earlier ones; that of the third load has a target."""
    found = [
        claim(f"taken_over_{part}", "configurations", exactly(study.seeded))
        for part, study in seen.studies.items()
        if part != "third"
    ]
    if "third" in seen.parts:
        seeded = seen.studies["third"].seeded if "third" in seen.studies else 0
        third = claim("taken_over_third", "configurations", exactly(seeded))
        found.append(decided(third, low=1, why=steps_of(seen.parts["third"])))
    return found


def _observations(seen: Seen, claim: Callable[[str, str, Measured], Claim]) -> list[Claim]:
    found = [
        claim(f"proven_ratio_{part}", "times the present options' figure, on the model", study.ratio)
        for part, study in seen.studies.items()
        if study.ratio is not None
    ]
    for part in ("turned", "third"):
        before, after = latencies(seen.parts.get(part, ()))
        if before and after:
            ratio = float(np.mean(before) / np.mean(after))
            found.append(claim(f"lookup_latency_{part}", "ratio of means, before over after", exactly(ratio)))
    return found


def _without_a_study(rows: Sequence[Row]) -> bool:
    events = [row.event for row in rows]
    return "recognised" in events and "tuning" not in events


def _observed(seen: Seen) -> list[Interval]:
    """Returns the intervals without a change behind the learning of the first workload."""
    rows = seen.parts["still"]
    events = [row.event for row in rows]
    return _intervals(rows[events.index("observing") :]) if "observing" in events else []


def _intervals(rows: Sequence[Row]) -> list[Interval]:
    return [each for row in rows for each in row.intervals]
