"""What it costs an FLSM-tree's level to change its policy (RusKey, section 4.3 and table 2). Pages of I/O.

A level's policy is how many runs it has when it is full. The greedy transition pushes the level down at once;
the lazy one waits until it is full; the flexible one leaves the runs that are there and gives new ones the
new capacity.
"""

from rocktune.lsm.arrays import Numbers, Reals, real


def greedy_transition_pages(capacity_bytes: Numbers, page_bytes: Numbers) -> Reals:
    """Returns what a greedy transition merges at once, on average: C / (2 B). Lazy and flexible: nothing.

    Args:
        capacity_bytes: C, of the level, which holds anything between nothing and that.
        page_bytes: B.
    """
    return real(capacity_bytes) / (2 * real(page_bytes))


def lazy_transition_delay_s(capacity_bytes: Numbers, updates_per_s: Numbers, entry_bytes: Numbers) -> Reals:
    """Returns how long a lazy transition waits on average: C / (2 N_u E). Greedy and flexible: not at all.

    Args:
        capacity_bytes: C, of the level.
        updates_per_s: N_u, that reach the level, above 0.
        entry_bytes: E.
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
    """Returns what a greedy transition writes beyond a tree born with the new policy (equation 1).

    T C (1 - x) / (2 B K): the level below is rewritten for less than a full push. 0 for a full level.

    Args:
        capacity_bytes: C, of the level.
        filled: x, the share of it that is filled at the transition, from 0 to 1.
        size_ratio: T.
        policy_below: K, of the next level (in equation 1 alone, see docs/readings.md).
        page_bytes: B.
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
    """Returns what a lazy transition reads or writes beyond a tree born with the new policy.

    Towards fewer runs lookups go on asking too many: f C (1 - x^2) (K - K') g / (2 E (1 - g)) (equation 2).
    Towards more, the level goes on merging too much: T C (1 - x) (K' - K) / (2 B K K').

    Args:
        capacity_bytes: C, of the level.
        filled: x, the share of it that is filled at the transition, from 0 to 1.
        policy: K, the level's until now.
        new_policy: K'.
        size_ratio: T.
        false_positive_rate: f, of the level's filters.
        lookup_share: g (gamma), of all operations, from 0 and below 1.
        entry_bytes: E.
        page_bytes: B.
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
    """Returns what a lazy transition towards more runs writes beyond a tree born with them, run by run.

    `lazy_additional_pages` takes a level's write amplification as T / (2 K) all the time, as table 2 does. It
    is the mean over whole runs. A run costs the more the larger it has become, so that after a change in the
    midst of one there is more to write: with K = 1 and K' = 5 at x = 1/2 it is 1.6 times table 2's.

    Args:
        capacity_bytes: C, of the level.
        filled: x, the share of it that is filled at the transition, from 0 to 1.
        policy: K, the level's until now.
        new_policy: K', above K.
        size_ratio: T, as many pushes fill the level.
        page_bytes: B.
    """
    merged = real(size_ratio) * real(capacity_bytes) / real(page_bytes)
    return merged * (_left_to_merge(filled, policy) - _left_to_merge(filled, new_policy))


def _left_to_merge(filled: Numbers, policy: float) -> Reals:
    """Returns how much of T C a level merges until it is full: (1 - x) / (2 K) + u (1 - u) / (2 K^2).

    u is how much of its share the newest run has.
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
    """Returns what a flexible transition reads beyond a tree born with the new policy.

    f C (x - x^2) (K - K') g / (E (1 - g)) towards fewer runs, as in table 2 (equation 3 differs, see
    docs/readings.md); nothing towards more.

    Args:
        capacity_bytes: C, of the level.
        filled: x, the share of it that is filled at the transition, from 0 to 1.
        policy: K, the level's until now.
        new_policy: K'.
        false_positive_rate: f, of the level's filters.
        lookup_share: g (gamma), of all operations, from 0 and below 1.
        entry_bytes: E.
    """
    share = real(filled)
    fewer = max(0.0, policy - new_policy)
    passed = real(false_positive_rate) * real(capacity_bytes) * (share - share**2) * fewer
    return passed * _lookups_per_update(lookup_share) / real(entry_bytes)


def _lookups_per_update(lookup_share: Numbers) -> Reals:
    share = real(lookup_share)
    return share / (1 - share)
