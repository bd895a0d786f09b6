"""The cost, in pages of I/O, of changing a level's policy in an FLSM-tree (RusKey, section 4.3 and table 2).

A level's policy is its number of runs when it is full. A greedy transition pushes the level down at once. A
lazy one waits until the level is full. A flexible one keeps the existing runs and gives new ones the new
capacity.
"""

from rocktune.lsm.arrays import Numbers, Reals, real


def greedy_transition_pages(capacity_bytes: Numbers, page_bytes: Numbers) -> Reals:
    """Returns the pages that a greedy transition merges at once, on average: C / (2 B).

    The average is over all fill states of the level. Lazy and flexible transitions merge nothing at once.

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        page_bytes: B, bytes of a page.
    """
    return real(capacity_bytes) / (2 * real(page_bytes))


def lazy_transition_delay_s(capacity_bytes: Numbers, updates_per_s: Numbers, entry_bytes: Numbers) -> Reals:
    """Returns the seconds that a lazy transition waits, on average: C / (2 N_u E).

    Greedy and flexible transitions do not wait.

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        updates_per_s: N_u, updates per second that reach the level, above 0.
        entry_bytes: E, bytes of an entry.
    """
    return real(capacity_bytes) / (2 * real(updates_per_s) * real(entry_bytes))


def greedy_additional_pages(
    *,
    capacity_bytes: Numbers,
    filled: Numbers,
    size_ratio: Numbers,
    policy_below: Numbers,
    page_bytes: Numbers,
) -> Reals:
    """Returns the pages that a greedy transition writes in addition to a tree that always had the new policy.

    T C (1 - x) / (2 B K) (equation 1): the level below is rewritten for less than a full push. 0 for a full
    level.

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        filled: x, filled share of the level at the transition, from 0 to 1.
        size_ratio: T, size ratio of a level to the one above.
        policy_below: K, policy of the next level. Only equation 1 means that one, see docs/readings.md.
        page_bytes: B, bytes of a page.
    """
    moved = real(size_ratio) * real(capacity_bytes) * (1 - real(filled))
    return moved / (2 * real(page_bytes) * real(policy_below))


def lazy_additional_pages(
    *,
    capacity_bytes: Numbers,
    filled: Numbers,
    policy: float,
    new_policy: float,
    size_ratio: Numbers,
    false_positive_rate: Numbers,
    lookup_share: Numbers,
    entry_bytes: Numbers,
    page_bytes: Numbers,
) -> Reals:
    """Returns the pages that a lazy transition costs in addition to a tree that always had the new policy.

    Towards fewer runs, lookups still search too many runs until the level is full. The additional reads are
    f C (1 - x^2) (K - K') g / (2 E (1 - g)) (equation 2). Towards more runs, the level still merges too
    often. The additional writes are T C (1 - x) (K' - K) / (2 B K K').

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        filled: x, filled share of the level at the transition, from 0 to 1.
        policy: K, policy of the level before the transition.
        new_policy: K', policy of the level after it.
        size_ratio: T, size ratio of a level to the one above.
        false_positive_rate: f, false positive rate of the level's filters.
        lookup_share: g (gamma), share of lookups in all operations, at least 0 and below 1.
        entry_bytes: E, bytes of an entry.
        page_bytes: B, bytes of a page.
    """
    share = real(filled)
    if new_policy >= policy:
        merged = real(size_ratio) * real(capacity_bytes) * (1 - share) * (new_policy - policy)
        return merged / (2 * real(page_bytes) * policy * new_policy)
    passed = real(false_positive_rate) * real(capacity_bytes) * (1 - share**2) * (policy - new_policy)
    return passed * _lookups_per_update(lookup_share) / (2 * real(entry_bytes))


def lazy_additional_written_pages(
    *,
    capacity_bytes: Numbers,
    filled: Numbers,
    policy: float,
    new_policy: float,
    size_ratio: Numbers,
    page_bytes: Numbers,
) -> Reals:
    """Returns the pages that a lazy transition towards more runs writes in addition, exactly.

    Like table 2, `lazy_additional_pages` assumes a constant write amplification of T / (2 K), the mean over
    whole runs. Adding to a run costs more the larger it is, so a transition in the middle of a run leaves
    more to write. With K = 1, K' = 5 and x = 1/2 the result is 1.6 times table 2's.

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        filled: x, filled share of the level at the transition, from 0 to 1.
        policy: K, policy of the level before the transition.
        new_policy: K', policy of the level after it, above K.
        size_ratio: T, the number of pushes that fill the level.
        page_bytes: B, bytes of a page.
    """
    merged = real(size_ratio) * real(capacity_bytes) / real(page_bytes)
    return merged * (_left_to_merge(filled, policy) - _left_to_merge(filled, new_policy))


def _left_to_merge(filled: Numbers, policy: float) -> Reals:
    """Returns the bytes that a level merges until it is full, as a share of T C.

    (1 - x) / (2 K) + u (1 - u) / (2 K^2), with u the filled share of the newest run.
    """
    share = real(filled)
    newest = share * policy % 1
    return (1 - share) / (2 * policy) + newest * (1 - newest) / (2 * policy**2)


def flexible_additional_pages(
    *,
    capacity_bytes: Numbers,
    filled: Numbers,
    policy: float,
    new_policy: float,
    false_positive_rate: Numbers,
    lookup_share: Numbers,
    entry_bytes: Numbers,
) -> Reals:
    """Returns the pages that a flexible transition reads beyond a tree that always had the new policy.

    f C (x - x^2) (K - K') g / (E (1 - g)) towards fewer runs, as in table 2; equation 3 differs, see
    docs/readings.md. 0 towards more runs.

    Args:
        capacity_bytes: C, capacity of the level in bytes.
        filled: x, filled share of the level at the transition, from 0 to 1.
        policy: K, policy of the level before the transition.
        new_policy: K', policy of the level after it.
        false_positive_rate: f, false positive rate of the level's filters.
        lookup_share: g (gamma), share of lookups in all operations, at least 0 and below 1.
        entry_bytes: E, bytes of an entry.
    """
    share = real(filled)
    fewer = max(0.0, policy - new_policy)
    passed = real(false_positive_rate) * real(capacity_bytes) * (share - share**2) * fewer
    return passed * _lookups_per_update(lookup_share) / real(entry_bytes)


def _lookups_per_update(lookup_share: Numbers) -> Reals:
    """Returns the number of lookups per update."""
    share = real(lookup_share)
    return share / (1 - share)
