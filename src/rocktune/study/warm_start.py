"""Configurations that a study takes over from earlier ones with similar conditions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from rocktune.cost import Pricing
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.objective import objective_named
from rocktune.rocksdb_version import RocksDbVersion
from rocktune.space import Space, nearest_configuration
from rocktune.study.kinds import recorded_spec
from rocktune.study.measuring.kept import kept_trials
from rocktune.study.proving.best import finalists
from rocktune.study.proving.outcome import recorded_outcome
from rocktune.study.specs.problem import problem_of, space_of
from rocktune.study.specs.spec import ExperimentSpec, StudySpec, SweepSpec
from rocktune.study.specs.tried import Tried
from rocktune.trial import Result
from rocktune.tuners.tried import tried_cost_s

MAX_SEEDS = 4
"""Configurations that a study takes over at most."""
MAX_DISTANCE = 1.0
"""Distance beyond which an earlier study says nothing of the new one."""
_MAX_COST_SHARE = 0.25
"""Share of the search's budget that measuring them may cost at most."""
_DECADE = 0.3
"""Distance of two studies of which a size, rate or latency differs by a factor of ten."""
_OTHER_LAW = 0.2
"""Distance of two studies whose keys follow other laws, or whose RocksDB is of another minor release."""
_UNLIMITED = 1e10
"""The limit that stands for no limit of a device, per second."""


@dataclass(frozen=True)
class Earlier:
    """What an earlier study or sweep measured.

    Attributes:
        name: its name.
        conditions: its conditions.
        engine: name and version of the system that it measured, such as "RocksDB 7.8.3, assertions on".
        results: its results.
        proven: the configuration that it recommends in place of its baseline; None if it recommends none.
    """

    name: str
    conditions: ExperimentSpec
    engine: str
    results: Sequence[Result] = field(repr=False)
    proven: Mapping[str, Any] | None = None


def earlier_of(ledger: Ledger, name: str) -> Iterator[Earlier]:
    """Yields the studies and sweeps of a ledger that have measured something, oldest first.

    Args:
        ledger: the ledger.
        name: name of the study that is to begin, which is left out.
    """
    for record in ledger.studies():
        if record.name != name and (found := _earlier(ledger, record)) is not None:
            yield found


def seeds_of(spec: StudySpec, engine: str, earlier: Sequence[Earlier]) -> tuple[Tried, ...]:
    """Returns the configurations of earlier studies that a study measures before its tuner begins.

    They are the best ones of the nearest studies by turns: the best of the nearest, the best of the second
    nearest, and so on. At most `MAX_SEEDS`, and not more than a quarter of the search's budget pays for.

    Args:
        spec: the new study. Its space may have other knobs and another memory budget than theirs.
        engine: name and version of the system that it measures; "" if unknown.
        earlier: the earlier studies.
    """
    space = space_of(spec)
    near = sorted(((distance(spec, engine, each), each) for each in earlier), key=lambda pair: pair[0])
    lists = [list(_best(spec, space, each, far)) for far, each in near if far <= MAX_DISTANCE]
    baseline = dict(problem_of(spec).baseline)
    found: list[Tried] = []
    for seed in (each for turn in zip_longest(*lists) for each in turn if each is not None):
        known = (baseline, *(each.configuration for each in (*spec.tried, *found)))
        if seed.configuration not in known:
            found.append(seed)
    return tuple(found[: _affordable(spec)])


def distance(spec: StudySpec, engine: str, earlier: Earlier) -> float:
    """Returns how unlike the conditions of a study and of an earlier one are; 0 for equal ones.

    The sum of the differences of shares (lookups, absent lookups, writes, scans), of the logarithms of sizes,
    of data over memory and of the device's limits, and of what is equal or not.

    Args:
        spec: the study.
        engine: name and version of the system that it measures; "" if unknown.
        earlier: the earlier study.
    """
    one, other = _shares(spec), _shares(earlier.conditions)
    shares = math.fsum(abs(mine - theirs) for mine, theirs in zip(one, other, strict=True)) / 2
    decades = math.fsum(
        abs(mine - theirs) for mine, theirs in zip(_decades(spec), _decades(earlier.conditions), strict=True)
    )
    laws = _laws(spec, engine), _laws(earlier.conditions, earlier.engine)
    return shares + _DECADE * decades + _OTHER_LAW * sum(bool(a != b) for a, b in zip(*laws, strict=True))


