"""Sentences and formatted numbers about an outcome, shared by the report and the terminal."""

import math
from collections.abc import Mapping
from typing import Any

from rocktune.cost import COST, COST_PARTS, Pricing
from rocktune.objective import Objective, is_larger_better, objective_named
from rocktune.outcome import Bound, FrontPoint, Interval, OptionEffect, Outcome, Side
from rocktune.units import format_bytes
from rocktune.weights import is_weighted

UNKNOWN = "–"
"""Text for an unknown number."""

_LATENCY_TAILS = {"p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}
_FIELDS = (
    {
        "throughput_ops_s": ("throughput", "operations/s"),
        "sustained_throughput_ops_s": ("sustained throughput", "operations/s"),
        "longest_wait_us": ("longest wait", "µs"),
        "compaction_debt_bytes": ("compaction debt", "bytes"),
        "write_amplification": ("write amplification", "bytes written per byte put"),
        "read_amplification": ("read amplification", "device reads per read"),
        "skipped_keys_per_scan": ("keys skipped", "per scan"),
        "space_amplification": ("space amplification", "stored bytes per live byte"),
        "mean_space_amplification": ("mean space amplification", "stored bytes per live byte"),
        "max_space_amplification": ("maximum space amplification", "stored bytes per live byte"),
        "stalled_share": ("share of time stalled", "share"),
        "max_write_stop_s": ("longest write stop", "s"),
        "db_bytes": ("size of the store", "bytes"),
        "memtable_bytes": ("memtables", "bytes"),
        "block_cache_bytes": ("block cache in use", "bytes"),
        "table_reader_bytes": ("table readers", "bytes"),
        "resident_bytes": ("resident memory", "bytes"),
        "full_size_memory_bytes": ("memory at full size", "bytes"),
        "cpu_s_per_million_ops": ("CPU time", "s per million operations"),
        "read_block_get_us_p99": ("block read p99", "µs"),
        "level0_to_level1_us_p99": ("level 0 compaction p99", "µs"),
        "others_cpu_share": ("other work on the machine", "share of the processors"),
    }
    | {
        f"{kind}_latency_us_{tail}": (f"{kind} latency {label}", "µs")
        for kind in ("read", "write", "scan")
        for tail, label in _LATENCY_TAILS.items()
    }
    | {name: (name.replace("_", " "), "per million operations") for name in (COST, *COST_PARTS)}
)
_BASELINES = {
    "options_file": "your own configuration",
    "tuning_guide": "the tuning guide's configuration",
    "space_default": "the space's default configuration",
}
_MAX_NAMED = 2
# Options have no units in RocksDB; these parts of names tell which are bytes.
_SIZE_HINTS = ("_size", "_bytes", "_base", "block_cache", "_limit")


def primary_field(outcome: Outcome) -> str:
    """Returns the field of the outcome's ratios: the first objective, or throughput for "balance"."""
    return objective_named(outcome.objective).primary


def divisor_of(scale: str) -> int:
    """Returns S of "1/S", and 1 of "1" and of ""."""
    return int(scale.rpartition("/")[2] or 1)


def objective_of(outcome: Outcome) -> Objective:
    """Returns the outcome's objective, with the constraints as stated, which prices figures of the search."""
    pricing = None if outcome.prices is None else Pricing(outcome.prices, divisor_of(outcome.search_scale))
    return objective_named(outcome.objective, outcome.constraints, outcome.default_constraints, pricing)


def field_label(field: str) -> str:
    """Returns a figure's name in words, such as `read latency p99`."""
    if is_weighted(field):
        return "weighted figures"
    return _FIELDS.get(field, (field, ""))[0]


def field_unit(field: str) -> str:
    """Returns a figure's unit, "" without one; of a weighted sum its text, since its value has no unit."""
    if is_weighted(field):
        return field
    return _FIELDS.get(field, ("", ""))[1]


def format_number(value: float | None, digits: int = 3) -> str:
    """Returns a number with some significant digits and thousands separators; a dash for None and NaN."""
    if value is None or math.isnan(value):
        return UNKNOWN
    # Neither has a logarithm to count digits with.
    if value == 0 or math.isinf(value):
        return f"{value:g}".replace("inf", "∞").replace("-", "−")
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(0, places)}f}".replace("-", "−")


