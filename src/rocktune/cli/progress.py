"""The progress display of a running study, on a terminal, and its notes, both on standard error."""

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from rocktune.study import Observer
from rocktune.trial import Configuration, Trial
from rocktune.units import format_bytes, format_seconds

_PHASES = {
    "baseline": "Baseline",
    "search": "Searching",
    "pick": "Picking",
    "tails": "Comparing tails",
    "ablate": "Measuring each option's effect",
    "prune": "Pruning",
    "prove": "Proving",
    "offer": "Measuring tail latency",
    "govern": "Governing",
    "drive": "Driving",
    "sweep": "Sweeping",
    "rank": "Ranking at both models",
    "choose": "Comparing the best",
    "map": "Mapping",
    "simulate": "Simulating",
    "measure-device": "Measuring the disk",
    "import-trace": "Reading the trace",
    "read-log": "Reading the LOG",
    "importance": "Computing the importance of knobs",
    "migrate": "Migrating",
}
_STEPS = {
    "load": "loading data",
    "import": "sorting keys, then writing operations",
    "stored-keys": "reading the database's keys",
    "settle": "settling data",
    "fill": "writing a file",
    "bandwidth_bytes_s": "bandwidth",
    "iops": "operations per second",
    "read_latency_us": "latency of reads",
    "write_latency_us": "latency of writes",
    "sync_latency_us": "latency of syncs",
}
_LIMITED = {"age": "ageing the store", "follow": "until steady"}
"""Phases that mostly end before their limit."""
_SHARES = ("importance",)
"""Phases without steps, whose progress is a share."""
_IN_BYTES = {
    "copy": "copying",
    "check": "reading",
    "rewrite": "rewriting",
    "verify": "comparing",
    "read-log": "reading",
}
"""Phases that are measured in bytes."""


class _ClockColumn(ProgressColumn):
    """A column with the elapsed time and, if the total is known, the time left."""

    def render(self, task: Task) -> Text:
        """Returns the elapsed time and, if the total is known, the time left."""
        elapsed = task.elapsed or 0.0
        text = format_seconds(max(1.0, elapsed))
        if task.total is not None:
            left = task.total - elapsed
            text += f", {format_seconds(left)} left" if left >= 1 else ", almost done"
        return Text(text, style="dim")


class _BarColumn(BarColumn):
    """A bar that advances with the clock, because trials differ in length. It pulses without a total."""

    def render(self, task: Task) -> Any:
        """Returns the bar, filled by elapsed time."""
        if task.total is not None:
            task.completed = min(task.elapsed or 0.0, task.total)
        return super().render(task)


class ProgressDisplay(Observer):
    """A display of phase, trial, age, best ratio to the baseline, and time. A context manager for one use.

    Its methods are called on the thread that runs the study; the drawing thread only reads.
    """

    def __init__(
        self,
        console: Console,
        estimated_s: float | None = None,
        on_begin: Callable[[], None] = lambda: None,
    ) -> None:
        """Creates a display.

        Args:
            console: console on standard error; unless it is a terminal, the display shows notes alone.
            estimated_s: estimated wall seconds of the whole study; None if unknown.
            on_begin: called once, when all input has been checked and measuring begins.
        """
        self._on_begin: Callable[[], None] | None = on_begin
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            TextColumn("{task.fields[trial]}", style="dim"),
            _BarColumn(bar_width=12),
            TextColumn("{task.fields[best]}"),
            _ClockColumn(),
            console=console,
            # The display disappears at the end, so that only the result stays on the terminal.
            transient=True,
            # Log files of a batch system would fill up with redrawn bars.
            disable=not console.is_terminal,
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
        """Sets the estimated wall seconds from now until the end."""
        elapsed_s = self._progress.tasks[self._task].elapsed or 0.0
        # The bar counts from the start of the command, the estimate from now.
        self._progress.update(self._task, total=elapsed_s + total_s)

    def delayed(self, seconds: float) -> None:
        """Adds seconds to the estimate, if there is one."""
        total_s = self._progress.tasks[self._task].total
        if total_s is not None:
            self._progress.update(self._task, total=total_s + seconds)

    def phase_started(self, name: str, total_s: float | None) -> None:  # noqa: ARG002 - part of the whole estimate
        """Shows the phase's name."""
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None
        self._trial = ""
        self._progress.update(self._task, description=_PHASES.get(name, name), trial="")

    def trial_started(self, trial: Trial, index: int, of: int) -> None:  # noqa: ARG002 - progress says its age
        """Shows the trial's number, from 1."""
        self._trial = f"trial {index + 1} of {of}{self._machines}"
        self._progress.update(self._task, trial=self._trial)

    def at_work(self, machines: Sequence[str]) -> None:
        """Shows the number of workers that are measuring."""
        # The number of workers changes during a trial; the old number is replaced, not appended to.
        trial = self._trial.removesuffix(self._machines)
        self._machines = f", {len(machines)} at work" if machines else ""
        self._trial = trial + self._machines
        self._progress.update(self._task, trial=self._trial)

    def progress(self, phase: str, done: float, total: float) -> None:
        """Shows the age of the run, or the step that precedes the load."""
        if phase in _LIMITED:
            step = f"{_LIMITED[phase]}: {done:.0f} of at most {total:.0f} s"
        elif phase in _IN_BYTES:
            step = f"{_IN_BYTES[phase]}: {format_bytes(done)} of {format_bytes(total)}"
        else:
            step = f"{done:.1f} of {total:.1f} s" if phase == "advance" else _STEPS.get(phase, phase)
        if phase in _SHARES:
            step = f"{done / total:.0%}"
        self._progress.update(self._task, trial=f"{self._trial}, {step}" if self._trial else step)

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:  # noqa: ARG002
        """Shows the best ratio to the baseline so far."""
        if ratio is not None:
            self._progress.update(self._task, best=f"best {ratio:.2f}× baseline")

    def note(self, text: str) -> None:
        """Prints a line, on a terminal above the display. Log files need it as well."""
        self._console.print(text, soft_wrap=True)
