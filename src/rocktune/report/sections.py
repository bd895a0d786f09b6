"""Sections of a study's report as HTML. All outside text is escaped here."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.outcome import Interval, OptionEffect, Outcome
from rocktune.report import figures, findings, lasting
from rocktune.report.advice import advice
from rocktune.report.reproduce import command_lines, facts, named
from rocktune.report.scale import scale_advice
from rocktune.trial import Measurement
from rocktune.units import format_seconds

# A very wide interval would squeeze all others to dots, so axes end this factor beyond the values.
_BEYOND = 1.5
_INSIDE_NAMES = re.compile("(?<=_)|(?<=[a-z]{2})(?=[A-Z][a-z])")
# Outcomes hold intervals only for the three fields above; these come from the recorded runs.
_MEDIAN_FIELDS = (
    "write_latency_us_p99",
    "read_amplification",
    "space_amplification",
    "stalled_share",
)
_FAMILY_FIELDS = (
    "throughput_ops_s",
    "read_latency_us_p99",
    "write_latency_us_p99",
    "scan_latency_us_p99",
    "db_bytes",
    "space_amplification",
)


def result(study: StudyRecord, outcome: Outcome) -> str:
    """Returns the headline, the ratio, and the drawing of its intervals."""
    parts = (study.name, outcome.workload, outcome.device, outcome.engine)
    kicker = " · ".join(escape(named(part)) for part in parts if part)
    ratio = outcome.ratio
    proven = " proven" if findings.is_proven(outcome) else ""
    return (
        "<header>\n<p "
        f'class="kicker">{kicker}</p>\n<h1>{escape(findings.headline(outcome))}</h1>\n</header>\n<div '
        f'class="result"><div><div class="figure{proven}">{findings.format_ratio(ratio)}</div><p '
        f'class="note">{escape(findings.ratio_phrase(outcome))}<br>'
        f"95% interval {findings.format_ratio_interval(ratio)}, "
        f"{escape(findings.scale_phrase(outcome))}</p></div>{_strip(outcome)}</div>\n"
    )


def _strip(outcome: Outcome) -> str:
    """Returns the two ratios as intervals on one axis with a line at 1; "" if neither is known."""
    rows = [
        ("to the baseline", outcome.ratio_to_baseline),
        ("to RocksDB's defaults", outcome.ratio_to_rocksdb_defaults),
    ]
    # A study without a feasible winner has no ratios to draw.
    known = [(label, ratio) for label, ratio in rows if ratio is not None and ratio.value is not None]
    ends = axis_ends([interval for _, interval in known])
    lines = "".join(
        f'<div class="row"><span class="label">{label}</span>{track(interval, ends)}'
        f'<span class="times">{findings.format_ratio(interval)}</span></div>'
        for label, interval in known
    )
    legend = '<p class="kicker">Ratios with 95% intervals; the dashed line is 1, no difference.</p>'
    return f'<div class="strip">{lines}{legend}</div>' if known else ""


def axis_ends(intervals: Sequence[Interval]) -> tuple[float, float]:
    """Returns the ends of an axis of ratios.

    The axis holds 1, all values, and their intervals up to a factor beyond the values.
    """
    values = [1.0] + [interval.value for interval in intervals if interval.value is not None]
    lows = [interval.low for interval in intervals if interval.low is not None]
    highs = [interval.high for interval in intervals if interval.high is not None]
    left = max(min(values + lows), min(values) / _BEYOND)
    right = min(max(values + highs), max(values) * _BEYOND)
    # At least a little, so that ratios all near 1 do not fill the axis with noise.
    margin = 0.08 * max(right - left, 0.1)
    return left - margin, right + margin


def track(interval: Interval, ends: tuple[float, float], idle: bool = False) -> str:
    """Returns a drawing of one interval on an axis; "" without a value.

    Args:
        interval: interval to draw, clipped to the axis.
        ends: lower and upper end of the axis.
        idle: draws in grey, for options without effect.
    """
    if interval.value is None:
        return ""

    def percent(value: float) -> float:
        return round(100 * (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0]), 2)

    value = interval.value
    # A single pair has a value but no interval, and is drawn as a point.
    low, high = (value if end is None else end for end in (interval.low, interval.high))
    kind = " idle" if idle else ""
    return (
        f'<div class="track"><span class="one" style="left:{percent(1)}%"></span>'
        f'<span class="range{kind}" '
        f'style="left:{percent(low)}%;width:{percent(high) - percent(low):.2f}%"></span><span '
        f'class="dot{kind}" style="left:{percent(value)}%"></span></div>'
    )


def recommendation(outcome: Outcome) -> str:
    """Returns the section on what to do: verdict, files and advice."""
    files = [("OPTIONS file", outcome.options_file), ("This report", outcome.report)]
    listed = "".join(f"<dt>{label}</dt><dd><code>{escape(path)}</code></dd>" for label, path in files if path)
    said = (
        *lasting.sentences(outcome),
        *advice(outcome),
        *scale_advice(outcome),
        *outcome.device_notes,
    )
    lines = "".join(f"<li>{_with_code(line)}</li>" for line in said)
    return (
        f"<section><h2>What to do</h2>\n<p>{escape(_concluded(outcome))}</p>\n"
        + (f"<dl>{listed}</dl>\n" if listed else "")
        + (f'<ul class="advice">{lines}</ul>\n' if lines else "")
        + "</section>\n"
    )


def _concluded(outcome: Outcome) -> str:
    """Returns the verdict and how the proof ended."""
    return f"{findings.verdict(outcome)} {findings.proof_sentence(outcome)}".strip()


def _with_code(text: str) -> str:
    """Escapes a sentence and sets text between backquotes as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))


