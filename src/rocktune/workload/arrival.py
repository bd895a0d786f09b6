"""Arrival processes: when a session's operations start."""

from typing import Literal, Self

from pydantic import model_validator

from rocktune.spec_file import Amount, KindSpec

MIN_DURATION_S = 1e-3
"""Minimum length of a session or a period in seconds; the worker's clock cannot resolve shorter ones."""
MIN_OPERATIONS_S = 1e-3
"""Minimum rate of an open arrival in operations per second."""


class ArrivalSpec(KindSpec):
    """The arrival of operations. All rates are sums over all threads.

    Attributes:
        kind: `closed` (a thread's next operation starts when its last one has ended), or an open arrival:
            `fixed_rate`, `sine` (operations_s + amplitude_operations_s * sin(2 pi t / period_s)), or `bursts`
            (operations_s during the first on_s seconds of each period_s, none in the rest). t is the time
            since the session began. `recorded` takes the times of the workload's trace.
        operations_s: operations per second; the mean of `sine`, the rate within a burst of `bursts`.
        amplitude_operations_s: amplitude of `sine` in operations per second, at most operations_s.
        period_s: length of a period in seconds.
        on_s: length of a burst in seconds, at most period_s.
        phase_s: seconds of the first period that are skipped, below period_s.
        patience_s: seconds that an operation waits for a slow store before it is dropped, as by a client
            that gives up; 0 means for ever. The latency of a late operation includes its wait.
    """

    kind: Literal["closed", "fixed_rate", "sine", "bursts", "recorded"] = "closed"
    operations_s: Amount = 0.0
    amplitude_operations_s: Amount = 0.0
    period_s: Amount = 0.0
    on_s: Amount = 0.0
    phase_s: Amount = 0.0
    patience_s: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Checks that exactly the fields of this kind are set, with values in their ranges."""
        meaningful = _ARRIVAL_FIELDS[self.kind]
        self._require_meaningful(meaningful)
        # Sorted, so that the same file always gets the same message.
        for name in sorted(meaningful & _MIN_ARRIVAL_VALUES.keys()):
            minimum = _MIN_ARRIVAL_VALUES[name]
            if getattr(self, name) < minimum:
                raise ValueError(
                    f"{name}: kind '{self.kind}' needs at least {minimum}, not {getattr(self, name):g}"
                )
        if self.kind == "bursts" and self.on_s == 0:
            raise ValueError("on_s: kind 'bursts' needs a value above 0")
        if self.amplitude_operations_s > self.operations_s:
            raise ValueError(
                f"amplitude_operations_s: {self.amplitude_operations_s:g} exceeds operations_s, "
                f"{self.operations_s:g}"
            )
        if self.on_s > self.period_s:
            raise ValueError(f"on_s: {self.on_s:g} exceeds period_s, {self.period_s:g}")
        if self.phase_s and self.phase_s >= self.period_s:
            raise ValueError(f"phase_s: {self.phase_s:g} is not below period_s, {self.period_s:g}")
        return self

    def scaled(self, scale: int) -> "ArrivalSpec":
        """Returns the arrival of a 1/S model: times are divided by S, rates are unchanged.

        A period stays at least MIN_DURATION_S long. A burst keeps its share of the period.
        """
        times = {"patience_s": self.patience_s / scale}
        if self.period_s:
            # If the minimum applies, bursts and phase shrink less too, so that the shape stays the same.
            times["period_s"] = max(self.period_s / scale, MIN_DURATION_S)
            shrunk = times["period_s"] / self.period_s
            # Rounding could otherwise make a burst a hair longer than its period, which is invalid.
            times |= {"on_s": min(self.on_s * shrunk, times["period_s"]), "phase_s": self.phase_s * shrunk}
        return self.model_copy(update=times)


_ARRIVAL_FIELDS = {
    "closed": frozenset[str](),
    "recorded": frozenset[str](),
    "fixed_rate": frozenset({"operations_s", "patience_s"}),
    "sine": frozenset({"operations_s", "amplitude_operations_s", "period_s", "phase_s", "patience_s"}),
    "bursts": frozenset({"operations_s", "period_s", "on_s", "phase_s", "patience_s"}),
}


_MIN_ARRIVAL_VALUES = {
    "operations_s": MIN_OPERATIONS_S,
    "period_s": MIN_DURATION_S,
}
