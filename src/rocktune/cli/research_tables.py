"""Results of sweeps, tables and comparisons as text for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from rocktune.cli.output import table
from rocktune.cli.tables import print_notes
from rocktune.outcome import Interval
from rocktune.report import comparison, findings
from rocktune.units import format_seconds


def print_sweep_estimate(console: Console, estimate: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the number of runs of a sweep and their estimated time."""
    console.print(
        f"Sweep '{estimate['study']}' at scale {estimate['scale']}: {estimate['runs']:,} runs, about "
        f"{format_seconds(estimate['total_s'])} plus loading. Ctrl-C stops it; "
        f"'rocktune resume {estimate['study']}' continues.",
        soft_wrap=True,
    )
    print_notes(console, estimate, verbose)


def print_sweep(console: Console, summary: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the summary of a table: best runs, noise, failures, its file, and the OPTIONS file's account."""
    console.print(
        f"{summary['workload']} on {summary['device']}, {summary['engine']}: "
        f"{summary['configurations']:,} configurations in {summary['runs']:,} runs of "
        f"{format_seconds(summary['measured_s'])}"
    )
    console.print()
    if summary["best"]:
        console.print(_extremes(summary))
        console.print()
    for status, count in summary["failures"].items():
        reason = summary["reasons"][status]
        console.print(f"{count} runs failed: {status}{reason and f', {reason}'}", soft_wrap=True)
    console.print(f"Table: {summary['table']}", soft_wrap=True)
    print_notes(console, summary, verbose)


def _extremes(summary: Mapping[str, Any]) -> Table:
    """Returns a table of the best configuration in each figure."""
    heads = [f"best {findings.field_label(field)}" for field in summary["best"]]
    made = table("", *heads, "noise", numbers=(*heads, "noise"))
    for field in summary["best"]:
        unit = findings.field_unit(field)
        cells = [findings.format_field(field, best[field]) for best in summary["best"].values()]
        noise = summary["noise"][field]
        made.add_row(
            f"{findings.field_label(field)}, {unit}", *cells, "–" if noise is None else f"{noise:.1%}"
        )
    configurations = [best["configuration"] for best in summary["best"].values()]
    for name in dict.fromkeys(name for configuration in configurations for name in configuration):
        cells = [
            # A configuration lacks the knobs that are inactive in it.
            findings.format_option(name, configuration[name]) if name in configuration else "–"
            for configuration in configurations
        ]
        made.add_row(name, *cells, "")
    return made


def print_comparison_estimate(console: Console, estimate: Mapping[str, Any]) -> None:
    """Prints the number of studies of a comparison and their estimated time."""
    wall_s, name = estimate["total_s"], estimate["study"]
    # Engine recorded takes no wall time for its measurements.
    takes = f"about {format_seconds(wall_s)}" if wall_s else "replayed from the table, so it is quick"
    console.print(
        f"Comparison '{name}': {estimate['studies']} studies, each with a search of "
        f"{format_seconds(estimate['budget_s'])} of measuring; {takes}. Ctrl-C stops it; "
        f"'rocktune resume {name}' continues.",
        soft_wrap=True,
    )


def print_comparison(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the ranks, the comparison of each two tuners, and the report's file."""
    console.print()
    console.print(comparison.headline(found), style="bold")
    console.print()
    console.print(_ranks(found))
    console.print()
    if found["pairs"]:
        console.print(_pairs(found))
        console.print()
    if found["friedman"]:
        console.print(
            f"Friedman's test over {found['friedman']['blocks']} blocks: p = {found['friedman']['p']:.3g}"
        )
    console.print(f"Report: {found['report']}", soft_wrap=True)


def _ranks(found: Mapping[str, Any]) -> Table:
    """Returns a table of the tuners by average rank."""
    heads = ("average rank", "verified, median", "near the best", "after, median")
    made = table("tuner", *heads, numbers=heads)
    for tuner, summary in found["tuners"].items():
        after_s = summary["near_best_s"]["median"]
        made.add_row(
            tuner,
            findings.format_number(summary["average_rank"]),
            findings.format_number(summary["verified"]["median"]),
            f"{summary['near_best_share']:.0%}",
            "never" if after_s is None else format_seconds(after_s),
        )
    return made


def _pairs(found: Mapping[str, Any]) -> Table:
    """Returns a table of each two tuners with the ratio of their results."""
    made = table("tuner", "other", "ratio", "wins · ties · losses", numbers=("ratio",))
    for pair in found["pairs"]:
        ratio = Interval(**pair["ratio"])
        interval = findings.format_ratio_interval(ratio)
        counts = f"{pair['wins']} · {pair['ties']} · {pair['losses']}"
        made.add_row(pair["tuner"], pair["other"], f"{findings.format_ratio(ratio)} ({interval})", counts)
    return made


def print_importance(console: Console, found: Mapping[str, Any]) -> None:
    """Prints for each figure how much each knob explains."""
    for field, knobs in found["fields"].items():
        console.print(f"{findings.field_label(field)}, {found['runs']:,} runs", style="bold")
        made = table(
            "knob", "R²", "R² given the first", "fANOVA", numbers=("R²", "R² given the first", "fANOVA")
        )
        for each in knobs:
            given = each["r2_given_first"]
            made.add_row(
                each["knob"],
                f"{each['r2']:.2f}",
                "–" if given is None else f"{given:.2f}",
                f"{each['fanova']:.2f}",
            )
        console.print(made)
        console.print()
    console.print(
        "R²: share of the variance that the knob explains. Given the first: the highest R² among runs in "
        "which the first knob has the same value."
    )
    if "kept" in found:
        console.print(
            f"{found['space_file']}: {len(found['kept'])} knobs to tune: {', '.join(found['kept'])}"
        )


def print_clusters(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the clusters of knobs and the considered metrics."""
    made = table("cluster", "knobs", "metrics that they influence")
    for number, cluster in enumerate(found["clusters"], 1):
        made.add_row(str(number), "\n".join(cluster["knobs"]), "\n".join(cluster["tasks"]) or "–")
    console.print(f"{found['source']}, {found['runs']:,} runs")
    console.print(made)
    made = table("metric", "with objective", "knob", "with knob", numbers=("with objective", "with knob"))
    for each in found["candidates"]:
        shown = (each["metric"], f"{each['with_objective']:+.2f}", each["knob"], f"{each['with_knob']:+.2f}")
        made.add_row(*shown)
    console.print(made)
    console.print("Correlations are Spearman's. Clusters rest on these metrics; each uses its best two.")
