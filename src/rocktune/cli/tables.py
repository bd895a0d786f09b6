"""Results as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from rocktune.cli.account_table import print_account, print_account_of
from rocktune.cli.output import table
from rocktune.outcome import NOT_MEASURED, FrontPoint, Interval, OptionEffect, Outcome, TailProof
from rocktune.report import bounds, findings, lasting
from rocktune.report.advice import advice
from rocktune.report.cost import cost_rows
from rocktune.report.figures import SIDES
from rocktune.report.fronts import noise_sentences
from rocktune.report.memory import memory_rows, memory_sentence
from rocktune.report.robust import workload_rows
from rocktune.report.scale import scale_advice
from rocktune.units import format_bytes, format_seconds

_SHOWN_LINES = 20


def print_facts(console: Console, facts: Mapping[str, Any]) -> None:
    """Prints names and values, one pair per line, with the values aligned."""
    width = max(map(len, facts), default=0) + 2
    for name, value in facts.items():
        console.print(f"{name.replace('_', ' '):<{width}}{_text(name, value)}", soft_wrap=True)


def print_names(console: Console, summaries: Mapping[str, str]) -> None:
    """Prints names, each with its one-line summary."""
    width = max(map(len, summaries), default=0) + 2
    for name, summary in summaries.items():
        console.print(f"{name:<{width}}{summary}", soft_wrap=True)


def _text(name: str, value: Any) -> str:
    """Returns a value as text; the end of its name gives the unit."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if name.endswith("_bytes"):
        return format_bytes(value)
    if name.endswith("_s") and isinstance(value, int | float):
        return format_seconds(value)
    return findings.format_number(value) if isinstance(value, float) else str(value)


def print_rows(console: Console, rows: Sequence[Mapping[str, Any]], empty: str) -> None:
    """Prints mappings with equal names as a table.

    Args:
        console: console to print on.
        rows: rows of the table; the names of the first are the heads.
        empty: line to print if there are no rows.
    """
    if not rows:
        console.print(empty)
        return
    made = table(*(name.replace("_", " ") for name in rows[0]))
    made.columns[0].no_wrap = True  # so that the name can be copied in one piece
    for row in rows:
        made.add_row(*(_text(name, row.get(name)) for name in rows[0]))
    console.print(made)


def print_studies(console: Console, studies: Sequence[Mapping[str, Any]]) -> None:
    """Prints the studies of a ledger."""
    print_rows(console, studies, "No studies yet; 'rocktune tune' starts one.")