def format_interval(interval: Interval, digits: int = 3) -> str:
    """Returns a 95% interval as text (`47,700 to 48,900`); a dash if unknown."""
    if interval.low is None or interval.high is None:
        return UNKNOWN
    return f"{format_number(interval.low, digits)} to {format_number(interval.high, digits)}"


def format_ratio(interval: Interval) -> str:
    """Returns a ratio as text (`1.57×`); a dash if unknown."""
    return _times(interval.value)


def format_ratio_interval(interval: Interval) -> str:
    """Returns a ratio's 95% interval as text (`1.53× to 1.61×`); a dash if unknown."""
    if interval.low is None or interval.high is None:
        return UNKNOWN
    return f"{_times(interval.low)} to {_times(interval.high)}"


def _times(ratio: float | None) -> str:
    """Returns a factor as text, with a third decimal near 1 so that it shows on which side of 1 it is."""
    if ratio is None or math.isnan(ratio):
        return UNKNOWN
    return f"{ratio:.3f}×" if abs(ratio - 1) < 0.005 else f"{ratio:.2f}×"


def format_option(name: str, value: object) -> str:
    """Returns an option's value as text; sizes get a unit, whether given as number or as text."""
    if value is None:
        return "not set"
    # RocksDB writes switches in lower case.
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if any(name.endswith(hint) for hint in _SIZE_HINTS) and text.isdigit() and int(text) >= 1024:
        return format_bytes(int(text))
    return text


