"""Computes how busy flushes and compactions were, above all while writes were held up."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocktune.analysis.explain.held import MAX_S
from rocktune.importing.logs import Dump, FamilyStats, LevelRow, Opening

_MIN_STALLED_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Busy:
    """Flushes and compactions of all families. A figure is None if the LOG does not state it.

    Attributes:
        flushes: mean number of flushes at a time.
        compactions: mean number of compactions at a time.
        flush_s: seconds that flushes took.
        compaction_s: seconds that compactions took.
        flush_mb_s: MiB written for each second of a flush.
        compaction_mb_s: MiB written for each second of a compaction.
        compaction_cpu_share: CPU time of compactions over their time; above 1 with subcompactions.
    """

    flushes: float | None = None
    compactions: float | None = None
    flush_s: float | None = None
    compaction_s: float | None = None
    flush_mb_s: float | None = None
    compaction_mb_s: float | None = None
    compaction_cpu_share: float | None = None


@dataclass(slots=True)
class _Work:
    """Sums of one kind of job since the opening: seconds, CPU seconds and MiB."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    written_mb: float = 0.0
    has_cpu: bool = False

    def add(self, row: LevelRow, sign: int) -> None:
        seconds = min(row.compaction_s or 0.0, MAX_S)
        self.seconds += sign * seconds
        self.written_mb += sign * seconds * (row.write_mb_s or 0.0)
        if row.compaction_cpu_s is not None:
            self.has_cpu = True
            self.cpu_s += sign * min(row.compaction_cpu_s, MAX_S)


def busy(opening: Opening) -> Busy:
    """Returns how busy jobs were between the dumps in which writes were held up, or else in all the time."""
    spans = list(_spans(opening))
    stalled = [span for span in spans if _stalled_share(*span) >= _MIN_STALLED_SHARE]
    flush, compaction, elapsed = _Work(), _Work(), 0.0
    for before, after in stalled or spans:
        for dump, sign in ((after, 1), (before, -1)):
            if dump is not None:
                _add(dump, sign, flush, compaction)
                elapsed += sign * (_uptime(dump) or 0.0)
    return Busy(
        flushes=flush.seconds / elapsed if elapsed > 0 else None,
        compactions=compaction.seconds / elapsed if elapsed > 0 else None,
        flush_s=flush.seconds if spans else None,
        compaction_s=compaction.seconds if spans else None,
        flush_mb_s=_rate(flush),
        compaction_mb_s=_rate(compaction),
        compaction_cpu_share=(
            compaction.cpu_s / compaction.seconds if compaction.has_cpu and compaction.seconds > 0 else None
        ),
    )


def _spans(opening: Opening) -> Iterator[tuple[Dump | None, Dump]]:
    """Yields successive dumps with tables; the first dump's span begins with the opening."""
    before: Dump | None = None
    for dump in opening.dumps:
        if dump.families:
            # Families may be left out of a dump; then figures since the opening are of other families.
            if before is None or _names(before) == _names(dump):
                yield before, dump
            before = dump


def _names(dump: Dump) -> set[str]:
    return {family.family for family in dump.families}


def _stalled_share(before: Dump | None, after: Dump) -> float:
    stall_s, length_s = (_stall(after), _uptime(after))
    if stall_s is None or not length_s:
        return 0.0
    if before is not None:
        stall_s -= _stall(before) or 0.0
        length_s -= _uptime(before) or 0.0
    return stall_s / length_s if length_s > 0 else 0.0


def _stall(dump: Dump) -> float | None:
    return dump.db.cumulative.stall_s if dump.db else None


def _uptime(dump: Dump) -> float | None:
    if dump.db is not None and dump.db.uptime_s is not None:
        return dump.db.uptime_s
    return next((family.uptime_s for family in dump.families if family.uptime_s is not None), None)


def _add(dump: Dump, sign: int, flush: _Work, compaction: _Work) -> None:
    for family in dump.families:
        for row in _rows(family):
            (flush if row.level in ("High", "L0") else compaction).add(row, sign)


def _rows(family: FamilyStats) -> tuple[LevelRow, ...]:
    """Returns rows by priority, where flushes are "High", or else by level, where they are "L0"."""
    return family.priorities or family.levels


def _rate(work: _Work) -> float | None:
    return work.written_mb / work.seconds if work.seconds > 0 else None
