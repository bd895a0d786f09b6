"""The user's own program, which opens RocksDB with the OPTIONS file that it is given."""

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rocktune.engine.base import Progress
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.command.placeholders import as_line, placeholders_in
from rocktune.engine.command.run import CommandExecutor, CommandRun
from rocktune.engine.local.engine import LocalEngine
from rocktune.engine.options import rocksdb_options, without_paths
from rocktune.engine.spec import CommandSpec
from rocktune.errors import UserError
from rocktune.space import options_file_text
from rocktune.trial import Configuration, Experiment, OptionMaps
from rocktune.units import MIB

_MAX_HASHED_BYTES = 256 * MIB


def command_lines(spec: CommandSpec) -> list[str]:
    """Returns what is executed for each run, a line for each command, with the placeholders in it."""
    shell = " (/bin/sh)" if spec.shell else ""
    return [f"{name}{shell}: {as_line(each, spec.shell)}" for name, each in spec.commands.items()]


class CommandEngine(LocalEngine):
    """Runs the user's own program. See `rocktune.engine.base.Engine`. Thread-safe.

    It hands the program full-size options whatever the experiment's scale, and leaves workload and device to
    the program.
    """

    can_park = False

    def __init__(
        self,
        spec: CommandSpec,
        data_directory: Path,
        memory_limit_bytes: int,
        disk_limit_bytes: int,
        worker: Sequence[str] | None = None,
        required_figures: Sequence[str] = (),
    ) -> None:
        """Finds the programs and the worker, then claims the data directory. Executes none of the commands.

        Args:
            spec: what to run.
            data_directory: see `DataDirectory`.
            memory_limit_bytes: resident bytes that no command may exceed, whatever the spec allows; 0 for
                none.
            disk_limit_bytes: bytes of a data directory that no run may exceed; 0 for what the file system
                has.
            worker: program and arguments; by default the worker that `find_worker` finds.
            required_figures: measurement fields that each run has to report: the objective's.

        Raises:
            UserError: a program is missing, there is no worker or it does not start, the data directory is
                refused, or its file system is full.
        """
        _require_programs(spec)
        super().__init__(OptionsChecker(worker), data_directory)
        self.version = f"{_identity(spec)}, options read by RocksDB {self.checker.rocksdb_version}"
        limits = [limit for limit in (spec.memory_limit_bytes, memory_limit_bytes) if limit]
        self._executor = CommandExecutor(spec, self.data, min(limits, default=0), disk_limit_bytes)
        self._required_figures = tuple(required_figures)

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`: every option of the linked RocksDB, full-size."""
        return self.checker.effective(rocksdb_options(experiment, configuration, "command"))

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,  # noqa: ARG002 -- nothing is known of how set-up gets on
    ) -> CommandRun:
        """See `Engine.open`. Preloading is the business of the command `set_up`."""
        with self._opening() as opening:
            directory, options = opening.directory, rocksdb_options(experiment, configuration, "command")
            effective = self.checker.effective(options)
            (directory / "data").mkdir()
            text = options_file_text(without_paths(options), self.checker.rocksdb_version)
            (directory / "OPTIONS").write_text(text)
            run = CommandRun(self._executor, self._required_figures, directory, effective, seed, self)
            self._remember(run)
            self.settle()
            try:
                run.prepare()
            except BaseException:
                run.close()
                raise
        return run


def _require_programs(spec: CommandSpec) -> None:
    for name, (program, *_) in spec.commands.items():
        if not spec.shell and not placeholders_in([program]) and shutil.which(program) is None:
            raise UserError(
                f"command.{name}: '{program}' is not an executable file; name one that is, or one on the PATH"
            )


def _identity(spec: CommandSpec) -> str:
    """Returns what differs where the commands do, or a file that they name: a program, a script."""
    named: list[str] = []
    digest = hashlib.sha256(spec.model_dump_json().encode())
    for word in (word for each in spec.commands.values() for text in each for word in text.split()):
        path = Path(shutil.which(word) or word)
        with suppress(OSError, ValueError):
            if path.is_file():
                digest.update(_content(path))
                named.append(path.name)
    return f"{' '.join(dict.fromkeys(named))[:100]} (sha256 {digest.hexdigest()[:12]})"


def _content(path: Path) -> bytes:
    """Returns what tells a file from its next version; of large ones, size and time are enough."""
    if path.stat().st_size > _MAX_HASHED_BYTES:
        return f"{path.stat().st_size} {path.stat().st_mtime_ns}".encode()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
