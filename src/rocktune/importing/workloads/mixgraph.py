"""db_bench's benchmark mixgraph as a session of a workload."""

import math
from dataclasses import dataclass, field

from rocktune.errors import UserError
from rocktune.importing.workloads.account import Use
from rocktune.importing.workloads.settings import ReadSettings
from rocktune.importing.workloads.sine import SINE, sine_arrival, sine_is_on
from rocktune.workload.arrival import MIN_OPERATIONS_S, ArrivalSpec
from rocktune.workload.distributions import MAX_PARETO_SIZE, KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec

_RANGES = ("keyrange_dist_a", "keyrange_dist_b", "keyrange_dist_c", "keyrange_dist_d")
_LIMITS = ("benchmark_read_rate_limit", "benchmark_write_rate_limit")
_MIN_VALUE_BYTES = 10
"""mixgraph writes no smaller values."""


@dataclass(frozen=True)
class Part:
    """A benchmark as a session of a workload.

    Attributes:
        mix: shares of the operations.
        key_chooser: distribution of the keys.
        scan_length: lengths of scans; None without scans.
        value: sizes of written values; None for those of the whole command.
        arrival: when the operations start.
        extra_threads: threads besides those of the flag.
        delete_range_keys: numbers of keys of deleted ranges; None without range deletes.
    """

    mix: MixSpec
    key_chooser: KeyChooserSpec = field(default_factory=KeyChooserSpec)
    scan_length: SizeSpec | None = None
    value: SizeSpec | None = None
    arrival: ArrivalSpec = field(default_factory=ArrivalSpec)
    extra_threads: int = 0
    delete_range_keys: SizeSpec | None = None


def mixgraph(settings: ReadSettings) -> Part:
    """Returns the session of mixgraph.

    Raises:
        UserError: a flag has an invalid value.
    """
    mix = _mix(settings)
    value = _size(settings, "value", (0.2615, 25.45), _max_value_bytes(settings), _MIN_VALUE_BYTES)
    scan = _size(settings, "iter", (2.517, 14.236), settings.whole("mix_max_scan_len", 10_000, 2) - 1, 1)
    settings.used_as(f"scan_length.high = {scan.max_size}", "mix_max_scan_len")
    settings.tell("value_size", Use.WITHOUT_EFFECT, why="mixgraph draws sizes of its own")
    settings.assumed.append(
        "Key, size and kind of an operation are independent; mixgraph takes all three from one random number."
    )
    return Part(mix, _key_chooser(settings), scan if mix.scan else None, value, _arrival(settings, mix))


def _max_value_bytes(settings: ReadSettings) -> int:
    max_bytes = settings.whole("mix_max_value_size", 1024, _MIN_VALUE_BYTES)
    if max_bytes <= MAX_PARETO_SIZE:
        settings.used_as(f"value.high = {max_bytes}", "mix_max_value_size")
        return max_bytes
    why = "mixgraph writes no larger values"
    settings.tell("mix_max_value_size", Use.TRANSLATED, f"value.high = {MAX_PARETO_SIZE}", why)
    return MAX_PARETO_SIZE


def _mix(settings: ReadSettings) -> MixSpec:
    """Returns the shares, which mixgraph divides by their sum."""
    names = {"mix_get_ratio": "get", "mix_put_ratio": "put", "mix_seek_ratio": "scan"}
    ratios = {
        kind: settings.number(name, 1.0 if kind == "get" else 0.0, 0, 1e12) for name, kind in names.items()
    }
    total = sum(ratios.values())
    if total == 0:
        raise settings.refused("mix_get_ratio", "all ratios are 0; one operation needs a share")
    for name, kind in names.items():
        becomes = f"mix.{kind} = {ratios[kind] / total:.6g}"
        if abs(total - 1) > 1e-9:
            settings.tell(name, Use.TRANSLATED, becomes, f"mixgraph divides by the sum, {total:g}")
        else:
            settings.used_as(becomes, name)
    if "mix_get_ratio" not in settings and total != 1:
        settings.warnings.append(
            f"mix_get_ratio is not given, so mixgraph takes 1: gets are {ratios['get'] / total:.3g} of all "
            "operations."
        )
    return MixSpec(**{kind: ratio / total for kind, ratio in ratios.items()})