def _shares(spec: ExperimentSpec) -> tuple[float, ...]:
    mixes = [(weight, spec.workload.mix_of(session)) for weight, session in spec.workload.weighted_sessions()]
    total = sum(weight for weight, _ in mixes)

    def of(*kinds: str) -> float:
        shares = (weight * float(getattr(mix, kind)) for weight, mix in mixes for kind in kinds)
        return math.fsum(shares) / total

    return (
        of("get"),
        of("get_absent"),
        of("put", "insert", "delete", "delete_range"),
        of("scan"),
        of("read_modify_write"),
    )


def _decades(spec: ExperimentSpec) -> tuple[float, ...]:
    """Returns the logarithms to base 10 of what differs by factors."""
    workload, device = spec.workload, spec.device
    data_bytes = workload.keys * workload.entry_bytes
    return (
        math.log10(workload.entry_bytes),
        math.log10(data_bytes / spec.memory_bytes),
        math.log10(device.bandwidth_bytes_s or _UNLIMITED),
        math.log10(device.iops or _UNLIMITED),
        math.log10(1 + device.read_latency_us),
        math.log10(1 + device.sync_latency_us) if workload.sync else 0.0,
    )


def _laws(spec: ExperimentSpec, engine: str) -> tuple[object, ...]:
    version = next((RocksDbVersion.parse(word.rstrip(",")) for word in engine.split()[1:2]), None)
    release = None if version is None else version.parts[:2]
    return spec.workload.key_chooser, release


def _best(spec: StudySpec, space: Space, earlier: Earlier, far: float) -> Iterator[Tried]:
    """Yields an earlier study's best configurations in a space, best first; the proven one leads."""
    # Memory and the store cost S times what the earlier study's model took.
    pricing = None if spec.prices is None else Pricing(spec.prices, earlier.conditions.scale)
    # Bounds are relative to a baseline that was not measured yet.
    objective = objective_named(spec.objective, pricing=pricing)
    ranked: list[Mapping[str, Any]] = list(finalists(earlier.results, objective, MAX_SEEDS))
    if earlier.proven is not None:
        ranked.insert(0, earlier.proven)
    for each in ranked:
        # Nothing like it may fit the space's memory or rules.
        with suppress(UserError):
            nearest = nearest_configuration(space, each)
            yield Tried(
                study=earlier.name,
                distance=round(far, 3),
                configuration=dict(nearest.configuration),
                differences=nearest.differences,
            )


def _affordable(spec: StudySpec) -> int:
    """Returns how many configurations a study can take over."""
    problem = problem_of(spec)
    one_s = problem.age_s(problem.trial_age_s)
    left_s = problem.budget_s * _MAX_COST_SHARE - tried_cost_s(problem)
    return max(0, min(MAX_SEEDS, int(left_s // one_s)))


def _earlier(ledger: Ledger, record: StudyRecord) -> Earlier | None:
    """Returns what a record has measured; None if it is neither a study nor a sweep, or has no result."""
    try:
        spec = recorded_spec(record.spec)
    except UserError:
        return None  # of a newer rocktune
    if not isinstance(spec, StudySpec | SweepSpec):
        return None
    results = [each.result for each in kept_trials(ledger, record) if each.phase in ("search", "sweep")]
    if not results:
        return None
    outcome = None
    # An outcome of a newer rocktune says nothing here, but the results do.
    with suppress(UserError):
        outcome = recorded_outcome(ledger, record) if isinstance(spec, StudySpec) else None
    proven = None
    if outcome is not None and outcome.recommended == "best" and outcome.best is not None:
        proven = outcome.best.configuration
    return Earlier(record.name, spec, record.engine_version, results, proven)
