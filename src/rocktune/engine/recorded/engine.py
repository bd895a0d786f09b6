"""Engine `recorded`, which replays a table.

A run costs its recorded seconds of measuring, but no wall time.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from weakref import WeakSet

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.options import run_options
from rocktune.engine.spec import RecordedSpec
from rocktune.errors import UserError
from rocktune.table import Table, TableRow, read_table
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status

Recorded = Callable[[Configuration, int], Mapping[str, float]]
"""Returns the figures of a run from configuration and seed; raises RunFailed for a failed run."""


def table_digest(path: Path) -> str:
    """Returns the SHA-256 of a table's file.

    Raises:
        UserError: the file cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None


class RecordedRun:
    """A run that was measured before; see `rocktune.engine.base.Run`."""

    def __init__(
        self, recorded: Recorded, configuration: Configuration, seed: int, options: OptionMaps
    ) -> None:
        """Creates a run of age 0.

        Args:
            recorded: returns the run's figures.
            configuration: the run's configuration.
            seed: the run's seed.
            options: the full-size options of the configuration.
        """
        self.options = options
        self._recorded = recorded
        self._key = (configuration, seed)
        self._is_over = False

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`.

        The figures do not depend on the age: a table has one measurement for each run.
        """
        if self._is_over or until_s <= 0:
            raise ValueError(f"a run cannot advance to {until_s} s that has been measured or is closed")
        self._is_over = True
        figures = self._recorded(*self._key)
        if progress is not None:
            progress("advance", until_s, until_s)
        # NaN stands for a figure that the table lacks.
        known = {name: value for name, value in figures.items() if value == value}
        return Measurement({"from_s": 0.0, "until_s": until_s, "figures": known})

    def park(self) -> int:
        """See `Run.park`. A recorded run holds no memory."""
        return 0

    def close(self) -> None:
        """See `Run.close`."""
        self._is_over = True


class RecordedEngine:
    """Replays a table; see `rocktune.engine.base.Engine`. Thread-safe.

    A configuration that the table lacks ends as `invalid`, unless the table is interpolated. If the table has
    several runs of a configuration, the seed chooses one.
    """

    can_park = False
    file_system = ""
    opening_s = 0.0
    loading_s = 0.0

    def __init__(self, spec: RecordedSpec, required_figures: Sequence[str] = ()) -> None:
        """Reads the table, and fits a model to it if it is to be interpolated.

        Args:
            spec: the table, its digest, and whether to interpolate.
            required_figures: figures that the table must have.

        Raises:
            UserError: the table cannot be read, has changed since the study began, or lacks a required
                figure.
        """
        path = Path(spec.table)
        if table_digest(path) != spec.digest:
            raise UserError(f"{path}: has changed since the study began; restore the old table")
        table = read_table(path)
        self._require(path, table, required_figures)
        self._runs: WeakSet[RecordedRun] = WeakSet()
        self._rows: dict[Configuration, list[TableRow]] = {}
        for row in table.rows:
            self._rows.setdefault(row.configuration, []).append(row)
        self._recorded: Recorded = self._replayed
        self.version = f"recorded, {table.conditions.engine}".removesuffix(", ")
        if spec.interpolate:
            # scikit-learn takes a second to import, and a replay has no need of it.
            from rocktune.engine.recorded.interpolation import LEARNED_FROM, Interpolation

            model = Interpolation(table, required_figures, LEARNED_FROM)
            self._recorded = model.figures
            self.version = f"interpolated ({model.describe()}), {table.conditions.engine}".removesuffix(", ")

    @staticmethod
    def _require(path: Path, table: Table, figures: Sequence[str]) -> None:
        """Raises UserError unless a table has sound runs, a version and all required figures."""
        sound = [row for row in table.rows if row.status is Status.OK]
        if not sound:
            raise UserError(f"{path}: has no run with status 'ok'")
        if re.search(r"RocksDB \d+\.\d+", table.conditions.engine) is None:
            raise UserError(
                f"{path}: conditions: engine: '{table.conditions.engine}' names no version of RocksDB, which "
                "exports need, such as 'RocksDB 7.8.3'"
            )
        for name in figures:
            if all(row.figures[name] != row.figures[name] for row in sound):
                raise UserError(f"{path}: no run has the figure '{name}'")

    def _replayed(self, configuration: Configuration, seed: int) -> Mapping[str, float]:
        """Returns the figures of a run in the table, chosen by the seed."""
        rows = self._rows[configuration]
        row = rows[seed % len(rows)]
        if row.status is not Status.OK:
            raise RunFailed(row.status, row.message)
        return row.figures

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`. No RocksDB checks the options; only the space does."""
        return run_options(experiment, configuration)

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,  # noqa: ARG002 -- no data is loaded
    ) -> RecordedRun:
        """See `Engine.open`."""
        options = run_options(experiment, configuration)
        # A table lists knobs, so the user's own options are looked up by the values of their knobs.
        if not configuration and any(experiment.base_options.values()):
            configuration = experiment.space.configuration_from_options(experiment.base_options)
        if not configuration or (self._recorded == self._replayed and configuration not in self._rows):
            raise RunFailed(Status.INVALID, "the table has no run of this configuration")
        run = RecordedRun(self._recorded, configuration, seed, options)
        self._runs.add(run)
        return run

    def close(self) -> None:
        """See `Engine.close`."""
        for run in self._runs:
            run.close()
