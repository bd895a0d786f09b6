"""When operations start."""

from typing import Literal, Self

from pydantic import model_validator

from rocktune.spec_file import Amount, KindSpec

SHORTEST_S = 1e-3
"""Of a session or a period; the worker's clock would not get past shorter ones."""
MIN_OPERATIONS_S = 1e-3


class ArrivalSpec(KindSpec):
    """When operations start. All rates are over all threads.

    Attributes:
        kind: `closed` (each thread's next operation starts when its last has ended), or open: `fixed_rate`,
            `sine` (operations_s + amplitude_operations_s * sin(2 pi t / period_s)), `bursts` (operations_s
            during the first on_s seconds of each period_s, nothing in the rest). t counts from the session's
            beginning.
        operations_s: operations a second; the mean of `sine`, the rate while on of `bursts`.
        amplitude_operations_s: at most operations_s.
        period_s: seconds.
        on_s: seconds, at most period_s.
        phase_s: how far into its period the session begins, seconds below period_s.
        patience_s: how long an operation that the store is too slow for waits before it is left out, as by a
            client that gives up; 0 for ever. What starts late counts from its intended start.
    """

    kind: Literal["closed", "fixed_rate", "sine", "bursts"] = "closed"
    operations_s: Amount = 0.0
    amplitude_operations_s: Amount = 0.0
    period_s: Amount = 0.0
    on_s: Amount = 0.0
    phase_s: Amount = 0.0
    patience_s: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        meaningful = _ARRIVAL_FIELDS[self.kind]
        self._require_meaningful(meaningful)
        for name in sorted(meaningful & _MIN_ARRIVAL_VALUES.keys()):
            if getattr(self, name) < _MIN_ARRIVAL_VALUES[name]:
                smallest = _MIN_ARRIVAL_VALUES[name]
                raise ValueError(
                    f"{name}: kind '{self.kind}' needs at least {smallest}, not {getattr(self, name):g}"
                )
        if self.kind == "bursts" and self.on_s == 0:
            raise ValueError("on_s: kind 'bursts' needs one above 0")
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
        """Returns the arrival with its times divided by `scale` and its rates as they are.

        A period stays at least SHORTEST_S long, with the same part of it on.
        """
        times = {"patience_s": self.patience_s / scale}
        if self.period_s:
            times["period_s"] = max(self.period_s / scale, SHORTEST_S)
            shrunk = times["period_s"] / self.period_s
            times |= {"on_s": min(self.on_s * shrunk, times["period_s"]), "phase_s": self.phase_s * shrunk}
        return self.model_copy(update=times)


_ARRIVAL_FIELDS = {
    "closed": frozenset[str](),
    "fixed_rate": frozenset({"operations_s", "patience_s"}),
    "sine": frozenset({"operations_s", "amplitude_operations_s", "period_s", "phase_s", "patience_s"}),
    "bursts": frozenset({"operations_s", "period_s", "on_s", "phase_s", "patience_s"}),
}


_MIN_ARRIVAL_VALUES = {
    "operations_s": MIN_OPERATIONS_S,
    "period_s": SHORTEST_S,
}
