"""Measures the CPU time of other programs during a run."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SYSTEM_FIELD = 2
_FREE_FIELDS = (1, 3, 4)
"""Indexes of times in the line "cpu" that a run could have used: low priority, idle, waiting for a device."""
_COUNTED_FIELDS = 8
"""The fields after these are the times of guests, which the first fields include already."""
_PARENT, _STIME, _CSTIME, _NICE = 1, 12, 14, 16
"""Indexes in a process' file `stat` behind its name: parent, kernel time of the process and of its children
that have ended, and priority."""


@dataclass(frozen=True)
class _Polite:
    """The kernel time of a process at low priority.

    Attributes:
        parent: process number of its parent.
        ticks: ticks in the kernel, its ended children's included.
    """

    parent: int
    ticks: int


@dataclass(frozen=True)
class _Moment:
    """The times of all processors since boot.

    Attributes:
        busy: ticks that a run could not have used.
        system: ticks in the kernel.
        available: all ticks.
        own_s: CPU seconds of this process.
        polite: the processes at low priority, by number.
    """

    busy: int
    system: int
    available: int
    own_s: float
    polite: Mapping[int, _Polite]


class OtherCpuMeter:
    """Counts the CPU time that neither this process nor the run used: other programs and the kernel.

    It includes stolen time, in which the host of a virtual machine ran something else. Processes at low
    priority yield to a run, so that they do not count. The kernel counts their own time separately, but the
    time that it works for them with all other work of the kernel; so that is looked up process by process.
    """

    def __init__(self) -> None:
        """Starts counting."""
        self._started = _now()

    def counted(self, run_cpu_s: float) -> dict[str, float]:
        """Returns the CPU time since the creation, for a measurement's `others`.

        Args:
            run_cpu_s: CPU seconds that the run itself used since then.

        Returns:
            `cpu_s`, the CPU seconds that others used, and `available_s`, the seconds of all processors
            together. Empty if the system has no /proc/stat.
        """
        then, now = self._started, _now()
        if now is None or then is None:
            return {}
        polite = min(_polite_between(then.polite, now.polite), now.system - then.system)
        busy_s = (now.busy - then.busy - max(0, polite)) / _TICKS_PER_S
        others_s = busy_s - (now.own_s - then.own_s) - run_cpu_s
        available_s = (now.available - then.available) / _TICKS_PER_S
        return {"cpu_s": max(0.0, others_s), "available_s": available_s}


def _now() -> _Moment | None:
    """Returns the present times; None if the system has no /proc/stat."""
    try:
        fields = (_PROC / "stat").read_text().partition("\n")[0].split()[1 : 1 + _COUNTED_FIELDS]
        ticks = [int(each) for each in fields]
    except (OSError, ValueError):
        return None
    free = sum(ticks[field] for field in _FREE_FIELDS if field < len(ticks))
    return _Moment(sum(ticks) - free, ticks[_SYSTEM_FIELD], sum(ticks), time.process_time(), _polite_now())


def _polite_now() -> dict[int, _Polite]:
    """Returns the processes at low priority."""
    found = {}
    for directory in _PROC.iterdir():
        if not directory.name.isdigit():
            continue
        try:
            # The name in parentheses may hold anything.
            fields = (directory / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[_NICE]) > 0:
            found[int(directory.name)] = _Polite(
                int(fields[_PARENT]), int(fields[_STIME]) + int(fields[_CSTIME])
            )
    return found


def _polite_between(then: Mapping[int, _Polite], now: Mapping[int, _Polite]) -> int:
    """Returns the ticks that the kernel worked between two moments for processes at low priority.

    A process that ended has its ticks added to those of its parent. Without a parent at low priority, what it
    did since the first moment is lost, so that it counts as other work.
    """
    ticks = sum(each.ticks - (then[number].ticks if number in then else 0) for number, each in now.items())
    ended = (each for number, each in then.items() if number not in now and each.parent in now)
    return ticks - sum(each.ticks for each in ended)
