"""Measures the CPU time of other programs during a run."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_FREE_FIELDS = (1, 3, 4)
"""Indexes of times in the line "cpu" that a run could have used: low priority, idle, waiting for a device."""
_COUNTED_FIELDS = 8
"""The fields after these are the times of guests, which the first fields include already."""


class OtherCpuMeter:
    """Counts the CPU time that neither this process nor the run used: other programs and the kernel.

    It includes stolen time, in which the host of a virtual machine ran something else.
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
        now = _now()
        if now is None or self._started is None:
            return {}
        busy_s, own_s, available_s = (
            later - earlier for later, earlier in zip(now, self._started, strict=True)
        )
        return {"cpu_s": max(0.0, busy_s - own_s - run_cpu_s), "available_s": available_s}


def _now() -> tuple[float, float, float] | None:
    """Returns CPU seconds since boot that were used, used by this process, and available; None if unknown."""
    try:
        fields = _STAT.read_text().partition("\n")[0].split()[1 : 1 + _COUNTED_FIELDS]
        ticks = [int(each) for each in fields]
    except (OSError, ValueError):
        return None
    free = sum(ticks[field] for field in _FREE_FIELDS if field < len(ticks))
    return (sum(ticks) - free) / _TICKS_PER_S, time.process_time(), sum(ticks) / _TICKS_PER_S
