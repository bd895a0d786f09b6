"""Collects flushes and compactions from the JSON events and the messages about jobs."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Any

from rocktune.importing.logs.bounded import FirstAndLast, Thinned
from rocktune.importing.logs.jobs import Compaction, FamilyWork, Flush, FlushedTables, LevelsPoint
from rocktune.importing.logs.lines import Line
from rocktune.importing.logs.stalls import StallCause, StallCollector

_EVENT = "EVENT_LOG_v1 "
# RocksDB does not escape quotes and backslashes of names in its JSON.
_NAME = re.compile(r'("(?:cf|column_family)_name": )"(.{0,1000}?)"(, "[a-z_]+": |\})')
_JOB = re.compile(r"\[(.{0,1000})\] \[JOB (\d{1,18})\] ")
_MOVED = re.compile(r"\[(.{0,1000})\] (?:\[JOB \d+\] )?Mov(?:ed|ing) #\d+ to level-")
_SUMMARY = re.compile(r"\[(?P<family>.{0,1000}?)\] (?:\[JOB \d+\] )?Level summary: (?P<rest>.*)$")
_SUMMARY_FILES = re.compile(r"files\[([\d ]{1,400})\]")
_SUMMARY_PENDING = re.compile(r"estimated pending compaction bytes (\d{1,20})")
_MAX_EVENTS = 5_000
_MAX_OPEN_JOBS = 1_000
_MAX_FAMILIES = 2_000
_MAX_POINTS = 10_000
_MAX_REASONS = 50
_TABLE_SUMS = {
    "entries": "num_entries",
    "deletions": "num_deletions",
    "raw_key_bytes": "raw_key_size",
    "raw_value_bytes": "raw_value_size",
    "data_bytes": "data_size",
}
_BLOB_SUMS = {"blobs": "total_blob_count", "blob_bytes": "total_blob_bytes"}
"""Fields of `FlushedTables` with RocksDB's names of them."""


@dataclass
class _Work:
    """Sums that still grow; see `FamilyWork`."""

    flushes: int = 0
    flushed_bytes: int = 0
    compactions: int = 0
    compaction_read_bytes: int = 0
    compaction_written_bytes: int = 0
    compaction_s: float = 0.0
    trivial_moves: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    flushed_entries: int = 0
    flushed_deletions: int = 0
    tables: Counter[str] = field(default_factory=Counter)

    def add_reason(self, reason: str) -> None:
        if reason and (reason in self.reasons or len(self.reasons) < _MAX_REASONS):
            self.reasons[reason] = self.reasons.get(reason, 0) + 1


@dataclass
class _Job:
    """A job that has not ended."""

    family: str | None = None
    began: datetime | None = None
    flushes: bool = False
    start: dict[str, Any] = field(default_factory=dict)
    output_bytes: int = 0