def print_estimate(console: Console, estimate: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the estimated time, disk and memory of a study."""
    console.print(
        f"Study '{estimate['study']}' will take about {format_seconds(estimate['min_total_s'])} if its proof "
        f"is decided early, else up to {format_seconds(estimate['total_s'])}. It needs up to "
        f"{format_bytes(estimate['disk_bytes'])} of disk and {format_bytes(estimate['memory_bytes'])} of "
        "memory.",
        soft_wrap=True,
    )
    if estimate.get("ageing_s"):
        console.print(
            f"Up to {format_seconds(estimate['ageing_s'])} of that bring the proof's stores into steady "
            "state. --protocol short compares the first 120 s.",
            soft_wrap=True,
        )
    if kept := estimate.get("default_constraints"):
        console.print(
            f"Only what keeps {', '.join(kept)} is recommended; --constraint none leaves these out.",
            soft_wrap=True,
        )
    for line in estimate.get("scale_notes") or ():
        console.print(line.replace("`", ""), soft_wrap=True, markup=False, highlight=False)
    for line in estimate["commands"]:
        console.print(f"It executes {line}", soft_wrap=True, markup=False, highlight=False)
    print_notes(console, estimate, verbose)


def print_notes(console: Console, answer: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints how the user's trace and OPTIONS file are used, one sentence per line; nothing without them."""
    for line in answer.get("trace_notes") or ():
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    print_account_of(console, answer, verbose)
    for line in answer.get("own_options_notes") or ():
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def print_outcome(console: Console, outcome: Outcome, verbose: bool = False) -> None:
    """Prints an outcome: ratio, comparison, options, files, the command to repeat it, and advice."""
    console.print()
    console.print(findings.headline(outcome), style="bold", soft_wrap=True)
    console.print(findings.verdict(outcome))
    if sentence := findings.proof_sentence(outcome):
        console.print(sentence, style="dim")
    for sentence in lasting.sentences(outcome):
        console.print(sentence, style="dim")
    console.print()
    console.print(_comparison(outcome))
    console.print()
    for made in _further_tables(outcome):
        console.print(made)
        console.print()
    for sentence in noise_sentences(outcome):
        console.print(sentence, style="dim")
    named = (
        ("OPTIONS file", outcome.options_file),
        ("Report", outcome.report),
        ("Repeat with", outcome.command),
    )
    for label, text in named:
        if text:
            console.print(f"{label + ':':<14}{text}", soft_wrap=True)
    print_account(console, outcome.options_account, verbose)
    for line in filter(None, (memory_sentence(outcome), *outcome.own_options_notes)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    for line in (*advice(outcome), *scale_advice(outcome), *outcome.device_notes):
        # Backquotes mark code in the HTML report; a terminal shows them as they are.
        console.print(f"\nNote: {line}".replace("`", ""), style="dim")


def _further_tables(outcome: Outcome) -> Iterator[Table]:
    """Yields the tables of what an outcome may have: bounds, tail, Pareto front, changed options."""
    if rows := bounds.bound_rows(outcome):
        made = table("constraint", *bounds.HEADS, numbers=bounds.HEADS)
        for label, texts in rows:
            made.add_row(label, *texts)
        yield made
    if outcome.tail is not None:
        yield _tail(outcome.tail)
    if outcome.workloads:
        yield _workloads(outcome)
    if outcome.front:
        yield _front(outcome.front)
    if outcome.options_that_matter:
        yield _options(outcome.options_that_matter)


def _tail(tail: TailProof) -> Table:
    """Returns a table of the latency at the offered rate."""
    heads = ("tuned", "baseline", "tuned to baseline")
    made = table(f"at {lasting.offered_phrase(tail)}", *heads, numbers=heads)
    for label, texts in lasting.tail_rows(tail):
        made.add_row(label, *texts)
    return made


def _comparison(outcome: Outcome) -> Table:
    """Returns a table of the three configurations with 95% intervals and the winner's ratios."""
    sides = outcome.sides
    heads = [SIDES[side] for side in sides]
    made = table("", *heads, numbers=heads)
    for field in lasting.compared_fields(outcome):
        intervals = [side.figure(field) for side in sides.values()]
        unit = findings.field_unit(field)
        # The unit of a weighted sum is its text.
        label = findings.field_label(field) + (
            f", {unit}" if unit in ("operations/s", "µs") or unit == field else ""
        )
        made.add_row(label, *(_with_interval(field, interval) for interval in intervals))
    ratios = {
        "baseline": outcome.ratio,
        "rocksdb_defaults": outcome.ratio_to_rocksdb_defaults or NOT_MEASURED,
    }
    made.add_row(
        "ratio of tuned to this", *(_ratio(ratios[side]) if side in ratios else "" for side in sides)
    )
    for label, texts in (*cost_rows(outcome), *memory_rows(outcome)):
        made.add_row(label[:1].lower() + label[1:], *texts)
    return made


def _workloads(outcome: Outcome) -> Table:
    """Returns a table of the ratios on the workloads of a robust study."""
    heads = ("tuned to baseline", "95% interval")
    made = table("workload", *heads, numbers=heads)
    for name, texts in workload_rows(outcome):
        made.add_row(name, *texts)
    return made


def _front(points: Sequence[FrontPoint]) -> Table:
    """Returns a table of the Pareto front with the figures of objectives and constraints."""
    fields = list(points[0].figures)
    heads = ["point of the front", *map(findings.field_label, fields)]
    made = table(*heads, numbers=heads)
    for number, point in enumerate(points, 1):
        made.add_row(str(number), *(findings.format_field(field, point.figures[field]) for field in fields))
    return made


def _with_interval(field: str, interval: Interval) -> str:
    """Returns a figure with its 95% interval on a second line."""
    value, span = (
        findings.format_field(field, interval.value),
        findings.format_field_interval(field, interval),
    )
    return f"{value}\n{span}"


def _ratio(interval: Interval) -> str:
    """Returns a ratio with its 95% interval on a second line."""
    return f"{findings.format_ratio(interval)}\n{findings.format_ratio_interval(interval)}"


def _options(changes: Sequence[OptionEffect]) -> Table:
    """Returns a table of the changed options, each with its effect and 95% interval."""
    made = table("option", "from → to", "effect", "verdict", numbers=("effect",))
    made.columns[0].no_wrap = made.columns[2].no_wrap = True
    for change in changes:
        values = (findings.format_option(change.option, value) for value in (change.before, change.after))
        effect = _ratio(change.effect_ratio)
        made.add_row(change.option, " → ".join(values), effect, findings.option_verdict(change))
    return made


def print_study(console: Console, study: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the facts of a study, and its outcome if it is finished."""
    outcome = study.get("outcome")
    facts = {name: value for name, value in study.items() if not isinstance(value, Mapping | list)}
    # An outcome of None is no mapping, and is printed below as "Not finished".
    facts.pop("outcome", None)
    print_facts(console, facts)
    if outcome:
        print_outcome(console, Outcome.from_json(outcome), verbose)
    elif study["state"] == "finished":
        console.print(f"\nTo print its result again: rocktune resume {study['study']}", soft_wrap=True)
    else:
        console.print(f"\nNot finished. To continue: rocktune resume {study['study']}", soft_wrap=True)


def print_run(console: Console, measured: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the figures of one configuration, one column per run."""
    at_most = "at most " if any("steady" in run for run in measured["runs"]) else ""
    length = at_most + format_seconds(measured["seconds"])
    console.print(
        f"{measured['workload']} on {measured['device']} for {length} at scale {measured['scale']}, "
        f"{measured['engine']}"
    )
    print_notes(console, measured, verbose)
    console.print()
    runs = measured["runs"]
    heads = [f"run {number}" for number in range(1, len(runs) + 1)]
    made = table("", *heads, numbers=heads)
    made.add_row("status", *(run["status"] for run in runs))
    _add_figures(made, [run["figures"] for run in runs])
    for family in dict.fromkeys(name for run in runs for name in run.get("families", {})):
        made.add_section()
        made.add_row(f"column family {family}")
        _add_figures(made, [run["families"].get(family, {}) for run in runs])
    console.print(made)
    for number, run in enumerate(runs, 1):
        if "steady" in run:
            console.print(f"run {number}: {_steady_sentence(run['steady'])}", soft_wrap=True)
        if run.get("message"):
            console.print(f"run {number}: {run['message']}", soft_wrap=True)
        if run["status"] != "ok" and run["output"]:
            console.print(f"run {number} printed last:")
            # The cause of a failure is in the last lines; the whole output is in the JSON document.
            console.print("\n".join(run["output"].splitlines()[-_SHOWN_LINES:]), soft_wrap=True)


def _steady_sentence(followed: Mapping[str, Any]) -> str:
    """Returns a sentence on whether a run became steady."""
    load, window = (format_seconds(followed[name]) for name in ("load_s", "window_s"))
    if followed["is_steady"]:
        return f"steady after {load} of load; the figures are those of the last {window}."
    return f"not steady after {load} of load ({followed['changes']}); the figures are of the last {window}."


def _add_figures(made: Table, runs: Sequence[Mapping[str, Any]]) -> None:
    """Adds a row for each figure that some of the runs have."""
    for field in dict.fromkeys(name for figures in runs for name in figures):
        cells = [findings.format_field(field, figures.get(field)) for figures in runs]
        # Engines differ in what they measure; rows without any value are left out.
        if set(cells) != {findings.UNKNOWN}:
            unit = findings.field_unit(field)
            named_unit = f", {unit}" if unit not in ("", "bytes", "share") else ""
            made.add_row(findings.field_label(field) + named_unit, *cells)


def print_checks(console: Console, checks: Sequence[Mapping[str, Any]]) -> None:
    """Prints the results of the checks of this machine."""
    print_rows(console, checks, "Nothing to check.")
