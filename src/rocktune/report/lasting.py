"""Sentences and tables on a proof's aged stores and on its latency at an offered rate."""

from html import escape

from rocktune.cost import COST, COST_PARTS
from rocktune.outcome import AgedStores, Interval, Outcome, TailProof, TailSide
from rocktune.report.findings import (
    UNKNOWN,
    baseline_name,
    format_interval,
    format_number,
    format_ratio,
    format_ratio_interval,
    objective_of,
    scale_phrase,
)
from rocktune.units import format_seconds

_SUSTAINED = "sustained_throughput_ops_s"
_LATENCIES = {
    "latency_us_p50": "latency p50, µs",
    "latency_us_p99": "latency p99, µs",
    "latency_us_p999": "latency p99.9, µs",
    "longest_wait_us": "longest wait, µs",
}


def compared_fields(outcome: Outcome) -> tuple[str, ...]:
    """Returns the figures with which the sides of a proof are compared, the most important first."""
    steady = (_SUSTAINED,) if outcome.protocol == "steady" else ()
    shown = (*steady, "throughput_ops_s", "read_latency_us_p99", "write_amplification")
    # The cost has a table of its own with its parts.
    asked = [each for each in objective_of(outcome).shown_fields if each not in (COST, *COST_PARTS)]
    return tuple(dict.fromkeys((*shown, *asked)))


def sentences(outcome: Outcome) -> list[str]:
    """Returns sentences on the protocol, the aged stores and the tail; empty if nothing was proven."""
    if outcome.best is None:
        return []
    if outcome.protocol == "short":
        return [
            "These figures are of short runs. A configuration that postpones compactions looks better in "
            "them than in steady state."
        ]
    unsteady = [_unsteady_sentence(name, stores) for name, stores in outcome.aged.items()]
    return [
        sentence
        for sentence in (
            _aged_sentence(outcome),
            *unsteady,
            passed_over_sentence(outcome),
            tail_sentence(outcome),
        )
        if sentence
    ]


def _aged_sentence(outcome: Outcome) -> str:
    """Returns a sentence on the age of the proof's stores; "" without aged stores."""
    if "best" not in outcome.aged or "baseline" not in outcome.aged:
        return ""
    best, baseline = (format_seconds(outcome.aged[side].load_s) for side in ("best", "baseline"))
    return (
        f"The proof's stores held all keys and had been under load for {best} (tuned) and {baseline} "
        f"({baseline_name(outcome)}) on average, {scale_phrase(outcome)}."
    )


def _unsteady_sentence(side: str, stores: AgedStores) -> str:
    """Returns a sentence on the stores of a side that did not become steady; "" if all did."""
    if stores.steady == stores.stores:
        return ""
    name = {"best": "the tuned configuration", "baseline": "the baseline"}.get(side, "RocksDB's defaults")
    changes = "; ".join(dict.fromkeys(stores.changes))
    return (
        f"Not steady: {stores.stores - stores.steady} of {stores.stores} stores of {name} still changed "
        f"after {format_seconds(stores.load_s)} of load on average ({changes})."
    )


def passed_over_sentence(outcome: Outcome) -> str:
    """Returns a sentence on finalists that were not chosen because of their tails; "" without any."""
    found = outcome.passed_over
    if not found:
        return ""
    count = "One finalist was" if len(found) == 1 else f"{len(found)} finalists were"
    ratios = ", ".join(
        UNKNOWN if each.p99_ratio is None else f"{format_number(each.p99_ratio)}×" for each in found
    )
    rare = ", ".join(UNKNOWN if each.p999_ratio is None else format_ratio(each.p999_ratio) for each in found)
    waits = ", ".join(
        UNKNOWN if each.longest_wait_ratio is None else f"{format_number(each.longest_wait_ratio)}×"
        for each in found
    )
    return (
        f"{count} faster in a closed loop and passed over: at the offered rate, p99 latency was {ratios}, "
        f"p99.9 {rare} and the longest wait {waits} that of {baseline_name(outcome)}, in few runs."
    )


