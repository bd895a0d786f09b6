"""Engine `versions`, whose runs are stores of several versions of RocksDB, measured in any order."""

from collections.abc import Mapping

from rocktune.engine.base import Engine, Progress, Run
from rocktune.trial import Configuration, Experiment, OptionMaps

VERSION = "rocksdb"
"""The value of a configuration that names the version of a run."""


def configuration_of(version: str) -> Configuration:
    """Returns the configuration of the runs that a version measures."""
    return Configuration({VERSION: version})


class VersionsEngine:
    """Opens each run with the version that its configuration names; see `rocktune.engine.base.Engine`.

    The configuration has no knobs: a run has the experiment's own options as they stand.

    Attributes:
        can_park: see `Engine`.
        version: the versions of all engines, with "and" between them.
        file_system: see `Engine`; that of the first engine.
    """

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        """Takes over an engine for each version; `close` closes them.

        Args:
            engines: at least one engine, by the version that configurations name.
        """
        self._engines = dict(engines)
        self.can_park = all(engine.can_park for engine in self._engines.values())
        self.version = " and ".join(engine.version for engine in self._engines.values())
        self.file_system = next(iter(self._engines.values())).file_system

    @property
    def opening_s(self) -> float:
        """See `Engine.opening_s`."""
        return sum(engine.opening_s for engine in self._engines.values())

    @property
    def loading_s(self) -> float:
        """See `Engine.loading_s`."""
        return sum(engine.loading_s for engine in self._engines.values())

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`."""
        return self._of(configuration).check(experiment, Configuration({}))

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> Run:
        """See `Engine.open`."""
        return self._of(configuration).open(experiment, Configuration({}), seed, progress)

    def close(self) -> None:
        """See `Engine.close`."""
        for engine in self._engines.values():
            engine.close()

    def _of(self, configuration: Configuration) -> Engine:
        """Returns the engine of the version that a configuration names."""
        return self._engines[str(configuration[VERSION])]