def _size(
    settings: ReadSettings, prefix: str, defaults: tuple[float, float], high: int, low: int
) -> SizeSpec:
    """Returns the law of values or scans from the flags with a prefix.

    Args:
        settings: the flags.
        prefix: "value" or "iter".
        defaults: db_bench's shape and scale.
        high: the largest size.
        low: the smallest size of the law with scale 0.
    """
    shape = settings.number(f"{prefix}_k", defaults[0], 0, 1e6)
    scale = settings.number(f"{prefix}_sigma", defaults[1], 0, 1e9)
    start = settings.number(f"{prefix}_theta", 0.0, 0, high)
    field = "value" if prefix == "value" else "scan_length"
    names = (f"{prefix}_k", f"{prefix}_sigma", f"{prefix}_theta")
    if scale == 0:
        size = max(low, math.ceil(start))
        settings.used_as(f"{field} = {size}", *names)
        return SizeSpec(low=size)
    if high > MAX_PARETO_SIZE:
        raise UserError(
            f"{settings.where}: --mix_max_scan_len: exceeds {MAX_PARETO_SIZE + 1}; lower it, because so long "
            "scans hardly ever occur"
        )
    settings.used_as(f"{field} of kind pareto", *names)
    return SizeSpec(kind="pareto", high=high, k=shape, sigma=scale, theta=start)


def _key_chooser(settings: ReadSettings) -> KeyChooserSpec:
    """Returns the distribution of the keys, by the rules of mixgraph."""
    weights = [settings.number(name, 0.0) for name in _RANGES]
    ranges = settings.whole("keyrange_num", 1, 1)
    key_a, key_b = settings.number("key_dist_a", 0.0, 0), settings.number("key_dist_b", 0.0, 0)
    if not key_a or not key_b:
        why = "without key_dist_a and key_dist_b mixgraph draws all keys uniformly"
        for name in (*_RANGES, "keyrange_num", "key_dist_a", "key_dist_b"):
            settings.tell(name, Use.WITHOUT_EFFECT, "key_chooser of kind uniform", why)
        if any(weights):
            settings.warnings.append(
                "keyrange_dist_* have no effect in db_bench itself: without key_dist_a and key_dist_b it "
                "draws all keys uniformly."
            )
        return KeyChooserSpec()
    if not any(weights):
        settings.tell("keyrange_num", Use.WITHOUT_EFFECT, why="all of keyrange_dist_* are 0")
        ranges = 1
    settings.used_as("key_chooser of kind two_term_exponential", *_RANGES, "keyrange_num", "key_dist_a",
                     "key_dist_b")  # fmt: skip
    letters = dict(zip(("range_a", "range_b", "range_c", "range_d"), weights, strict=True))
    return KeyChooserSpec(kind="two_term_exponential", ranges=ranges, key_a=key_a, key_b=key_b, **letters)


def _arrival(settings: ReadSettings, mix: MixSpec) -> ArrivalSpec:
    """Returns the arrival: the rate a * sin(b * t + c) + d if the sine is on, else that of the limits."""
    noise = settings.number("sine_mix_rate_noise", 0.0)
    if not sine_is_on(settings, "sine_mix_rate"):
        for name in (*SINE, "sine_mix_rate_interval_milliseconds", "sine_mix_rate_noise"):
            settings.tell(name, Use.WITHOUT_EFFECT, why="sine_mix_rate is off")
        return _limited(settings, mix)
    if noise:
        settings.tell("sine_mix_rate_noise", Use.LEFT_OUT, why="the rate has no noise")
    for name in _LIMITS:
        settings.tell(name, Use.WITHOUT_EFFECT, why="sine_mix_rate replaces it")
    return sine_arrival(settings, "sine_mix_rate")


def _limited(settings: ReadSettings, mix: MixSpec) -> ArrivalSpec:
    """Returns the arrival at which the first of mixgraph's limits of gets and puts is reached."""
    rates = {}
    for name, share in zip(_LIMITS, (mix.get, mix.put), strict=True):
        limit = settings.whole(name, 0)
        if limit and share:
            rates[name] = limit / share
    if not rates:
        for name in _LIMITS:
            settings.tell(name, Use.WITHOUT_EFFECT, why="it is 0, or there are no such operations")
        return ArrivalSpec()
    rate = min(rates.values())
    becomes = f"arrival of kind fixed_rate, operations_s = {rate:.6g}"
    for name in _LIMITS:
        if rates.get(name) == rate:
            why = "mixgraph counts operations; they arrive at this rate even if the store falls behind"
            settings.tell(name, Use.TRANSLATED, becomes, why)
        else:
            settings.tell(name, Use.WITHOUT_EFFECT, why="the other limit is reached first")
    return ArrivalSpec(kind="fixed_rate", operations_s=max(MIN_OPERATIONS_S, rate))
