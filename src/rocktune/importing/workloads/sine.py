"""db_bench's sine a * sin(b * t + c) + d as an open arrival."""

import math

from rocktune.importing.workloads.account import Use
from rocktune.importing.workloads.command_line import SWITCH_WORDS
from rocktune.importing.workloads.settings import ReadSettings
from rocktune.workload.arrival import MIN_DURATION_S, MIN_OPERATIONS_S, ArrivalSpec

SINE = ("sine_a", "sine_b", "sine_c", "sine_d")
"""Flags of the sine."""
_MIN_PERIOD_S = 10 * MIN_DURATION_S


def sine_is_on(settings: ReadSettings, switch: str) -> bool:
    """Returns whether a flag turns the sine on."""
    return settings.switch(switch, False, SWITCH_WORDS)


def sine_letters(settings: ReadSettings) -> tuple[float, float, float, float]:
    """Returns a, b, c and d."""
    a, b, c, d = (settings.number(name, float(name != "sine_c"), -1e15, 1e15) for name in SINE)
    return a, b, c, d


def sine_arrival(settings: ReadSettings, switch: str, operation_units: float = 1.0) -> ArrivalSpec:
    """Returns the arrival of a sine that is on.

    Args:
        settings: the flags.
        switch: the flag that turns it on.
        operation_units: what an operation takes of the sine's unit: 1 if it counts operations, the bytes of
            an entry if it counts bytes.

    Raises:
        UserError: the rate or the period is too small.
    """
    name = f"{switch}_interval_milliseconds"
    why = f"the rate changes all the time; db_bench sets it every {settings.whole(name, 10_000) / 1000:g} s"
    settings.tell(name, Use.TRANSLATED, why=why)
    a, b, c, d = sine_letters(settings)
    unit = "" if operation_units == 1 else f"; the sine is in bytes, {operation_units:g} for each write"
    if b == 0 or a == 0:
        return _constant(settings, switch, (a * math.sin(c) + d) / operation_units, unit)
    if d / operation_units < MIN_OPERATIONS_S:
        raise settings.refused(
            "sine_d", f"is below {MIN_OPERATIONS_S * operation_units:g}, the minimum; raise it"
        )
    period = 2 * math.pi / abs(b)
    if period < _MIN_PERIOD_S:
        raise settings.refused("sine_b", f"makes periods below {_MIN_PERIOD_S:g} s; lower it")
    # sin(c - x) = sin(x + pi - c), and -sin(x) = sin(x + pi).
    phase = math.pi - c if b < 0 else c
    phase += math.pi if a < 0 else 0
    phase_s = (phase % (2 * math.pi)) / abs(b)
    made = ArrivalSpec(
        kind="sine",
        operations_s=d / operation_units,
        amplitude_operations_s=min(abs(a), d) / operation_units,
        period_s=period,
        phase_s=phase_s if phase_s < period else 0.0,
    )
    bounded = "; the rate never falls below 0, so sine_a is bounded by sine_d" if abs(a) > d else ""
    _tell(settings, switch, made, bounded, unit)
    return made


def _tell(settings: ReadSettings, switch: str, made: ArrivalSpec, bounded: str, unit: str) -> None:
    """States what became of the flags."""
    becomes = {
        switch: "arrival of kind sine",
        "sine_a": f"arrival.amplitude_operations_s = {made.amplitude_operations_s:g}",
        "sine_b": f"arrival.period_s = {made.period_s:.6g}",
        "sine_c": f"arrival.phase_s = {made.phase_s:.6g}",
        "sine_d": f"arrival.operations_s = {made.operations_s:g}",
    }
    reasons = {"sine_a": bounded + unit, "sine_d": unit}
    for name, field in becomes.items():
        why = reasons.get(name, "").removeprefix("; ")
        settings.tell(name, Use.TRANSLATED if why else Use.USED, field, why)


def _constant(settings: ReadSettings, switch: str, rate: float, unit: str) -> ArrivalSpec:
    if rate < MIN_OPERATIONS_S:
        raise settings.refused("sine_d", f"makes a rate below {MIN_OPERATIONS_S}; raise it")
    becomes = f"arrival of kind fixed_rate, operations_s = {rate:.6g}"
    for name in (switch, *SINE):
        settings.tell(name, Use.TRANSLATED if unit else Use.USED, becomes, unit.removeprefix("; "))
    return ArrivalSpec(kind="fixed_rate", operations_s=rate)