class EventCollector:
    """Builds flushes, compactions and levels from lines, and tells the stalls what they show.

    Attributes:
        flushes: the flushes that are kept.
        compactions: the compactions that are kept.
        points: levels over time.
        unread_events: events that are no JSON objects.
    """

    def __init__(self, stalls: StallCollector) -> None:
        self._stalls = stalls
        self.flushes: FirstAndLast[Flush] = FirstAndLast(_MAX_EVENTS)
        self.compactions: FirstAndLast[Compaction] = FirstAndLast(_MAX_EVENTS)
        self.points: Thinned[LevelsPoint] = Thinned(_MAX_POINTS)
        self.unread_events = 0
        self._jobs: dict[int, _Job] = {}
        self._work: dict[str | None, _Work] = {}

    def add(self, line: Line) -> bool:
        """Takes a line of the LOG, and returns whether it was about a job."""
        text = line.text
        if text.startswith(_EVENT):
            self._add_event(text[len(_EVENT) :], line.time)
            return True
        if not text.startswith("["):
            return False
        if "] Level summary: " in text and (match := _SUMMARY.match(text)):
            self._add_summary(match, line.time)
            return True
        if match := _MOVED.match(text):
            self._work_of(match[1]).trivial_moves += 1
            return True
        if match := _JOB.match(text):
            self._job(int(match[2])).family = intern(match[1])
            return True
        return False

    def work(self) -> tuple[FamilyWork, ...]:
        """Returns the sums of each family."""
        return tuple(
            FamilyWork(
                family,
                work.flushes,
                work.flushed_bytes,
                work.compactions,
                work.compaction_read_bytes,
                work.compaction_written_bytes,
                work.compaction_s,
                work.trivial_moves,
                tuple(work.reasons.items()),
                work.flushed_entries,
                work.flushed_deletions,
                FlushedTables(**work.tables),
            )
            for family, work in self._work.items()
        )

    def _job(self, number: int) -> _Job:
        job = self._jobs.get(number)
        if job is None:
            if len(self._jobs) >= _MAX_OPEN_JOBS:
                del self._jobs[next(iter(self._jobs))]
            job = self._jobs[number] = _Job()
        return job

    def _work_of(self, family: str | None) -> _Work:
        if family not in self._work and len(self._work) >= _MAX_FAMILIES:
            family = None
        return self._work.setdefault(family, _Work())

    def _add_summary(self, match: re.Match[str], time: datetime | None) -> None:
        files = _SUMMARY_FILES.search(match["rest"])
        if files is None:
            return
        pending = _SUMMARY_PENDING.search(match["rest"])
        numbers = tuple(int(each) for each in files[1].split() if len(each) < 10)
        point = LevelsPoint(time, intern(match["family"]), numbers, int(pending[1]) if pending else None)
        self.points.add(point)
        if numbers:
            self._stalls.observe(point.family, StallCause.LEVEL0, numbers[0], time)
        if point.pending_bytes is not None:
            self._stalls.observe(point.family, StallCause.PENDING, point.pending_bytes, time)

    def _add_event(self, text: str, time: datetime | None) -> None:
        try:
            event = json.loads(_NAME.sub(_escaped, text))
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            self.unread_events += 1
            return
        number = _integer(event, "job")
        if number is None:
            return
        job = self._job(number)
        if isinstance(event.get("cf_name"), str):
            job.family = intern(event["cf_name"])
        self._add_to_job(job, number, event, time)

    def _add_to_job(self, job: _Job, number: int, event: dict[str, Any], time: datetime | None) -> None:
        match event.get("event"):
            case "flush_started" | "compaction_started":
                job.began, job.start, job.output_bytes = time, event, 0
                job.flushes = event["event"] == "flush_started"
            case "table_file_creation":
                job.output_bytes += _integer(event, "file_size") or 0
                if job.flushes:
                    self._add_sums(job.family, event.get("table_properties"), _TABLE_SUMS)
            case "blob_file_creation":
                job.output_bytes += _integer(event, "total_blob_bytes") or 0
                if job.flushes:
                    self._add_sums(job.family, event, _BLOB_SUMS)
            case "flush_finished":
                memtables = _integer(event, "immutable_memtables")
                if memtables is not None:
                    self._stalls.observe(job.family, StallCause.MEMTABLES, memtables, time)
                self._end_flush(self._jobs.pop(number), number, time)
            case "compaction_finished":
                self._end_compaction(self._jobs.pop(number), number, event, time)

    def _add_sums(self, family: str | None, properties: Any, printed_names: dict[str, str]) -> None:
        """Adds the properties of a table or blob file that a flush wrote."""
        if isinstance(properties, dict):
            sums = self._work_of(family).tables
            for name, printed in printed_names.items():
                sums[name] += _integer(properties, printed) or 0

    def _end_flush(self, job: _Job, number: int, time: datetime | None) -> None:
        output = job.output_bytes or None
        reason = _text(job.start, "flush_reason")
        self.flushes.add(
            Flush(
                began=job.began,
                ended=time,
                family=job.family,
                job=number,
                reason=reason,
                entries=_first_integer(job.start, "total_num_input_entries", "num_entries"),
                memory_bytes=_integer(job.start, "memory_usage"),
                output_bytes=output,
            )
        )
        work = self._work_of(job.family)
        work.flushes += 1
        work.flushed_bytes += output or 0
        work.flushed_entries += _first_integer(job.start, "total_num_input_entries", "num_entries") or 0
        work.flushed_deletions += _integer(job.start, "num_deletes") or 0
        work.add_reason(reason)

    def _end_compaction(self, job: _Job, number: int, event: dict[str, Any], time: datetime | None) -> None:
        micros = _integer(event, "compaction_time_micros")
        found = Compaction(
            began=job.began,
            ended=time,
            family=job.family,
            job=number,
            reason=_text(job.start, "compaction_reason"),
            input_levels=_input_levels(job.start),
            output_level=_integer(event, "output_level"),
            input_bytes=_integer(job.start, "input_data_size"),
            output_bytes=_integer(event, "total_output_size"),
            input_records=_integer(event, "num_input_records"),
            output_records=_integer(event, "num_output_records"),
            seconds=None if micros is None else micros / 1e6,
        )
        self.compactions.add(found)
        work = self._work_of(job.family)
        work.compactions += 1
        work.compaction_read_bytes += found.input_bytes or 0
        work.compaction_written_bytes += found.output_bytes or 0
        work.compaction_s += found.seconds or 0.0
        work.add_reason(found.reason)


def _escaped(match: re.Match[str]) -> str:
    return f"{match[1]}{json.dumps(match[2])}{match[3]}"


def _integer(event: dict[str, Any], name: str) -> int | None:
    """Returns a whole number of at most 64 bits; None if there is none."""
    value = event.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64 else None


def _first_integer(event: dict[str, Any], *names: str) -> int | None:
    return next((value for name in names if (value := _integer(event, name)) is not None), None)


def _text(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    return value[:100] if isinstance(value, str) else ""


def _input_levels(start: dict[str, Any]) -> tuple[int, ...]:
    """Returns the levels of a start's fields `files_L0` and so on."""
    names = [name[7:] for name in start if name.startswith("files_L")]
    return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 4))
