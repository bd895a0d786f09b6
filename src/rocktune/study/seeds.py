"""Which random numbers a study uses where: replicates, and the seeds that follow from them.

A replicate is a number that all configurations share: equal replicates meet the same workload. Every purpose
has replicates of its own, so that verification meets workloads that the search never saw.
"""

import hashlib

SEARCH = 0
BASELINE = 1
PICK = 10
ABLATE = 100
PRUNE = 200
PROVE = 300
CONTROL = 100_000
_AGAIN = 1_000_000_000


def again(replicate: int) -> int:
    """Returns the replicate that takes another's place when its run was disturbed."""
    return replicate + _AGAIN


def intended(replicate: int) -> int:
    """Returns the replicate whose place this one takes, itself if none."""
    return replicate % _AGAIN


def elsewhere(replicate: int, scale: int) -> int:
    """Returns the replicate that takes another's place when a study is verified again at 1/`scale`."""
    return 1000 * scale + replicate


def base_seed_of(replicate: int) -> int:
    """Returns which preloaded store a replicate's runs begin on (`Experiment.base_seed`).

    All phases share one but the proof, of which every pair has its own: stores that are loaded alike still
    differ, and a proof may not rest on one of them. Studies of other seeds share a pair's stores, for they
    cost time to load.
    """
    meant = intended(replicate)
    return meant if meant >= PROVE else 0


def seed_of(study_seed: int, purpose: int | str) -> int:
    """Returns the seed for a replicate's workload, or for another purpose, the same on every machine.

    Returns:
        A whole number from 0 to 2**63 - 1.
    """
    digest = hashlib.sha256(f"{study_seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 1
