"""Runs of engine `command`, each in a directory of its own."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.base import KEPT_OUTPUT, Progress, RunFailed
from rocktune.engine.command.metrics import read_figures
from rocktune.engine.command.placeholders import filled, placeholders_in
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.engine.local.run import LocalRun, RunOwner
from rocktune.engine.processes.process_group import Finished, run_command
from rocktune.engine.spec import CommandSpec
from rocktune.trial import Measurement, OptionMaps, Status
from rocktune.units import MIB

_MAX_RESULT_BYTES = 16 * MIB
_DISK_LOOK_EVERY_S = 1.0
"""Summing up the sizes of all files is too much for each of the ten calls a second of `watch`."""


@dataclass(frozen=True)
class CommandExecutor:
    """Runs the commands of a spec within their limits.

    Attributes:
        spec: the commands and their own limits.
        data: the directory whose file system must keep its reserve.
        memory_limit_bytes: maximum resident bytes of a command and its children; 0 for no limit.
        disk_limit_bytes: maximum bytes of a run's data directory; 0 for the free space.
    """

    spec: CommandSpec
    data: DataDirectory
    memory_limit_bytes: int
    disk_limit_bytes: int

    def execute(
        self, name: str, values: dict[str, str], seconds: float = 0.0, progress: Progress | None = None
    ) -> Finished | None:
        """Runs a command of the spec and returns how it ended; None if the spec has no such command.

        Args:
            name: "set_up", "warm_up", "run" or "clean_up".
            values: the values of its placeholders.
            seconds: seconds of load that the command is asked for, added to its timeout.
            progress: is called with the phase "advance" and elapsed wall seconds.

        Raises:
            RunFailed: the command failed or exceeded a limit. The message begins with `name`.
        """
        arguments = self.spec.commands.get(name)
        if arguments is None:
            return None
        next_look_s = 0.0

        def watch(elapsed_s: float) -> None:
            nonlocal next_look_s
            if elapsed_s >= next_look_s:
                self.data.require_within(Path(values["data_directory"]), self.disk_limit_bytes)
                next_look_s = elapsed_s + _DISK_LOOK_EVERY_S
            if progress is not None and seconds:
                progress("advance", min(elapsed_s, seconds), seconds)

        try:
            return run_command(
                filled(arguments, values, self.spec.shell),
                seconds + self.spec.timeout_seconds,
                self.memory_limit_bytes,
                watch,
                (self.data.lock_descriptor,),
            )
        except RunFailed as failure:
            raise RunFailed(failure.status, f"{name}: {failure.message}", failure.output) from None


class CommandRun(LocalRun):
    """One execution of the user's commands in a directory; see `rocktune.engine.base.Run`.

    The measurement's `raw["output"]` holds the program's output. The run fails if `clean_up` fails.
    """

    def __init__(
        self,
        executor: CommandExecutor,
        required_figures: Sequence[str],
        directory: Path,
        options: OptionMaps,
        seed: int,
        owner: RunOwner,
    ) -> None:
        """Takes over a directory that holds the OPTIONS file.

        Args:
            executor: runs the commands.
            required_figures: figures that `run` has to report.
            directory: see `LocalRun`.
            options: see `LocalRun`.
            seed: value of `{seed}`.
            owner: see `LocalRun`.
        """
        super().__init__(directory, options, owner)
        self._executor = executor
        self._required_figures = required_figures
        self._values = {
            "options_file": str(directory / "OPTIONS"),
            "data_directory": str(directory / "data"),
            "result_file": str(directory / "result"),
            "seed": str(seed),
        }
        self._cleaned_up = False

    def prepare(self) -> None:
        """Runs `set_up`, then `warm_up`.

        Raises:
            RunFailed: one of them failed.
        """
        for name in ("set_up", "warm_up"):
            self._executor.execute(name, self._values)

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        """Measures the run, then cleans up, even if measuring failed."""
        try:
            measurement = self._loaded(until_s, progress)
        except BaseException:
            # The failure of `run` says more than one of `clean_up` that follows from it.
            with suppress(RunFailed):
                self._clean_up()
            raise
        self._clean_up()
        return measurement

    def _end(self) -> None:
        with suppress(RunFailed):
            self._clean_up()

    def _loaded(self, until_s: float, progress: Progress | None) -> Measurement:
        """Runs the command `run` and returns the measurement made of its figures."""
        values = self._values | {"seconds": f"{until_s:.6g}"}
        finished = self._executor.execute("run", values, until_s, progress)
        assert finished is not None
        if progress is not None:
            progress("advance", until_s, until_s)
        try:
            text = self._result(finished)
            figures = read_figures(self._executor.spec.metrics, text, self._required_figures)
        except RunFailed as failure:
            raise RunFailed(failure.status, f"run: {failure.message}", finished.all_output) from None
        return Measurement(
            {
                "from_s": 0.0,
                "until_s": until_s,
                "figures": figures,
                "output": finished.all_output[-KEPT_OUTPUT:],
            }
        )

    def _result(self, finished: Finished) -> str:
        """Returns the text with the figures: the result file, or standard output without one."""
        if "result_file" not in placeholders_in(self._executor.spec.run):
            return finished.output
        try:
            with Path(self._values["result_file"]).open("rb") as file:
                return file.read(_MAX_RESULT_BYTES).decode(errors="replace")
        except OSError as problem:
            raise RunFailed(Status.CRASHED, f"it wrote no result file: {problem.strerror}") from None

    def _clean_up(self) -> None:
        """Runs the command `clean_up`, once for each run."""
        if self._cleaned_up:
            return
        self._cleaned_up = True
        with self._tidying():
            self._executor.execute("clean_up", self._values)
