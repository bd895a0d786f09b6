"""One run of the user's own program, with a directory of its own."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.base import KEPT_OUTPUT, Progress, RunFailed
from rocktune.engine.command.metrics import read_figures
from rocktune.engine.command.placeholders import filled, placeholders_in
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.engine.local.run import Home, LocalRun
from rocktune.engine.processes.process_group import Finished, run_command
from rocktune.engine.spec import CommandSpec
from rocktune.trial import Measurement, OptionMaps, Status
from rocktune.units import MIB

_MAX_RESULT_BYTES = 16 * MIB
_DISK_LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class CommandExecutor:
    """Runs the commands of a spec within their limits."""

    spec: CommandSpec
    data: DataDirectory
    memory_limit_bytes: int
    disk_limit_bytes: int

    def execute(
        self, name: str, values: dict[str, str], seconds: float = 0.0, progress: Progress | None = None
    ) -> Finished | None:
        """Runs a command, if there is one of this name; `seconds` is what it shall load for.

        Raises:
            RunFailed: it failed, or is over a limit.
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
    """The user's program in a directory of its own. See `rocktune.engine.base.Run`.

    A measurement's `raw["output"]` is what the program printed. A clean-up that fails fails the run.
    """

    def __init__(
        self,
        executor: CommandExecutor,
        required_figures: Sequence[str],
        directory: Path,
        options: OptionMaps,
        seed: int,
        home: Home,
    ) -> None:
        """Takes over a directory with the OPTIONS file; see `LocalRun`."""
        super().__init__(directory, options, home)
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
        """Runs `set_up` and `warm_up`.

        Raises:
            RunFailed: one of them failed.
        """
        for name in ("set_up", "warm_up"):
            self._executor.execute(name, self._values)

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        try:
            measurement = self._loaded(until_s, progress)
        except BaseException:
            with suppress(RunFailed):
                self._clean_up()
            raise
        self._clean_up()
        return measurement

    def _end(self) -> None:
        with suppress(RunFailed):
            self._clean_up()

    def _loaded(self, until_s: float, progress: Progress | None) -> Measurement:
        values = self._values | {"seconds": f"{until_s:.6g}"}
        finished = self._executor.execute("run", values, until_s, progress)
        assert finished is not None
        if progress is not None:
            progress("advance", until_s, until_s)
        try:
            said = self._result(finished)
            figures = read_figures(self._executor.spec.metrics, said, self._required_figures)
        except RunFailed as failure:
            raise RunFailed(failure.status, f"run: {failure.message}", finished.said) from None
        return Measurement(
            {"from_s": 0.0, "until_s": until_s, "figures": figures, "output": finished.said[-KEPT_OUTPUT:]}
        )

    def _result(self, finished: Finished) -> str:
        if "result_file" not in placeholders_in(self._executor.spec.run):
            return finished.output
        try:
            with Path(self._values["result_file"]).open("rb") as file:
                return file.read(_MAX_RESULT_BYTES).decode(errors="replace")
        except OSError as problem:
            raise RunFailed(Status.CRASHED, f"it left no result file: {problem.strerror}") from None

    def _clean_up(self) -> None:
        if self._cleaned_up:
            return
        self._cleaned_up = True
        with self._tidying():
            self._executor.execute("clean_up", self._values)
