"""Engine `command`, whose runs start a user's program with an OPTIONS file."""

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
"""Larger files, such as data sets, are identified by size and time, because hashing them takes seconds."""


def command_lines(spec: CommandSpec) -> list[str]:
    """Returns the commands of a run as lines to show, one for each command, with their placeholders."""
    shell = " (/bin/sh)" if spec.shell else ""
    return [f"{name}{shell}: {as_line(each, spec.shell)}" for name, each in spec.commands.items()]


class CommandEngine(LocalEngine):
    """Runs the user's own program; see `rocktune.engine.base.Engine`. Thread-safe.

    The program gets full-size options at every scale. It decides on its workload and device itself.
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
        """Finds the programs and the worker, then claims the data directory.

        It executes none of the commands.

        Args:
            spec: the commands, their limits and the location of their figures.
            data_directory: see `DataDirectory`.
            memory_limit_bytes: maximum resident bytes of a command, in addition to the spec's own limit; 0
                for no limit.
            disk_limit_bytes: maximum bytes of a run's data directory; 0 for the free space of the file
                system.
            worker: program and arguments of the worker; the result of `find_worker` by default.
            required_figures: figures that each run has to report, namely those of the objective.

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
        """See `Engine.check`. Returns all options of the linked RocksDB."""
        return self.checker.effective(rocksdb_options(experiment, configuration, "command"))

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,  # noqa: ARG002 -- `set_up` reports no progress
    ) -> CommandRun:
        """See `Engine.open`. Runs `set_up` and `warm_up`; the user's `set_up` has to preload the data."""
        with self._opening() as opening:
            directory, options = opening.directory, rocksdb_options(experiment, configuration, "command")
            effective = self.checker.effective(options)
            (directory / "data").mkdir()
            text = options_file_text(without_paths(options), self.checker.rocksdb_version)
            (directory / "OPTIONS").write_text(text)
            run = CommandRun(self._executor, self._required_figures, directory, effective, seed, self)
            self._remember(run)
            # A warm-up that competes with the removal of an old store would leave other state behind.
            self.wait_for_removals()
            try:
                run.prepare()
            except BaseException:
                run.close()
                raise
        return run


def _require_programs(spec: CommandSpec) -> None:
    """Raises UserError if the program of a command is not executable."""
    for name, (program, *_) in spec.commands.items():
        if not spec.shell and not placeholders_in([program]) and shutil.which(program) is None:
            raise UserError(
                f"command.{name}: '{program}' is not an executable file; name one that is, or one on the PATH"
            )


def _identity(spec: CommandSpec) -> str:
    """Returns a text that differs if the commands, or the contents of a file that they name, differ."""
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
    """Returns bytes that change with the file: its SHA-256, or size and time if it is large."""
    if path.stat().st_size > _MAX_HASHED_BYTES:
        return f"{path.stat().st_size} {path.stat().st_mtime_ns}".encode()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
