"""Makes the tuner's problem from a study's specification."""

import math

from rocktune.cost import Pricing
from rocktune.device import DeviceSpec
from rocktune.engine.debt import collects_blobs
from rocktune.lsm import DistinctKeys
from rocktune.objective import Objective, objective_named
from rocktune.options_account import OptionsAccount
from rocktune.space import Configuration, FamilyEntries, Space, space_from_document
from rocktune.study.specs.left_out import BLOB_KNOB, left_out_sentences
from rocktune.study.specs.own_options import terms_sentences
from rocktune.study.specs.spec import ExperimentSpec, StudySpec
from rocktune.study.specs.tried import tried_sentences
from rocktune.trial import Experiment
from rocktune.tuners import Problem
from rocktune.workload import WorkloadSpec, key_popularity

FULL_LENGTH_S = 100.0
"""Seconds of a full-length run at full size: the last age in Dremel's halving."""
_DEVICE_BYTES_PER_BYTE_KEPT = 3.0
_UNLIMITED_PUTS_PER_S = 50_000.0
_READ_BYTES = 4096
"""Bytes that a read takes of the device: a block of RocksDB's default size."""


def expected_entries(workload: WorkloadSpec, device: DeviceSpec, family: str | None = None) -> float:
    """Returns an upper estimate of the distinct keys in the store at the end of a full-size run, for memory.

    Reads count as free and all keys are written equally often, see `level_entries`. Each entry
    costs the device three times its bytes (WAL, flush and compaction), so the device's bandwidth bounds
    the writes in 100 s. Without a bandwidth limit we take 50,000 writes per second. Puts are treated as
    uniform, so n puts write keys * (1 - exp(-n / keys)) distinct keys. Each insert adds a key. Preloaded keys
    are in the store from the start. All sessions have the same weight.

    Args:
        workload: the workload at full size.
        device: the device; only its bandwidth counts.
        family: the column family whose keys are counted; None for all families together.

    Returns:
        The number of keys, at least 1.
    """
    entries = _entries_by_family(workload, device)
    if workload.families and family is not None:
        return max(1.0, entries[workload.family_names.index(family)])
    return max(1.0, sum(entries))


def _entries_by_family(workload: WorkloadSpec, device: DeviceSpec) -> list[float]:
    """Returns the expected number of distinct keys of each column family."""
    data = [(each.keys, each.preload.keys) for each in workload.families or (workload,)]
    by_session = [workload.loads(session) for session in workload.sessions]
    numbers = range(len(data))
    written = [sum(loads[i].share * loads[i].mix.write_share for loads in by_session) for i in numbers]
    inserted = [sum(loads[i].share * loads[i].mix.insert for loads in by_session) for i in numbers]
    writes = sum(written)
    if writes == 0:
        return [float(preloaded) for _, preloaded in data]
    writes_per_s = _UNLIMITED_PUTS_PER_S
    if device.bandwidth_bytes_s:
        sizes = [workload.entry_bytes_of(family) for family in workload.families or (None,)]
        mean_bytes = sum(share * size for share, size in zip(written, sizes, strict=True)) / writes
        writes_per_s = device.bandwidth_bytes_s / (_DEVICE_BYTES_PER_BYTE_KEPT * mean_bytes)
    entries = []
    for (keys, preloaded), of_family, new in zip(data, written, inserted, strict=True):
        inserts = FULL_LENGTH_S * writes_per_s * new / writes
        puts = FULL_LENGTH_S * writes_per_s * of_family / writes - inserts
        entries.append(preloaded + (keys - preloaded) * -math.expm1(-puts / keys) + inserts)
    return entries


def level_entries(workload: WorkloadSpec, device: DeviceSpec, family: str | None = None) -> float:
    """Returns N of Dremel's equation 1: the distinct keys in the store at the end of a full-size run.

    The paper does not define N for runs that end by time. Our reading: in a closed loop reads and writes
    share the device's bandwidth. A written entry costs three times its bytes, a read a block of 4,096 bytes,
    and a read of an absent key nothing. Without a bandwidth limit there are 50,000 operations per second. The
    puts of 100 s meet the keys as the key chooser draws them. Each insert adds a key, and preloaded keys are
    in the store from the start. All sessions have the same weight.

    Args:
        workload: the workload at full size.
        device: the device; only its bandwidth counts.
        family: the column family whose keys are counted; None for all families together.

    Returns:
        The number of keys, at least 1.
    """
    data, sessions = workload.families or (None,), workload.sessions
    by_session = [workload.loads(session) for session in sessions]
    operations = FULL_LENGTH_S * _operations_per_s(workload, device)
    entries = []
    for number, own in enumerate(data):
        loads = [each[number] for each in by_session]
        written, inserted = (
            operations
            * sum(load.share * share for load, share in zip(loads, shares, strict=True))
            / len(loads)
            for shares in ([load.mix.write_share for load in loads], [load.mix.insert for load in loads])
        )
        keys, preloaded = (own or workload).keys, (own or workload).preload.keys
        busiest = max(loads, key=lambda load: load.share * load.mix.write_share)
        popularity = key_popularity(busiest.key_chooser, keys)
        put = float(DistinctKeys(popularity.counts, popularity.probabilities)(max(0.0, written - inserted)))
        entries.append(preloaded + (1 - preloaded / keys) * put + inserted)
    return max(
        1.0, entries[workload.family_names.index(family)] if family and workload.families else sum(entries)
    )