def tail_sentence(outcome: Outcome) -> str:
    """Returns a sentence on the latency at the offered rate; "" if it was not measured."""
    tail = outcome.tail
    if tail is None:
        return ""
    found = (
        f"its p99 latency was {format_ratio(tail.p99_ratio)} that of {baseline_name(outcome)} "
        f"({format_ratio_interval(tail.p99_ratio)}; at most {tail.max_p99_ratio:g}× asked), its longest wait "
        f"{format_ratio(tail.longest_wait_ratio)} ({format_ratio_interval(tail.longest_wait_ratio)}; at most "
        f"{tail.max_longest_wait_ratio:g}×)"
    )
    if tail.p999_ratio is not None:
        found += (
            f", its p99.9 latency {format_ratio(tail.p999_ratio)} ({format_ratio_interval(tail.p999_ratio)}; "
            f"refused if all of it is above {tail.max_p999_ratio:g}×)"
        )
    said = {"kept": "Tail kept", "worse": "Tail worse", "undecided": "Tail undecided"}[tail.verdict]
    sustained = outcome.baseline.figure(_SUSTAINED).value
    beyond = ""
    if tail.offered_ops_s is not None and sustained is not None and tail.offered_ops_s > sustained:
        beyond = f" The baseline sustains only {format_number(sustained)} operations/s, less than that."
    return f"{said}: at {offered_phrase(tail)}, {scale_phrase(outcome)}, {found}.{beyond}"


def offered_phrase(tail: TailProof) -> str:
    """Returns the offered rate in words."""
    if tail.offered_ops_s is None:
        return "the workload's own rate"
    share = "" if tail.offered_share is None else f", {tail.offered_share:.0%} of what the baseline sustains"
    return f"{format_number(tail.offered_ops_s)} operations/s{share}"


def tail_rows(tail: TailProof) -> list[tuple[str, list[str]]]:
    """Returns labels and texts of the figures at the offered rate: tuned, baseline, and their ratio."""
    rows = []
    for name, label in _LATENCIES.items():
        ratio = {
            "latency_us_p99": tail.p99_ratio,
            "latency_us_p999": tail.p999_ratio,
            "longest_wait_us": tail.longest_wait_ratio,
        }.get(name)
        texts = [_figure(side, name) for side in (tail.best, tail.baseline)]
        rows.append((label, [*texts, UNKNOWN if ratio is None else _ratio(ratio)]))
    shares = [side.share_below_rate.value for side in (tail.best, tail.baseline)]
    if None not in shares:
        rows.append(("time below the rate", [f"{share:.1%}" for share in shares if share is not None] + [""]))
    return rows


def _figure(side: TailSide, name: str) -> str:
    """Returns a latency with its interval as text."""
    interval: Interval = getattr(side, name)
    return f"{format_number(interval.value)} ({format_interval(interval)})"


def _ratio(ratio: Interval) -> str:
    """Returns a ratio with its interval as text."""
    return f"{format_ratio(ratio)} ({format_ratio_interval(ratio)})"


def section(outcome: Outcome) -> str:
    """Returns the report's section on the latency at an offered rate; "" if it was not measured."""
    tail = outcome.tail
    if tail is None:
        return ""
    rows = "".join(
        f"<tr><td>{escape(label)}</td>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>"
        for label, texts in tail_rows(tail)
    )
    return (
        f'<section><h2>Latency at an offered rate</h2>\n<p class="note">Both configurations got '
        f"{escape(offered_phrase(tail))}, whether or not they kept up. Latency counts from the moment at "
        "which an operation was due, over all operations in all windows of time; the longest wait is the "
        "mean of the windows' longest. Intervals are from resampled windows. Those of all looks at the runs "
        "hold together with a confidence of 95%, so that each alone is wider. On a model, times are those of "
        "the model: compare the two sides, not with your own milliseconds.</p>\n"
        '<div class="scroll"><table><thead><tr><th></th><th>Tuned</th><th>Baseline</th><th>Tuned to baseline'
        f"</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )
