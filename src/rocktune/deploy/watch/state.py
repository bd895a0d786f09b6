"""The state of a watch, from which a watch goes on after its process has ended."""

from enum import StrEnum

from pydantic import Field

from rocktune.deploy.watch.interval import Interval, Mark
from rocktune.deploy.watch.shift import Reference
from rocktune.spec_file import Count, Spec

Live = dict[str, dict[str, str]]
"""Options of a watched file by section: "db", "cf:FAMILY" or "table:FAMILY"."""


class Phase(StrEnum):
    """What a watch does next."""

    OBSERVING = "observing"
    """Compares each interval with the reference."""
    LEARNING = "learning"
    """Collects the reference of a new workload."""
    TUNING = "tuning"
    """A study searches and proves options for the workload."""
    PROPOSED = "proposed"
    """Options are proven, and not applied."""
    APPLYING = "applying"
    """The watched file is being replaced by the new options."""
    APPLIED = "applied"
    """The new options' figures are compared with their prediction intervals."""
    ROLLING_BACK = "rolling back"
    """The watched file is being replaced by the earlier options."""


class Verdict(StrEnum):
    """What is known of the options of a workload."""

    UNKNOWN = "unknown"
    """No study has been made for the workload."""
    KEPT = "kept"
    """A study found no better options than those in force."""
    UNTUNED = "not tuned"
    """No study was made or decided anything for the workload, in `MAX_ATTEMPTS` attempts."""
    PROVEN = "proven"
    """A study has proven the options on a model; they were not applied yet."""
    CONFIRMED = "confirmed"
    """Live figures kept to their prediction."""
    REJECTED = "rejected"
    """Live figures got worse, and the options were rolled back."""


class Workload(Spec):
    """A workload that the watch has seen.

    Attributes:
        number: from 1, in the order of their first occurrence.
        reference: its features.
        verdict: what is known of its options.
        study: the study that found the options; empty before one.
        live: the options that the watched file is to state under the workload.
        proof: the proof in words; empty without one.
        intervals: the last intervals under the options that are in force.
        attempts: how often its study has failed or has decided nothing.
        retry_at: when the study is tried again, local time "YYYY-MM-DD HH:MM"; empty for at once.
        refused_with: digest of the watch's settings with which it could not be tuned; empty for a verdict
            other than `UNTUNED`.
    """

    number: Count
    reference: Reference = Reference()
    verdict: Verdict = Verdict.UNKNOWN
    study: str = ""
    live: Live = Field(default={})
    proof: str = ""
    intervals: tuple[Interval, ...] = ()
    attempts: Count = 0
    retry_at: str = ""
    refused_with: str = ""


class WatchState(Spec):
    """Everything that decides what a watch does next.

    Attributes:
        database: directory of the database; empty in a state of an older rocktune.
        phase: what it does next.
        seen: end of the last interval that it has read.
        current: the present workload.
        others: the other workloads that it has seen.
        in_force: the options that the watched file states; empty if there is no file.
        undo: the options that a rollback writes; empty unless a file of the watch is in force or being
            written.
        file: the watched file that was written last; empty before the first.
        settling: the next intervals that are not, or not only, of the options in force.
        before: the intervals from which the figures of the applied options are predicted.
        after: the intervals since the application that count.
        windows: windows of observation that have passed since it.
        has_waited: True if a window did not count, because the new options still moved data.
    """

    database: str = ""
    phase: Phase = Phase.LEARNING
    seen: Mark | None = None
    current: Workload = Workload(number=1)
    others: tuple[Workload, ...] = ()
    in_force: Live = Field(default={})
    undo: Live = Field(default={})
    file: str = ""
    settling: Count = 0
    before: tuple[Interval, ...] = ()
    after: tuple[Interval, ...] = ()
    windows: Count = 0
    has_waited: bool = False
