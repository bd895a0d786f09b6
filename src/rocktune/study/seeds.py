"""Assigns replicates to the phases of a study, and seeds to replicates.

Runs of equal replicate meet the same random numbers of the workload, whatever their configuration. Each phase
has replicates of its own, so that the verification meets random numbers that the search never saw.
"""

import hashlib
from collections.abc import Hashable

from rocktune.trial import RunKey

SEARCH = 0
BASELINE = 1
PICK = 10
ABLATE = 100
PRUNE = 200
PROVE = 300
OFFER = 10_000_000
"""Added to the replicate of a pair of the proof for its runs at an offered rate."""
CONTROL = 100_000
LARGER = 100_000_000
"""Added to the replicate of a run of a scale check for the run at the larger model."""
# Above the replicates of all pairs.
_SCALE_STEP = 1000
# Above all other replicates, so that a repeat and its original can be told apart and mapped to each other.
# Three repeats fit into the ledger's columns of 32 bits.
_REPEAT = 500_000_000


def repeat_of(replicate: int) -> int:
    """Returns the replicate of the run that repeats a disturbed run."""
    return replicate + _REPEAT


def original_of(replicate: int) -> int:
    """Returns the replicate that a run repeats; `replicate` itself if it is not a repeat."""
    return replicate % _REPEAT


def repeats_before(replicate: int) -> int:
    """Returns how many repeats of a run there were up to the one of this replicate; 0 for the original."""
    return replicate // _REPEAT


def compared_with(run: RunKey) -> Hashable:
    """Returns a key that the runs of a batch share which are compared with each other in a pair.

    Runs of equal replicate are paired. Those of a search, a sweep or a check's ranking all share one
    replicate for each model, and each stands for itself. A repeat has the key of its original.
    """
    configuration, replicate = run
    original = original_of(replicate)
    return (configuration, original) if original % LARGER == SEARCH else original


def at_scale(replicate: int, scale: int) -> int:
    """Returns the replicate to use instead of the study's own if it is verified at scale 1/`scale`."""
    return _SCALE_STEP * scale + replicate


def base_seed_of(replicate: int) -> int:
    """Returns the number of the preloaded store on which a replicate's runs begin (`Experiment.base_seed`).

    The phases before the proof share one store. Each pair of the proof has its own, because stores that are
    loaded alike still differ, and the interval has to include that difference. The number does not depend on
    the study's seed, so that studies share the stores, which take time to load.
    """
    pair = original_of(replicate) % OFFER
    return pair if pair >= PROVE else 0


def first_pair_of(replicate: int) -> int:
    """Returns the replicate of a proof's first pair, given one of its pairs."""
    original = original_of(replicate)
    return replicate - (original % _SCALE_STEP - PROVE)


def is_larger(replicate: int) -> bool:
    """Returns whether a replicate of a scale check is of a run at the larger model."""
    return original_of(replicate) >= LARGER


def replicates(first: int, count: int) -> list[int]:
    """Returns `count` consecutive replicates."""
    return list(range(first, first + count))


def is_proof(replicate: int) -> bool:
    """Returns whether a replicate is of the proof, at an offered rate or not."""
    return original_of(replicate) % OFFER >= PROVE


def is_offered(replicate: int) -> bool:
    """Returns whether a replicate is of the proof's runs at an offered rate."""
    return original_of(replicate) >= OFFER


def seed_of(study_seed: int, purpose: int | str) -> int:
    """Returns the seed for a purpose in a study, the same on every machine.

    Args:
        study_seed: the study's seed.
        purpose: a replicate, for its workload, or a name such as "tuner". A repeat meets the same random
            numbers as its original, and so do the runs of a scale check at both models.

    Returns:
        A whole number from 0 to 2**63 - 1.
    """
    if isinstance(purpose, int):
        purpose = original_of(purpose) % LARGER
    digest = hashlib.sha256(f"{study_seed}/{purpose}".encode()).digest()
    # 63 bits fit into every signed integer on the way to the worker.
    return int.from_bytes(digest[:8]) >> 1
