"""The progress display of a running study, on standard error and only in a terminal."""

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from rocktune.study import Observer
from rocktune.trial import Configuration, Trial
from rocktune.units import format_seconds

_PHASES = {
    "baseline": "Baseline",
    "search": "Searching",
    "pick": "Picking",
    "ablate": "Asking what matters",
    "prune": "Pruning",
    "prove": "Proving",
    "govern": "Governing",
    "drive": "Driving",
    "sweep": "Sweeping",
    "map": "Mapping",
    "simulate": "Simulating",
}
_STEPS = {"load": "loading data", "settle": "settling data"}


class _ClockColumn(ProgressColumn):
    """Time elapsed and, where the total is known, time left."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        text = format_seconds(max(1.0, elapsed))
        if task.total is not None:
            left = task.total - elapsed
            text += f", {format_seconds(left)} left" if left >= 1 else ", almost done"
        return Text(text, style="dim")


class _BarColumn(BarColumn):
    """A bar that follows the clock; it pulses when the total is not known."""

    def render(self, task: Task) -> Any:
        if task.total is not None:
            task.completed = min(task.elapsed or 0.0, task.total)
        return super().render(task)


class ProgressDisplay(Observer):
    """Shows phase, trial, age, best so far against the baseline, and time. A context manager; one use.

    The calls come from the thread that runs the study; the drawing thread only reads.
    """

    def __init__(
        self,
        console: Console,
        estimated_s: float | None = None,
        on_begin: Callable[[], None] = lambda: None,
    ) -> None:
        """Creates a display.

        Args:
            console: on standard error; without a terminal nothing is shown at all.
            estimated_s: wall seconds that everything will take; None when not known.
            on_begin: called once, when all input has been found right and measuring begins.
        """
        self._on_begin: Callable[[], None] | None = on_begin
        self._console = console
        self._shown = console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            TextColumn("{task.fields[trial]}", style="dim"),
            _BarColumn(bar_width=12),
            TextColumn("{task.fields[best]}"),
            _ClockColumn(),
            console=console,
            transient=True,
            disable=not self._shown,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._task = self._progress.add_task("Starting", total=estimated_s, trial="", best="")
        self._trial = ""
        self._machines = ""

    def __enter__(self) -> "ProgressDisplay":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def estimated(self, total_s: float) -> None:
        """Is told how many wall seconds everything will take from now."""
        elapsed_s = self._progress.tasks[self._task].elapsed or 0.0
        self._progress.update(self._task, total=elapsed_s + total_s)

    def phase_started(self, name: str, total_s: float | None) -> None:  # noqa: ARG002 - part of the whole estimate
        """Names the phase."""
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None
        self._trial = ""
        self._progress.update(self._task, description=_PHASES.get(name, name), trial="")

    def trial_started(self, trial: Trial, index: int, of: int) -> None:  # noqa: ARG002 - progress says its age
        """Counts the trial, from 1."""
        self._trial = f"trial {index + 1} of {of}{self._machines}"
        self._progress.update(self._task, trial=self._trial)

    def at_work(self, machines: Sequence[str]) -> None:
        """Shows how many workers are measuring."""
        trial = self._trial.removesuffix(self._machines)
        self._machines = f", {len(machines)} at work" if machines else ""
        self._trial = trial + self._machines
        self._progress.update(self._task, trial=self._trial)

    def progress(self, phase: str, done: float, total: float) -> None:
        """Shows the configuration's age, or what happens before it has one."""
        step = f"{done:.1f} of {total:.1f} s" if phase == "advance" else _STEPS.get(phase, phase)
        self._progress.update(self._task, trial=f"{self._trial}, {step}")

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:  # noqa: ARG002
        """Shows the best ratio to the baseline so far."""
        if ratio is not None:
            self._progress.update(self._task, best=f"best {ratio:.2f}× baseline")

    def note(self, text: str) -> None:
        """Prints a line above the display."""
        if self._shown:
            self._console.print(text, soft_wrap=True)
