"""The report of a comparison of tuners."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from rocktune.analysis import ComparedRun
from rocktune.analysis.comparing import near_best_times
from rocktune.objective import Objective
from rocktune.outcome import Interval
from rocktune.report import findings
from rocktune.report.document import document
from rocktune.report.figures import Figure, axes
from rocktune.report.sections import axis_ends, figure_section, track
from rocktune.units import format_seconds

_SERIES = 8
_GRID = 200


def render_comparison(
    name: str, objective: Objective, runs: Sequence[ComparedRun], found: Mapping[str, Any]
) -> str:
    """Returns the report as HTML.

    Args:
        name: name of the comparison.
        objective: objective of all studies.
        runs: finished studies.
        found: findings of `rocktune.analysis.findings_of`.
    """
    what = "hypervolume" if objective.seeks_front else "times better than the baseline"
    settings = list(dict.fromkeys(run.setting for run in runs))
    body = (
        _header(name, runs, found)
        + _ranks(found, what)
        + "".join(
            _search(setting, [run for run in runs if run.setting == setting], what) for setting in settings
        )
        + _near_best(runs)
        + _pairs(found)
        + _studies(found)
    )
    return document(f"Tuners compared · {name}", body)


def headline(found: Mapping[str, Any]) -> str:
    """Returns one sentence that names the best tuner and says whether the lead is proven."""
    if len(found["tuners"]) < 2 or not found["pairs"]:
        return "Nothing to compare yet"
    first, second = list(found["tuners"])[:2]
    # Pairs are listed once, in the order of ranks.
    pair = next(pair for pair in found["pairs"] if {pair["tuner"], pair["other"]} == {first, second})
    ratio = Interval(**pair["ratio"])
    if ratio.low is not None and ratio.low > 1:
        return f"{first} was best, {findings.format_ratio(ratio)} as good as {second}, the next"
    return f"{first} ranked first, but its lead over {second} is not proven"


def _header(name: str, runs: Sequence[ComparedRun], found: Mapping[str, Any]) -> str:
    """Returns the headline with the numbers of tuners, settings and seeds."""
    settings, seeds = ({getattr(run, part) for run in runs} for part in ("setting", "seed"))
    friedman = found["friedman"]
    chance = (
        f"Friedman's test over {friedman['blocks']} blocks: p = {friedman['p']:.3g}. "
        if friedman
        else "Friedman's test needs at least three tuners and three blocks. "
    )
    counts = ((len(found["tuners"]), "tuner"), (len(settings), "setting"), (len(seeds), "seed"))
    counted = ", ".join(f"{count} {what}" + "s" * (count != 1) for count, what in counts)
    text = (
        f"{counted}; every tuner had the same budget of measuring, and equal seeds got the same workload. "
        f"{chance}"
    )
    return (
        f'<header>\n<p class="kicker">{escape(name)}</p>\n<h1>{escape(headline(found))}</h1>\n'
        f'<p class="note">{escape(text)}</p></header>\n'
    )


def _ranks(found: Mapping[str, Any], what: str) -> str:
    """Returns the HTML section with the table of tuners by average rank."""
    rows = "".join(
        f"<tr><td>{escape(tuner)}</td>{_number(summary['average_rank'])}{_spread(summary['verified'])}"
        f'<td class="number">{summary["near_best_share"]:.0%}</td>'
        f"{_seconds(summary['near_best_s']['median'])}</tr>"
        for tuner, summary in found["tuners"].items()
    )
    return (
        f'<section><h2>Ranks</h2>\n<p class="note">Ranks follow the verified results, which are fresh runs of'
        f" what each search found ({escape(what)}). 1 is best; ties share a rank. Near the best "
        "means at least 95% of the best result of any search on the same setting.</p>\n"
        '<div class="scroll"><table><thead><tr><th>Tuner</th><th class="number">Average rank</th>'
        '<th class="number">Verified, median</th><th class="number">Range</th>'
        '<th class="number">Near the best</th><th class="number">After, median</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>\n"
    )


def _number(value: float | None) -> str:
    """Returns an HTML cell with a number."""
    return f'<td class="number">{findings.format_number(value)}</td>'


def _spread(spread: Mapping[str, float | None]) -> str:
    """Returns two HTML cells: the median, and the range."""
    ends = f"{findings.format_number(spread['low'])} to {findings.format_number(spread['high'])}"
    return f'{_number(spread["median"])}<td class="number">{ends}</td>'


def _seconds(value: float | None) -> str:
    """Returns an HTML cell with a duration, "never" for None."""
    return f'<td class="number">{"never" if value is None else format_seconds(value)}</td>'


def _search(setting: str, runs: Sequence[ComparedRun], what: str) -> str:
    """Returns the HTML section on the searches on one setting."""
    return figure_section(
        f"Search on {setting}",
        "The best so far over the time spent measuring: median over seeds, with the range between the "
        "quartiles. These are the search's own measurements, noise included; the ranks above use fresh runs.",
        [best_so_far(runs, what)],
    )


def best_so_far(runs: Sequence[ComparedRun], what: str) -> Figure | None:
    """Returns the figure of the median best so far by tuner, with quartiles as bands.

    Returns:
        None if nothing was found.
    """
    # Searches differ a little in length; the longest one sets the axis.
    last_s = max((run.progress.total_s for run in runs), default=0.0)
    times_s = np.linspace(0, last_s, _GRID)
    traces: list[dict[str, Any]] = []
    for place, tuner in enumerate(dict.fromkeys(run.tuner for run in runs)):
        curves = np.array([run.progress.at(times_s) for run in runs if run.tuner == tuner])
        low, median, high = np.quantile(curves, (0.25, 0.5, 0.75), axis=0)
        # Before the first result the best is 0, which would squeeze the curve to the top.
        seen = median > 0
        colour = f"role:series{place % _SERIES}"
        shared = {"x": _rounded(times_s[seen]), "type": "scatter", "mode": "lines", "legendgroup": tuner}
        band = {"line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
        traces += [
            shared | band | {"y": _rounded(low[seen])},
            shared | band | {"y": _rounded(high[seen]), "fill": "tonexty", "fillcolor": f"{colour}/26"},
            shared
            | {
                "name": escape(tuner),
                "y": _rounded(median[seen]),
                "line": {"color": colour, "width": 2.5, "shape": "hv"},
                "hovertemplate": f"%{{y:.3f}}<extra>{escape(tuner)}</extra>",
            },
        ]
    if not any(trace["x"] for trace in traces):
        return None
    layout = axes("Time spent measuring (s)", f"Best so far, {what}")
    layout["yaxis"] |= {"rangemode": "normal"}
    return {"data": traces, "layout": layout | {"hovermode": "x unified"}}


def _rounded(values: Any) -> list[float]:
    """Returns values with six digits, to keep the page small."""
    return [float(f"{value:.6g}") for value in values]


def _near_best(runs: Sequence[ComparedRun]) -> str:
    """Returns the section on the time until near the best."""
    return figure_section(
        "Time until near the best",
        "The share of runs that have reached 95% of the best known result, over the spent share of the "
        "budget. The higher and the further left a line, the better.",
        [near_best_figure(runs)],
    )


def near_best_figure(runs: Sequence[ComparedRun]) -> Figure:
    """Returns the figure of the cumulative distribution of the time to near the best, by tuner."""
    near = near_best_times(runs)
    traces = []
    for place, tuner in enumerate(dict.fromkeys(run.tuner for run in runs)):
        own = [run for run in runs if run.tuner == tuner]
        shares = sorted(near[run.study] / run.progress.total_s for run in own if run.progress.total_s)
        reached = [share for share in shares if np.isfinite(share)]
        x = [0.0, *reached, 1.0]
        # Divided by all runs, so that the curve ends at the share that got there at all.
        y = [0.0, *((index + 1) / len(own) for index in range(len(reached))), len(reached) / len(own)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": escape(tuner),
                "x": _rounded(x),
                "y": _rounded(y),
                "line": {"color": f"role:series{place % _SERIES}", "width": 2.5, "shape": "hv"},
                "hovertemplate": f"%{{y:.0%}}<extra>{escape(tuner)}</extra>",
            }
        )
    layout = axes("Share of the search's budget", "Share of runs near the best")
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"tickformat": ".0%"}
    return {"data": traces, "layout": layout | {"hovermode": "x unified"}}


def _pairs(found: Mapping[str, Any]) -> str:
    """Returns the table that compares each two tuners; "" without common blocks."""
    pairs = [(pair, Interval(**pair["ratio"])) for pair in found["pairs"]]
    # Two tuners may have no setting and seed in common that both finished.
    pairs = [(pair, ratio) for pair, ratio in pairs if ratio.value is not None]
    if not pairs:
        return ""
    ends = axis_ends([ratio for _, ratio in pairs])
    rows = "".join(
        f"<tr><td>{escape(pair['tuner'])}</td><td>{escape(pair['other'])}</td>"
        f'<td class="number">{findings.format_ratio(ratio)}</td><td>{track(ratio, ends)}</td>'
        f'<td class="number">{pair["wins"]} · {pair["ties"]} · {pair["losses"]}</td></tr>'
        for pair, ratio in pairs
    )
    return (
        '<section><h2>Tuner against tuner</h2>\n<p class="note">The ratio of the verified results of equal '
        "setting and seed, with its 95% interval; the dashed line is 1, no difference. Results within 1% of "
        "each other are ties.</p>\n"
        '<div class="scroll"><table class="effects"><thead><tr><th>Tuner</th><th>Other</th>'
        '<th class="number">Ratio</th><th></th><th class="number">Wins · ties · losses</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>\n"
    )


def _studies(found: Mapping[str, Any]) -> str:
    """Returns the HTML section with the folded table of all studies."""
    rows = "".join(
        f"<tr><td><code>{escape(run['study'])}</code></td><td>{escape(run['setting'])}</td>"
        f'<td>{escape(run["tuner"])}</td><td class="number">{run["seed"]}</td>{_number(run["verified"])}'
        f"{_number(run['search_best'])}"
        f"{_seconds(run['near_best_s'] if np.isfinite(run['near_best_s']) else None)}</tr>"
        for run in found["runs"]
    )
    return (
        "<section><h2>Studies</h2>\n<details><summary>Each is in the ledger: "
        "<code>rocktune show STUDY</code></summary>"
        '<div class="scroll"><table><thead><tr><th>Study</th><th>Setting</th><th>Tuner</th>'
        '<th class="number">Seed</th><th class="number">Verified</th><th class="number">Search saw</th>'
        '<th class="number">Near the best after</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details></section>\n"
    )