def format_changes(configuration: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """Returns the differences of a configuration from the baseline, "" without any."""
    return ", ".join(
        f"{name}={format_option(name, value)}"
        for name, value in configuration.items()
        if baseline.get(name) != value
    )


def format_field(field: str, value: float | None) -> str:
    """Returns a figure's value as text; sizes get a unit, and shares become percent."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if field_unit(field) == "bytes":
        # Only a debt can be below 0.
        return format_bytes(value).replace("-", "−")
    return f"{100 * value:.1f}%" if field_unit(field) == "share" else format_number(value)


def format_field_interval(field: str, interval: Interval) -> str:
    """Returns a figure's 95% interval as text (`840MiB to 895MiB`); a dash if unknown."""
    if interval.low is None or interval.high is None:
        return UNKNOWN
    return f"{format_field(field, interval.low)} to {format_field(field, interval.high)}"


def option_verdict(change: OptionEffect) -> str:
    """Returns the ablation's verdict on a changed option, and whether the option was left out."""
    # The other two, undecided and not measurable, both mean that no effect was found.
    said = {"helps": "helps", "harms": "harms"}.get(change.verdict, "no measurable effect")
    # Options that rules tie together are set back together, so the effect belongs to all of them.
    together = change.together_with
    if together:
        names = ", ".join(together) if len(together) <= _MAX_NAMED else f"{len(together)} others"
        said += f", together with {names}"
    return said if change.kept else f"{said}; left out"


def scale_phrase(outcome: Outcome) -> str:
    """Returns the scale of the proof in words: `on a 1/64 model`, `at full size`."""
    scale = outcome.verified_at_scale or outcome.search_scale
    return "at full size" if scale == "1" else f"on a {scale} model"


def is_proven(outcome: Outcome) -> bool:
    """Returns whether the whole interval of the ratio is above 1 and the winner is recommended."""
    low = outcome.ratio.low
    return low is not None and low > 1 and outcome.recommended == "best"


def broken_bounds(outcome: Outcome, figures: Mapping[str, float | None]) -> list[Bound]:
    """Returns the constraints that figures break, the user's first; empty for older documents."""
    return [bound for bound in outcome.bounds if _breaks(bound, figures.get(bound.field))]


def _breaks(bound: Bound, value: float | None) -> bool:
    """Returns whether a figure breaks a constraint; an unknown one does."""
    if value is None or bound.bound is None:
        return True
    return value > bound.bound if bound.at_most else value < bound.bound


def broken_phrase(outcome: Outcome, side: Side | FrontPoint) -> str:
    """Returns the constraints that a configuration breaks, the defaults in words, joined by "and"."""
    figures = (
        side.figures
        if isinstance(side, FrontPoint)
        else {bound.field: side.figure(bound.field).value for bound in outcome.bounds}
    )
    broken = [
        f"{field_label(bound.field)} of at most {format_field(bound.field, bound.bound)}"
        if bound.is_default
        else bound.constraint
        for bound in broken_bounds(outcome, figures)
    ]
    # Older documents have no bounds.
    return " and ".join(broken or outcome.constraints)


def alone_keeps_constraints(outcome: Outcome) -> bool:
    """Returns whether the winner keeps the constraints and the baseline does not."""
    kept = outcome.best is not None and outcome.best.keeps_constraints
    return kept and outcome.recommended == "best" and not outcome.baseline.keeps_constraints


def headline(outcome: Outcome) -> str:
    """Returns the result in one sentence that needs no knowledge of RocksDB or statistics."""
    if outcome.nearest_miss:
        return f"No feasible configuration found: none keeps {broken_phrase(outcome, outcome.nearest_miss)}"
    if alone_keeps_constraints(outcome):
        kept = broken_phrase(outcome, outcome.baseline)
        return f"Keeps {kept}, which {baseline_name(outcome)} does not, {scale_phrase(outcome)}"
    ratio, field, where = outcome.ratio.value, primary_field(outcome), _where(outcome)
    if outcome.reason:
        return f"{outcome.reason.capitalize()} during the proof, {where}"
    if outcome.best is not None and not outcome.best.keeps_constraints:
        return (
            f"No configuration proven to keep {broken_phrase(outcome, outcome.best)}, {scale_phrase(outcome)}"
        )
    if ratio is not None and is_proven(outcome):
        larger = is_larger_better(field)
        # Ratios are "times better": a latency 2 times better is 50% less.
        change = ratio - 1 if larger else 1 - 1 / ratio
        sense = "better" if is_weighted(field) else "more" if larger else "less"
        amount = f"{100 * change:.{0 if change >= 0.1 else 1}f}% {sense}"
        short = " in short runs" if outcome.protocol == "short" else ""
        return f"{amount} {field_label(field)} than {baseline_name(outcome)}{short}, {where}"
    if ratio is None:
        return "No configuration could be compared with the baseline"
    if outcome.tail is not None and outcome.tail.verdict != "kept":
        more = "Better" if is_weighted(field) else "More" if is_larger_better(field) else "Less"
        return f"{more} {field_label(field)} than {baseline_name(outcome)}, but no proof of its tail, {where}"
    return f"No proven gain over {baseline_name(outcome)}, {where}"


def _where(outcome: Outcome) -> str:
    """Returns where the ratio was measured: the model, and how many workloads if there are several."""
    worst = f", on the worst of {len(outcome.workloads)} workloads" if outcome.workloads else ""
    return scale_phrase(outcome) + worst


def ratio_phrase(outcome: Outcome) -> str:
    """Returns the meaning of the ratio, to be read after it: `the throughput of the baseline`."""
    field = primary_field(outcome)
    if is_larger_better(field):
        return f"the {field_label(field)} of {baseline_name(outcome)}"
    return f"lower {field_label(field)} than {baseline_name(outcome)}"


def baseline_name(outcome: Outcome) -> str:
    """Returns the name of the baseline in words, such as `your own configuration`."""
    return _BASELINES.get(outcome.baseline.source, "the baseline configuration")


def verdict(outcome: Outcome) -> str:
    """Returns two or three sentences: what to do, and why, with the interval."""
    if outcome.nearest_miss:
        return _missed(outcome, outcome.nearest_miss)
    ratio = outcome.ratio
    measured = f"{format_ratio(ratio)} {ratio_phrase(outcome)} (95% interval {format_ratio_interval(ratio)})"
    if outcome.reason:
        return (
            f"Keep the baseline. The proof is {outcome.reason}. The best configuration found reached "
            f"{measured}, but other programs disturbed the proof. Prove it again on a quiet machine."
        )
    if alone_keeps_constraints(outcome):
        return (
            f"Use the tuned configuration. With workload seeds unseen by the search it kept "
            f"{broken_phrase(outcome, outcome.baseline)}, which {baseline_name(outcome)} did not, and "
            f"reached {measured}."
        )
    if is_proven(outcome):
        return f"Use the tuned configuration. With workload seeds unseen by the search it reached {measured}."
    if outcome.best is not None and not outcome.best.keeps_constraints:
        return (
            f"Keep the baseline. The best configuration found kept "
            f"{broken_phrase(outcome, outcome.best)} in the search, but not in the fresh runs of the proof. "
            f"A larger budget may find one that keeps them."
        )
    if ratio.value is None:
        return "Keep the baseline. No configuration could be compared with it."
    if outcome.tail is not None and outcome.tail.verdict != "kept":
        tail = "was worse" if outcome.tail.verdict == "worse" else "is undecided"
        return (
            f"Keep the baseline. The best configuration found reached {measured}, but its tail latency at "
            f"the offered rate {tail}."
        )
    # A missing end of the interval counts as unbounded, which proves nothing.
    if (ratio.low or 0) <= 1 <= (ratio.high or math.inf):
        return (
            f"Keep the baseline. The best configuration found reached {measured}. The interval contains 1, "
            f"so the difference may be chance. A larger budget may find and prove a larger gain."
        )
    return f"Keep the baseline. The best configuration found reached only {measured}."


def proof_sentence(outcome: Outcome) -> str:
    """Returns how many pairs the proof ran and why it ended, in one sentence.

    It is "" if nothing was proven, and for a document that has no number of pairs.
    """
    if outcome.best is None or (outcome.stopped == "fixed" and not outcome.proof_pairs):
        return ""
    pairs = f"{outcome.proof_pairs} pair{'' if outcome.proof_pairs == 1 else 's'}"
    reasons = {
        "fixed": "their number was given",
        "failed": "a run of the tuned configuration failed",
        "better": "the interval lies above 1",
        "worse": "the interval lies below 1",
        "equal": "the interval leaves no difference that matters",
        "maximum": "that is the maximum",
        "futile": "the remaining pairs could hardly have shown a gain",
    }
    return f"The proof ended after {pairs} of runs: {reasons[outcome.stopped]}."


def _missed(outcome: Outcome, nearest: FrontPoint) -> str:
    """Returns the verdict if no configuration keeps the constraints, with the nearest one's figures."""
    fields = {bound.field for bound in broken_bounds(outcome, nearest.figures)}
    # Older documents have the constraints as text, in either direction.
    fields |= {text.replace(">=", "<=").partition("<=")[0] for text in outcome.constraints}
    figures = ", ".join(
        f"{field_label(field)} {format_field(field, nearest.figures.get(field))} {field_unit(field)}"
        for field in sorted(fields)
    )
    return (
        f"Keep the baseline, loosen the constraint, or search with a larger budget. The nearest miss had "
        f"{figures}."
    )


def count_of(number: int, noun: str) -> str:
    """Returns a number with its noun, such as "1 pair" or "2 pairs"."""
    return f"{number} {noun}{'s' if number != 1 else ''}"
