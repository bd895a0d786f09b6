"""Decides from successive measurements whether a store is in steady state (docs/design/steady-state.md)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from rocktune.measurement import Measurement
from rocktune.units import format_bytes

WARM_UP_FULL_SIZE_S = 60.0
"""Seconds of load at full size before a run on an aged store counts, because its cache is empty at first."""
STEP_FULL_SIZE_S = 20.0
"""Seconds of load of one step at full size."""
LIMIT_FULL_SIZE_S = 4 * 3600.0
"""Seconds of load at full size after which a store that is not steady is given up."""
TOLERANCE = 0.03
"""Maximum relative difference between successive windows of a steady store."""
MIN_STEPS = 5
"""Minimum number of steps of a window, so that its means average over some of them."""
FALL = 0.5
"""Share of their maximum to which the bytes above the last level fall when a cycle of merges ends."""
MAX_TURNOVERS = 3.0
"""Turnovers after which a window ends even if the bytes above the last level have only grown."""


@dataclass(frozen=True)
class Step:
    """The figures of a short window of a run that decide about steady state.

    Attributes:
        from_s: age in seconds at which the step begins.
        until_s: age in seconds at which it ends.
        operations: number of operations.
        user_bytes_written: bytes that the operations wrote.
        flushed_bytes: bytes that flushes wrote.
        compacted_bytes: bytes that compactions read and wrote.
        level_bytes: bytes of each level at the step's end.
        db_bytes: bytes of all files at the step's end.
    """

    from_s: float
    until_s: float
    operations: int
    user_bytes_written: float
    flushed_bytes: float
    compacted_bytes: float
    level_bytes: tuple[float, ...]
    db_bytes: float

    @classmethod
    def of(cls, measured: Measurement, begun_s: float = 0.0) -> Self:
        """Returns the step that a measurement of the engine `embedded` describes.

        Args:
            measured: a window of the run.
            begun_s: seconds of load on the store before the run began.
        """
        raw, device = measured.raw, measured.raw["device_bytes"]
        return cls(
            begun_s + measured.from_s,
            begun_s + measured.until_s,
            measured.operations(),
            float(raw["user_bytes_written"]),
            float(device["flush"]),
            float(device["compaction_read"] + device["compaction_write"]),
            tuple(map(float, raw["level_bytes"])),
            float(raw["db_bytes"]),
        )

    @property
    def upper_bytes(self) -> float:
        """The bytes in all levels but the last that is not empty."""
        filled = [size for size in self.level_bytes if size]
        return math.fsum(filled[:-1])


@dataclass(frozen=True)
class Window:
    """A window groups successive steps in which the levels above the last one were replaced.

    Attributes:
        steps: the steps, at least one.
    """

    steps: tuple[Step, ...]

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.steps[-1].until_s - self.steps[0].from_s

    @property
    def throughput_ops_s(self) -> float:
        """Operations per second."""
        return sum(step.operations for step in self.steps) / self.seconds

    @property
    def moved_bytes(self) -> float:
        """Bytes that flushes and compactions moved."""
        return math.fsum(step.flushed_bytes + step.compacted_bytes for step in self.steps)

    @property
    def user_bytes_written(self) -> float:
        """Bytes that the operations wrote."""
        return math.fsum(step.user_bytes_written for step in self.steps)

    @property
    def db_bytes(self) -> float:
        """Mean bytes of the store."""
        return math.fsum(step.db_bytes for step in self.steps) / len(self.steps)

    @property
    def level_bytes(self) -> tuple[float, ...]:
        """Mean bytes of each level."""
        return tuple(
            math.fsum(sizes) / len(self.steps)
            for sizes in zip(*(step.level_bytes for step in self.steps), strict=True)
        )


@dataclass(frozen=True)
class Change:
    """A figure in which successive windows differ by more than the tolerance.

    Attributes:
        what: the figure in words.
        share: relative change from the earlier windows to the later ones. For levels it is the bytes by which
            they differ as a share of all, and never negative.
    """

    what: str
    share: float

    def __str__(self) -> str:
        return f"{self.what} {self.share:+.1%}"


def changes_between(earlier: Window, later: Window) -> list[Change]:
    """Returns the figures in which two windows differ by more than the tolerance."""
    differences = [abs(a - b) for a, b in zip(earlier.level_bytes, later.level_bytes, strict=True)]
    changes = [
        Change("throughput", _relative(earlier.throughput_ops_s, later.throughput_ops_s)),
        Change("level fill", math.fsum(differences) / max(earlier.db_bytes, 1.0)),
        Change("space", _relative(earlier.db_bytes, later.db_bytes)),
    ]
    return [change for change in changes if abs(change.share) > TOLERANCE]


def _relative(before: float, after: float) -> float:
    """Returns the relative change; 0 if both are 0."""
    return (after - before) / before if before else math.copysign(math.inf, after) if after else 0.0


@dataclass
class Steadiness:
    """Follows a run step by step until successive windows agree.

    A window ends when as many bytes were flushed as the levels above the last one hold at most, so that these
    levels were replaced. Where those bytes rise and fall, as under universal compaction, a window also
    spans a whole cycle: it ends just after a fall. The store is steady if the last n windows together agree
    with the n before them, for any n.

    Attributes:
        windows: the complete windows so far.
    """

    windows: list[Window] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    def add(self, step: Step) -> bool:
        """Adds the next step and returns whether the store is in steady state now.

        Args:
            step: a step that begins where the last one ended.
        """
        self._steps.append(step)
        before = self.windows[-1].steps if self.windows else ()
        if not _is_complete(self._steps, max((each.upper_bytes for each in before), default=0.0)):
            return False
        self.windows.append(Window(tuple(self._steps)))
        self._steps = []
        return self.steady is not None

    @property
    def steady(self) -> Window | None:
        """The latest windows that agree, as one window: those of both halves. None if none agree."""
        for halves in self._halves():
            if not changes_between(*halves):
                return Window(halves[0].steps + halves[1].steps)
        return None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The figures that still change: those of the halves with the fewest changes. Empty if steady."""
        found = [tuple(changes_between(*halves)) for halves in self._halves()]
        return min(found, key=len, default=())

    @property
    def latest(self) -> Window | None:
        """The later half of all steps so far as one window; None before the first step.

        It stands for the steady windows where there are none.
        """
        steps = [step for window in self.windows for step in window.steps] + self._steps
        return Window(tuple(steps[len(steps) // 2 :])) if steps else None

    def describe(self) -> str:
        """Returns what still changes, in words for a user."""
        if self.changes:
            return ", ".join(map(str, self.changes))
        held = format_bytes(round(self._steps[-1].db_bytes)) if self._steps else "unknown bytes"
        return f"no two windows yet; the store holds {held}"

    def _halves(self) -> Iterator[tuple[Window, Window]]:
        """Yields the n windows before the last n, and the last n, for each possible n."""
        for count in range(1, len(self.windows) // 2 + 1):
            yield (
                _joined(self.windows[-2 * count : len(self.windows) - count]),
                _joined(self.windows[-count:]),
            )


def _joined(windows: Sequence[Window]) -> Window:
    """Returns successive windows as one."""
    return Window(tuple(step for window in windows for step in window.steps))


def _is_complete(steps: Sequence[Step], before_bytes: float) -> bool:
    """Returns whether steps make a window; see `Steadiness`.

    Args:
        steps: the steps since the last window.
        before_bytes: maximum bytes above the last level in the last window. Without it, a window that begins
            when these levels are almost empty would end at once.
    """
    if len(steps) < MIN_STEPS:
        return False
    upper = [step.upper_bytes for step in steps]
    flushed_bytes, max_bytes = math.fsum(step.flushed_bytes for step in steps), max(upper)
    if flushed_bytes < max(max_bytes, before_bytes):
        return False
    if min(upper) >= FALL * max_bytes:
        return True  # no cycle
    has_fallen = upper[-1] <= FALL * max_bytes and upper.index(max_bytes) < len(upper) - 1
    return has_fallen or flushed_bytes >= MAX_TURNOVERS * max_bytes