def _operations_per_s(workload: WorkloadSpec, device: DeviceSpec) -> float:
    """Returns the operations per second that the device's bandwidth allows in a closed loop."""
    if not device.bandwidth_bytes_s:
        return _UNLIMITED_PUTS_PER_S
    data, device_bytes = workload.families or (None,), 0.0
    for session in workload.sessions:
        for load, family in zip(workload.loads(session), data, strict=True):
            reads = load.mix.get + load.mix.scan + load.mix.read_modify_write
            kept = _DEVICE_BYTES_PER_BYTE_KEPT * workload.entry_bytes_of(family) * load.mix.write_share
            device_bytes += load.share * (kept + reads * _READ_BYTES)
    return device.bandwidth_bytes_s * len(workload.sessions) / device_bytes if device_bytes else 0.0


def families_together(
    workload: WorkloadSpec, device: DeviceSpec, column_family: str | None
) -> tuple[FamilyEntries, ...]:
    """Returns the column families that are tuned together; none if one is, or the workload has one alone."""
    if not workload.families or column_family is not None:
        return ()
    entries = _entries_by_family(workload, device)
    return tuple(
        FamilyEntries(name, max(1.0, count))
        for name, count in zip(workload.family_names, entries, strict=True)
    )


def space_of(spec: ExperimentSpec) -> Space:
    """Returns a study's space, on top of the user's own options if they gave some.

    Raises:
        UserError: the space is unknown, or the memory budget is too small for it.
    """
    entries = expected_entries(spec.workload, spec.device, spec.column_family)
    families = families_together(spec.workload, spec.device, spec.column_family)
    return space_from_document(spec.space, spec.memory_bytes, entries, spec.base_options, families)


def experiment_of(spec: ExperimentSpec, space: Space, scale: int) -> Experiment:
    """Returns the conditions of a study's runs in its space, at a scale S."""
    return Experiment(
        spec.workload, spec.device, scale, space, spec.base_options or {}, family=spec.column_family
    )


def baseline_of(spec: ExperimentSpec, space: Space) -> Configuration:
    """Returns the baseline: the knobs' values in the user's own options, else the space's default."""
    return space.configuration_from_options(spec.base_options) if spec.base_options else space.default()


def ages_every_run(spec: StudySpec) -> bool:
    """Returns whether all runs of a study begin on aged stores, and not those of its proof alone.

    The garbage of blob files has no model, so that only an aged store shows its cost. If any configuration of
    the study may have it, all runs are aged, because aged and young stores do not compare.
    """
    if spec.protocol != "steady":
        return False
    space = space_of(spec)
    if any(knob.plain_name == BLOB_KNOB for knob in space.knobs):
        return True
    return collects_blobs(spec.workload, space.options(baseline_of(spec, space)))


def own_notes(spec: ExperimentSpec) -> list[str]:
    """Returns sentences for the user on what the space leaves out, and how their OPTIONS file was used."""
    notes = left_out_sentences(spec.space)
    if isinstance(spec, StudySpec):
        notes += tried_sentences(spec.tried)
    if spec.own_terms is None or spec.base_options is None:
        return notes
    shares = space_of(spec).memory_shares(spec.base_options)
    return notes + terms_sentences(spec.own_terms, spec.memory_bytes, shares, spec.base_options)


def own_account(spec: ExperimentSpec) -> OptionsAccount | None:
    """Returns what became of the user's OPTIONS file; None without one, and in older ledgers."""
    return None if spec.own_terms is None else spec.own_terms.account


def _entry_bytes(workload: WorkloadSpec, column_family: str | None) -> float:
    """Returns the mean bytes of an entry of the tuned column family, or of all if there is no such family."""
    for family in workload.families:
        if family.name == column_family:
            return workload.entry_bytes_of(family)
    return workload.entry_bytes


def objective_of(spec: StudySpec, scale: int) -> Objective:
    """Returns the study's objective for runs of a model, with all constraints, as stated.

    See `Objective.against` for constraints that are multiples of the baseline's figures.

    Args:
        spec: the study.
        scale: S of the model.
    """
    pricing = None if spec.prices is None else Pricing(spec.prices, scale)
    return objective_named(spec.objective, spec.constraints, spec.default_constraints, pricing)


def problem_of(spec: StudySpec) -> Problem:
    """Returns the problem that the study's tuner solves, with the constraints as stated.

    Raises:
        UserError: see `space_of`.
    """
    space = space_of(spec)
    return Problem(
        space=space,
        objective=objective_of(spec, spec.scale),
        scale=spec.engine.time_scale(spec.scale),
        runs_continue=spec.engine.runs_continue,
        # A trial on several workloads costs the seconds of each.
        budget_s=spec.budget_s / (1 + len(spec.neighbours)),
        baseline=baseline_of(spec, space),
        expected_entries=level_entries(spec.workload, spec.device, spec.column_family),
        entry_bytes=_entry_bytes(spec.workload, spec.column_family),
        # Files that differ in what the space does not tune give equal configurations.
        tried=tuple(dict.fromkeys(Configuration(each.configuration) for each in spec.tried)),
    )
