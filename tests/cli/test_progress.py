import io

from rich.console import Console

from rocktune.cli.progress import ProgressDisplay
from rocktune.trial import Configuration, Trial


def watched(terminal: bool) -> str:
    """Returns what a display shows of a short study."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=160)
    configuration = Configuration({"write_buffer_size": 1})
    with ProgressDisplay(console, estimated_s=100.0) as display:
        display.phase_started("search", 36.0)
        display.trial_started(Trial(configuration, 1.25), 11, 31)
        display.progress("load", 5.0, 10.0)
        display.progress("advance", 0.9, 1.25)
        display.best_changed(configuration, 1.4142)
        display.note("a note for the user")
    return stream.getvalue()


def test_terminal_shows_phase_trial_age_best_and_time() -> None:
    shown = watched(terminal=True)
    for part in (
        "Searching",
        "trial 12 of 31",
        "0.9 of 1.2 s",
        "best 1.41× baseline",
        "left",
        "a note",
    ):
        assert part in shown, part


def test_several_workers_are_counted() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=160)
    trial = Trial(Configuration({"write_buffer_size": 1}), 1.25)
    with ProgressDisplay(console) as display:
        display.trial_started(trial, 0, 3)
        display.at_work(["local-1"])
        display.trial_started(trial, 1, 3)
        display.at_work(["local-1", "local-2"])
        shown = [display._progress.tasks[0].fields["trial"]]
        display.at_work([])
        shown.append(display._progress.tasks[0].fields["trial"])
    assert shown == ["trial 2 of 3, 2 at work", "trial 2 of 3"]


def test_a_step_without_trials_stands_alone() -> None:
    with ProgressDisplay(Console(file=io.StringIO(), force_terminal=True, width=160)) as display:
        display.phase_started("measure-device", 20.0)
        display.progress("read_latency_us", 14.0, 20.0)
        fields = display._progress.tasks[0]
        assert (fields.description, fields.fields["trial"]) == ("Measuring the disk", "latency of reads")


def test_only_notes_are_shown_without_a_terminal() -> None:
    assert watched(terminal=False) == "a note for the user\n"


def test_unknown_total_has_no_time_left() -> None:
    stream = io.StringIO()
    with ProgressDisplay(Console(file=stream, force_terminal=True, width=160)) as display:
        display.phase_started("verify 1/4", None)
        display.best_changed(Configuration({}), None)
    assert "verify 1/4" in stream.getvalue()
    assert "left" not in stream.getvalue()
    assert "best" not in stream.getvalue()


def test_repeats_of_disturbed_runs_extend_the_estimate() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    with ProgressDisplay(console, estimated_s=100.0) as known, ProgressDisplay(console) as unknown:
        for display in (known, unknown):
            display.delayed(20.0)
    assert (known._progress.tasks[0].total, unknown._progress.tasks[0].total) == (120.0, None)
