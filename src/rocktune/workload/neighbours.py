"""Workloads near a given one: with more or fewer writes, and with more or less skewed keys."""

from itertools import product
from typing import TypeVar

from rocktune.workload.distributions import KeyChooserSpec
from rocktune.workload.loads import LoadSpec, MixSpec
from rocktune.workload.spec import WorkloadSpec

_WRITES = ("put", "insert", "delete", "delete_range", "read_modify_write")
_READS = ("get", "get_absent", "scan")
_MAX_SKEW = 0.999
"""Maximum skew of YCSB's key choosers, whose formula divides by 1 - skew."""

Loaded = TypeVar("Loaded", bound=LoadSpec)


def neighbours(workload: WorkloadSpec, share: float) -> tuple[WorkloadSpec, ...]:
    """Returns the corners of the workloads within a share of a workload's mix and skew.

    The mix has more or fewer writes, see `shifted_mix`; the keys are more or less skewed, see `skewed`. All
    sessions and column families change in the same direction. Data, rates and everything else are equal.

    Args:
        workload: the given workload.
        share: the greatest relative change, above 0 and below 1.

    Returns:
        Four corners; two if all keys are equally popular, or if there are only reads or only writes; none if
        both hold, or if the operations are a trace's, which stay as they are. Their names say how they
        differ.
    """
    if workload.trace is not None:
        return ()
    corners: dict[WorkloadSpec, None] = {}
    for writes, skew in product((1, -1), repeat=2):
        changed = _changed(workload, writes * share, skew * share)
        said = []
        if changed != _changed(workload, 0.0, skew * share):
            said.append("more writes" if writes > 0 else "fewer writes")
        if changed != _changed(workload, writes * share, 0.0):
            said.append("more skew" if skew > 0 else "less skew")
        if said:
            corners[changed.model_copy(update={"name": f"{workload.name}: {', '.join(said)}"})] = None
    return tuple(corners)


def shifted_mix(mix: MixSpec, share: float) -> MixSpec:
    """Returns a mix with more writes, or with fewer ones if the share is below 0.

    The share is of the smaller of reads and writes, so that no kind of operation becomes more frequent or
    rarer by more than the share: 5% of writes become 5.5%, and not 15%. Kinds keep their proportions within
    reads and within writes. A mix of reads or of writes alone stays as it is.
    """
    written, read = (sum(getattr(mix, kind) for kind in kinds) for kinds in (_WRITES, _READS))
    moved = share * min(written, read)
    if moved == 0:
        return mix
    factors = dict.fromkeys(_WRITES, 1 + moved / written) | dict.fromkeys(_READS, 1 - moved / read)
    return MixSpec(**{kind: getattr(mix, kind) * factor for kind, factor in factors.items()})


def skewed(chooser: KeyChooserSpec, share: float) -> KeyChooserSpec:
    """Returns a key chooser with a greater skew, or with a smaller one if the share is below 0.

    The Zipf exponent grows by the share, up to 0.999 for YCSB's kinds. Of `hotspot` the hot keys become
    fewer by the share. The other kinds have no single skew and stay as they are.
    """
    if chooser.kind == "hotspot":
        hot_key_share = min(1.0, chooser.hot_key_share * (1 - share))
        return chooser.model_copy(update={"hot_key_share": hot_key_share})
    skew = chooser.skew * (1 + share)
    if chooser.kind != "true_zipf":
        skew = min(skew, max(_MAX_SKEW, chooser.skew))
    return chooser.model_copy(update={"skew": skew})


def _changed(workload: WorkloadSpec, writes: float, skew: float) -> WorkloadSpec:
    """Returns the workload with a share more writes and a share more skew, in each session and family."""
    families = tuple(_changed_load(family, writes, skew) for family in workload.families)
    sessions = tuple(
        _changed_load(session, writes, skew).model_copy(
            update={"families": tuple(_changed_load(load, writes, skew) for load in session.families)}
        )
        for session in workload.sessions
    )
    chooser = skewed(workload.key_chooser, skew)
    return workload.model_copy(update={"families": families, "sessions": sessions, "key_chooser": chooser})


def _changed_load(load: Loaded, writes: float, skew: float) -> Loaded:
    """Returns a session or a family's operations with a changed mix and key chooser where they state them."""
    mix = None if load.mix is None else shifted_mix(load.mix, writes)
    chooser = None if load.key_chooser is None else skewed(load.key_chooser, skew)
    return load.model_copy(update={"mix": mix, "key_chooser": chooser})
