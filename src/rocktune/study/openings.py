"""Conditions under which an engine opens the runs of a study."""

from dataclasses import replace

from rocktune.engine import run_options
from rocktune.errors import UserError
from rocktune.objective import LARGER_IS_BETTER, terms_of
from rocktune.outcome import Protocol
from rocktune.space import Configuration, OptionMaps
from rocktune.study import seeds
from rocktune.study.proving.ablation import Validity
from rocktune.study.proving.verification import ROCKSDB_DEFAULTS
from rocktune.study.specs.problem import ages_every_run, experiment_of
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Experiment
from rocktune.tuners import Problem
from rocktune.workload import WorkloadSpec


def searched_workload(
    workload: WorkloadSpec, protocol: Protocol, field: str, rate_ops_s: float | None = None
) -> WorkloadSpec:
    """Returns the workload with the arrivals that a search's runs have.

    In the steady protocol throughput is measured in a closed loop. Other figures are measured at the rate
    that the user gave, else with the workload's own arrivals.

    Args:
        workload: the study's workload.
        protocol: the study's protocol.
        field: the first field of its objective. A weighted sum with a throughput counts as one.
        rate_ops_s: the rate that the user gave, operations per second; None for none.
    """
    if protocol != "steady":
        return workload
    if any(term in LARGER_IS_BETTER for term in terms_of(field)):
        return workload.closed()
    return workload if rate_ops_s is None else workload.offered(rate_ops_s)


class Openings:
    """Says how each run of a study is opened, from its configuration and replicate.

    Attributes:
        offered_ops_s: the rate of runs at an offered rate, operations per second; None for the workload's own
            arrivals. It is set before the first of these runs.
    """

    def __init__(self, spec: StudySpec, problem: Problem, scale: int) -> None:
        """Creates the openings.

        Args:
            spec: the study.
            problem: its problem.
            scale: S of the runs.
        """
        self.offered_ops_s: float | None = None
        self._spec = spec
        self._problem = problem
        self._ages_every_run = ages_every_run(spec)
        self._experiment = replace(experiment_of(spec, problem.space, scale), neighbours=spec.neighbours)

    def engine_inputs(
        self, configuration: Configuration, replicate: int
    ) -> tuple[Experiment, Configuration, int]:
        """Returns the experiment, configuration and seed to open a run with; see `EngineInputs`."""
        experiment, opened = self._opened_as(configuration)
        is_aged = self._ages_every_run or (self._spec.protocol == "steady" and seeds.is_proof(replicate))
        # Nothing is decided by RocksDB's defaults, and their stores take longest to become steady.
        shares = is_aged and configuration == ROCKSDB_DEFAULTS
        # Tails are those of the given workload alone.
        others = () if seeds.is_offered(replicate) else experiment.neighbours
        conditions = replace(
            experiment,
            workload=self._arriving(experiment.workload, replicate),
            neighbours=tuple(self._arriving(other, replicate) for other in others),
            base_seed=seeds.base_seed_of(seeds.first_pair_of(replicate) if shares else replicate),
            aged=is_aged,
        )
        return conditions, opened, seeds.seed_of(self._spec.seed, replicate)

    def _arriving(self, workload: WorkloadSpec, replicate: int) -> WorkloadSpec:
        """Returns the workload with the arrivals that a replicate's runs have."""
        if seeds.is_offered(replicate):
            return workload if self.offered_ops_s is None else workload.offered(self.offered_ops_s)
        return searched_workload(
            workload, self._spec.protocol, self._problem.objective.primary, self._spec.rate_ops_s
        )

    def _opened_as(self, configuration: Configuration) -> tuple[Experiment, Configuration]:
        """Returns the experiment and configuration with which an engine opens a configuration of the study.

        The baseline from an OPTIONS file is opened as the file stands, with options that the space does not
        know. RocksDB's bare defaults are opened without that file, but with the baseline's workload.
        """
        if configuration == ROCKSDB_DEFAULTS:
            loaded = self._experiment.loaded_by(self._problem.baseline)
            return replace(loaded, base_options={}), configuration
        loaded = self._experiment.loaded_by(configuration)
        if self._spec.base_options and configuration == self._problem.baseline:
            return loaded, Configuration({})
        return loaded, configuration

    def options(self, configuration: Configuration) -> OptionMaps:
        """Returns the full-size options of a configuration."""
        return run_options(*self._opened_as(configuration))

    @property
    def is_valid(self) -> Validity:
        """Says which configurations may be run, and completes those made of two others."""
        return Validity(self._may_run, self._problem.space.activated)

    def _may_run(self, configuration: Configuration) -> bool:
        """Returns whether a configuration may be run; the user's own always may."""
        if configuration == self._problem.baseline:
            return True
        try:
            # The baseline, accepted above, may be an OPTIONS file that breaks the space's rules.
            self._problem.space.validate(configuration)
        except UserError:
            return False
        return True
