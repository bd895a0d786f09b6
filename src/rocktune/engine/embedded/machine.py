"""What else goes on on this machine while a run is measured."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_FREE_FIELDS = (1, 3, 4)
"""Of the line "cpu": work of low priority, which yields to a run; idle; waiting for a device."""
_COUNTED_FIELDS = 8
"""What follows, the time of guests, is in the first ones already."""


class OtherCpuMeter:
    """Counts the CPU time that is neither this process' nor a run's: other programs, the kernel, the host.

    A host that gives the processors to someone else (time stolen) counts as other work too.
    """

    def __init__(self) -> None:
        """Begins to count."""
        self._started = _now()

    def counted(self, run_cpu_s: float) -> dict[str, float]:
        """Returns what was counted since the beginning, for a measurement's `others`.

        Args:
            run_cpu_s: the CPU time that the run itself has taken meanwhile.

        Returns:
            `cpu_s` (seconds of processors taken by others) and `available_s` (seconds of all processors);
            empty where the system does not say.
        """
        now = _now()
        if now is None or self._started is None:
            return {}
        busy_s, own_s, available_s = (
            later - earlier for later, earlier in zip(now, self._started, strict=True)
        )
        return {"cpu_s": max(0.0, busy_s - own_s - run_cpu_s), "available_s": available_s}


def _now() -> tuple[float, float, float] | None:
    """Returns seconds of processors: not free, taken by this process, and there at all."""
    try:
        fields = _STAT.read_text().partition("\n")[0].split()[1 : 1 + _COUNTED_FIELDS]
        ticks = [int(each) for each in fields]
    except (OSError, ValueError):
        return None
    free = sum(ticks[place] for place in _FREE_FIELDS if place < len(ticks))
    return (sum(ticks) - free) / _TICKS_PER_S, time.process_time(), sum(ticks) / _TICKS_PER_S
