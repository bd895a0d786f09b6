"""Sentences about a scale check, shared by the report and the terminal."""

from rocktune.outcome import Outcome, ScaleCheck
from rocktune.report.findings import count_of, field_label, format_interval, format_number

_AS_GOOD = 0.005
"""Maximum of a regret that is called none."""


def check_statement(check: ScaleCheck) -> str:
    """Returns the verdict of a check with its figures, in one sentence."""
    label = field_label(check.figure)
    ranked = f"the configurations of space {check.space} for {check.workload} on {check.device} by {label}"
    if check.verdict == "undecided":
        return (
            f"Whether {_model(check.scale)} ranks {ranked} is undecided: "
            f"{count_of(check.configurations, 'configuration')} ran well at both models, "
            f"{count_of(check.failed, 'other')} failed, or the figure is 0."
        )
    verb = "ranks" if check.verdict == "ranks" else "does not rank"
    return f"{_model(check.scale)} {verb} {ranked} like {_model(check.larger_scale)}: {check_figures(check)}."


def check_figures(check: ScaleCheck) -> str:
    """Returns the correlation and the regret of a decided check as text."""
    regret = check.regret.value or 0.0
    choice = f"{regret:.0%} worse than" if regret > _AS_GOOD else "as good as"
    return (
        f"Spearman's correlation of {check.configurations} configurations is "
        f"{format_number(check.correlation.value, 2)} ({format_interval(check.correlation, 2)}), and its "
        f"choice is {choice} the larger model's"
    )


def scale_advice(outcome: Outcome) -> list[str]:
    """Returns what to know of the check of a study's scale; names in backquotes are code."""
    if outcome.scale_check is None and outcome.check_command is not None:
        return [
            f"It is not known whether {_model(outcome.search_scale)} ranks these configurations like a "
            f"larger one: `{outcome.check_command}` measures it."
        ]
    return scale_sentences(outcome.scale_check)


def scale_sentences(check: ScaleCheck | None) -> list[str]:
    """Returns what a study's user has to know of the check of its scale; empty if the scale ranks.

    Args:
        check: the check; None if none is known.
    """
    if check is None or check.verdict != "does not rank":
        return []
    return [
        f"{_model(check.scale).capitalize()} ranks these configurations unlike "
        f"{_model(check.larger_scale)} by {field_label(check.figure)}: {check_figures(check)}; tune with "
        f"`--scale {check.larger_scale}`."
    ]


def check_notes(check: ScaleCheck) -> list[str]:
    """Returns sentences on what to do, and on failed and disturbed runs; empty without any."""
    notes = []
    if check.verdict == "does not rank":
        notes.append(f"Tune with --scale {check.larger_scale}.")
    if check.failed:
        notes.append(f"Left out because a run failed: {count_of(check.failed, 'configuration')}.")
    if check.disturbed:
        notes.append(
            f"Other programs took the processors during {count_of(check.disturbed, 'run')}, in all repeats."
        )
    return notes


def _model(scale: str) -> str:
    """Returns a scale in words, such as "a 1/64 model" or "full size"."""
    return "full size" if scale == "1" else f"a {scale} model"