def options(outcome: Outcome) -> str:
    """Returns the section on changed options with their effects; "" if none changed."""
    changes = outcome.options_that_matter
    if not changes:
        return ""
    ends = axis_ends([change.effect_ratio for change in changes])
    rows = "".join(_option_row(change, ends) for change in changes)
    label = escape(findings.field_label(findings.primary_field(outcome)))
    return (
        '<section><h2>What changed</h2>\n<p class="note">The effect is the gain in '
        f"{label} that goes away when this one option is set back to the baseline's value, with its 95% "
        "interval. Options without effect are left out if the rest runs as well without them.</p>\n"
        '<div class="scroll"><table class="effects"><thead><tr><th>Option</th><th>From → '
        "to</th><th>Effect</th>"
        f"<th>Verdict</th><th>What it does</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )


def _option_row(change: OptionEffect, ends: tuple[float, float]) -> str:
    """Returns the HTML row of one changed option."""
    name, ratio, matters = change.option, change.effect_ratio, change.matters
    values = (breakable(findings.format_option(name, value)) for value in (change.before, change.after))
    effect = "–"
    if ratio.value is not None:
        effect = (
            f"{findings.format_ratio(ratio)}{track(ratio, ends, idle=not matters)}"
            f'<span class="interval">{findings.format_ratio_interval(ratio)}</span>'
        )
    mark = (
        f'<span class="mark{"" if matters else " none"}">{breakable(findings.option_verdict(change))}</span>'
    )
    return (
        f'<tr><td class="option"><code>{breakable(name)}</code></td><td '
        f'class="change">{" → ".join(values)}</td><td>{effect}</td><td '
        f'class="verdict">{mark}</td><td class="effect">{escape(change.effect)}</td></tr>'
    )


def breakable(text: str) -> str:
    """Escapes a text and allows line breaks inside names, after underscores and before capitals."""
    return _INSIDE_NAMES.sub("<wbr>", escape(text))


def comparison(outcome: Outcome, runs: Mapping[str, Sequence[Measurement]]) -> str:
    """Returns the section that compares the three configurations in the most important figures."""
    sides = list(outcome.sides)
    heads = "".join(
        '<th class="number"><span class="swatch" '
        f'style="background:var(--{side})"></span>{figures.SIDES[side]}</th>'
        for side in sides
    )
    rows = "".join(_interval_row(outcome, field) for field in lasting.compared_fields(outcome))
    rows += "".join(_median_row(runs, sides, field) for field in _MEDIAN_FIELDS if runs)
    rows += _family_rows(runs, sides)
    return (
        '<section><h2>Side by side</h2>\n<p class="note">Over the runs of the final proof: mean and 95% '
        "interval if one is given, otherwise the median.</p>\n"
        "<div "
        f'class="scroll"><table><thead><tr><th>Measured</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        "</div></section>\n"
    )


def _family_rows(runs: Mapping[str, Sequence[Measurement]], sides: Sequence[str]) -> str:
    """Returns the rows of each column family, with medians; "" for a workload on the default one alone."""
    parts = {side: [run.families for run in of_side] for side, of_side in runs.items()}
    names = dict.fromkeys(name for of_side in parts.values() for families in of_side for name in families)
    rows = ""
    for name in names:
        of_family = {
            side: [families[name] for families in of_side if name in families]
            for side, of_side in parts.items()
        }
        rows += f'<tr><th colspan="{len(sides) + 1}">Column family {escape(name)}</th></tr>'
        rows += "".join(_median_row(of_family, sides, field) for field in _FAMILY_FIELDS)
    return rows


def _field_head(field: str) -> str:
    """Returns the HTML cell at the head of a row: a figure's name and unit."""
    label, unit = findings.field_label(field), findings.field_unit(field)
    named_unit = "" if unit in ("bytes", "share") else f'<span class="interval">{escape(unit)}</span>'
    return f"<td>{escape(label[:1].upper() + label[1:])}{named_unit}</td>"


def _interval_row(outcome: Outcome, field: str) -> str:
    """Returns the row of a figure with the mean and interval of each configuration."""
    cells = ""
    for side in outcome.sides.values():
        interval = side.figure(field)
        cells += (
            f'<td class="number">{findings.format_field(field, interval.value)}'
            f'<span class="interval">{findings.format_field_interval(field, interval)}</span></td>'
        )
    return f"<tr>{_field_head(field)}{cells}</tr>"


def _median_row(runs: Mapping[str, Sequence[Measurement]], sides: Sequence[str], field: str) -> str:
    """Returns the row of a figure with the median of each configuration; "" if no run has it."""
    values = [figures.median_figure(runs.get(side, ()), field) for side in sides]
    if all(math.isnan(value) for value in values):
        return ""
    cells = "".join(f'<td class="number">{findings.format_field(field, value)}</td>' for value in values)
    return f"<tr>{_field_head(field)}{cells}</tr>"


def figure_section(
    title: str, caption: str, specifications: Sequence[figures.Figure | None], short: bool = False
) -> str:
    """Returns a section with figures side by side; "" if none has data.

    Args:
        title: title of the section.
        caption: text below the figures, as plain text.
        specifications: Plotly figures; None for one without data.
        short: draws the figures at a smaller height.
    """
    drawn = [specification for specification in specifications if specification]
    if not drawn:
        return ""
    # The identifier must be unique in the page, and titles are.
    slug = "".join(letter for letter in title.lower() if letter.isalnum())
    plots = "".join(
        _plot(f"{slug}{index}", specification, short) for index, specification in enumerate(drawn)
    )
    plots = f'<div class="pair">{plots}</div>' if len(drawn) > 1 else plots
    return (
        ""
        f"<section><h2>{escape(title)}</h2>\n<figure>{plots}<figcaption>{escape(caption)}</figcaption></figure>"
        "</section>\n"
    )


def _plot(identifier: str, specification: figures.Figure, short: bool) -> str:
    """Returns the HTML element that a figure is drawn in, followed by its data as JSON."""
    # "<" is escaped, because "</script>" in a label would end the script element.
    # NaN would make the JSON unreadable for browsers; figures hold None instead.
    data = json.dumps(specification, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="plot{" short" if short else ""}" data-figure="{identifier}"></div>'
        f'<script type="application/json" id="{identifier}">{data}</script>'
    )


def trials(outcome: Outcome, records: Sequence[TrialRecord]) -> str:
    """Returns the section of all trials, one folded table per phase."""
    if not records:
        return ""
    # In the order in which the phases were run.
    phases = list(dict.fromkeys(record.phase for record in records))
    blocks = "".join(
        _phase_block(outcome, phase, [r for r in records if r.phase == phase]) for phase in phases
    )
    return (
        '<section><h2>Trials</h2>\n<p class="note">In the order of measuring. A failed trial has a status '
        "instead of figures. A disturbed run shows its least disturbed attempt. "
        "Configurations list the differences from the "
        f"baseline.</p>\n{blocks}</section>\n"
    )


def _phase_block(outcome: Outcome, phase: str, records: Sequence[TrialRecord]) -> str:
    """Returns the folded HTML table of one phase's trials."""
    baseline = outcome.baseline.configuration
    fields = ("throughput_ops_s", "read_latency_us_p99", "write_amplification")
    rows = "".join(_trial_row(record, baseline, fields) for record in records)
    failed = sum(1 for record in records if record.status != "ok")
    measured = format_seconds(sum(record.measured_s for record in records))
    count = f"{len(records)} trial{'s' if len(records) != 1 else ''}, {measured}"
    count += f", {failed} failed" if failed else ""
    return (
        f"<details><summary>{escape(phase.capitalize())}: {count}</summary>"
        '<div class="scroll"><table><thead><tr><th class="number">Batch</th><th class="number">Replicate</th>'
        '<th class="number">Age (s)</th><th class="number">Operations/s</th><th class="number">Read p99 '
        '(µs)</th><th class="number">Write ampl.</th><th>Status</th><th>Configuration</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>\n"
    )


def _trial_row(record: TrialRecord, baseline: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Returns the HTML row of one trial."""
    known = record.measurement.figures if record.measurement else {}
    cells = "".join(f'<td class="number">{findings.format_number(known.get(field))}</td>' for field in fields)
    status = escape(str(record.status).replace("_", " "))
    message = f": {escape(record.message)}" if record.message else ""
    # An empty configuration sets nothing, so it is RocksDB's bare defaults and not the baseline.
    unchanged = "the baseline" if record.trial.configuration else "RocksDB's defaults"
    changes = findings.format_changes(record.trial.configuration, baseline)
    return (
        # Before Python 3.12 an f-string's braces may not hold its own quote, hence chr(34).
        f"<tr{'' if record.status == 'ok' else ' class=' + chr(34) + 'failed' + chr(34)}>"
        f'<td class="number">{record.batch}.{record.index}</td><td '
        f'class="number">{record.trial.replicate}</td><td '
        f'class="number">{findings.format_number(record.trial.until_s)}</td>{cells}<td><span '
        f'class="status">{status}</span>{message}</td><td '
        f'class="configuration">{escape(changes) or unchanged}</td></tr>'
    )


def reproduction(study: StudyRecord, outcome: Outcome) -> str:
    """Returns the section on how to reproduce the study: command, versions, seed, host, device and scale."""
    commands = escape("\n".join(command_lines(study, outcome)))
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts(study, outcome)
    )
    shown = f"<pre><code>{commands}</code></pre>\n<dl>{listed}</dl>"
    return f"<section><h2>How to reproduce</h2>\n{shown}</section>\n"
