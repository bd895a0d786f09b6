"""Beyond the paper: the gain of further actions over K alone, in hindsight and at equal total memory.

Five sessions in an order by the seed run on a modelled store without noise. In each session every level has
the K of `GRID` with the least cost, so that only the action differs. The actions are:

- `buffer`: write buffers of 4, 8 and 16 MB instead of 2. Level 1 holds T buffers, so all capacities grow.
- `flush`: the same buffers, but the capacities stay. SetOptions of write_buffer_size does this in a store.
- `level1`: level 1 holds 40, 80 and 160 MB instead of 20. It takes no memory.
- `ratio`: T of 4, 6 and 16 instead of 10.
- `bits`: bits per level that fit the runs and bytes of each session, in all tables at once.
- `cache`: a block cache of 8 MB. It saves as large a share of reads as it holds of the data.

Equal memory: 2 x write buffer + filters + cache. A buffer counts twice, because one is flushed while the
other takes writes. With K alone the filters have 8 bits for an entry, in the mean over what levels hold
during the sessions. The mean over full levels, which `bits_per_key` sets, is another one, because levels
of other capacities are filled otherwise. So a candidate gets the `bits_per_key` with which its entries have

    8 - 8 x (2 x (buffer - 2 MB) + cache) / entries

bits in the mean. Lookups ask for absent keys in uniform order.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.common.claims import (
    Claim,
    Settings,
    decided,
    main,
    ratio_interval,
    reported,
)
from benchmarks.common.flags import check_flags
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.ruskey.driver import costs_of
from benchmarks.ruskey.equal_memory import CANDIDATES, K_ALONE, STEP, Row, Stores
from rocktune.workload.ruskey import ENTRIES, SHARES

MAX_OF_K = 0.97
"""Time over that of K alone up to which an action is worth building."""
DATA = "sessions.csv"
SOURCE = "actions of the cost controller"
MODEL = {"engine": "a modelled store", "device": "none"}
COSTS = "docs/evidence/ruskey/costs/costs.json"

QUICK = ("k", "buffer_16", "bits", "cache_8")


Seconds = Mapping[str, Sequence[np.ndarray]]
"""By candidate, the seconds of each session for each seed."""


def actions(settings: Settings) -> list[Claim]:
    """Drives each candidate through the sessions of `--missions`, with `--repeats` orders.

    `--entries` are one or more sizes of the store.

    With `--out` each drive is appended to `sessions.csv` and is not made again.
    """
    lengths = [STEP] if settings.quick else _numbers(settings, "missions")
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    costs = replace(costs_of(str(settings.extra["costs"])), noise=0.0)
    known = _Known(settings)
    claims: list[Claim] = []
    for missions in lengths:
        seconds: dict[str, list[np.ndarray]] = defaultdict(list)
        for entries in _numbers(settings, "entries"):
            for seed in range(settings.seed, settings.seed + repeats):
                order = np.random.default_rng(seed).permutation(list(SHARES.values()))
                stores = Stores(costs, entries, [(float(share), missions) for share in order])
                for name, own in _turn(settings, known, stores, seed).items():
                    seconds[name].append(np.array([row.seconds for row in own]))
        claims += _claims(seconds, missions)
    return claims


def _numbers(settings: Settings, flag: str) -> list[int]:
    return [int(each) for each in str(settings.extra[flag]).split(",")]


def _turn(settings: Settings, known: "_Known", stores: Stores, seed: int) -> dict[str, list[Row]]:
    """Returns the drives of all candidates, and makes those that are not known."""
    turn = {}
    for candidate in CANDIDATES:
        if settings.quick and candidate.name not in QUICK:
            continue
        own = known.rows(stores, seed, candidate.name)
        if not own:
            own = stores.hindsight(candidate, seed)
            known.add(own)
        total_s = sum(row.seconds for row in own)
        size = f"{stores.sessions[0][1]} missions, {stores.entries} entries"
        settings.say(f"{size}, seed {seed}, {candidate.name}: {total_s:.0f} s")
        turn[candidate.name] = own
    return turn


class _Known:
    """The drives that were made, in `sessions.csv` of `--out`; other processes may append to it as well."""

    def __init__(self, settings: Settings) -> None:
        self._path = None if settings.out is None else settings.out / DATA
        check_flags(settings)
        self._rows = read_rows(self._path, record_of(Row))

    def rows(self, stores: Stores, seed: int, candidate: str) -> list[Row]:
        """Returns the sessions of a drive; an empty list if it was not made."""
        wanted = (stores.entries, seed, stores.sessions[0][1], candidate)
        return [row for row in self._rows if (row.entries, row.seed, row.missions, row.candidate) == wanted]

    def add(self, rows: Sequence[Row]) -> None:
        """Appends a drive."""
        append_rows(self._path, rows)


def _claims(seconds: Seconds, missions: int) -> list[Claim]:
    """Returns for each action its best fixed choice, and a bound for one choice per session."""
    alone = seconds[K_ALONE.name]
    claims = []
    for action in dict.fromkeys(each.action for each in CANDIDATES if each is not K_ALONE):
        names = [each.name for each in CANDIDATES if each.action == action and each.name in seconds]
        if not names:
            continue
        best = min(names, key=lambda name: sum(own.sum() for own in seconds[name]))
        whole = _ratio(f"{best}_over_k_of_{missions}", seconds[best], alone)
        claims.append(decided(whole, high=MAX_OF_K))
        each_session = [
            np.min([seconds[name][order] for name in (K_ALONE.name, *names)], axis=0)
            for order in range(len(alone))
        ]
        claims.append(_ratio(f"{action}_by_session_over_k_of_{missions}", each_session, alone))
    return claims


def _ratio(name: str, own: Sequence[np.ndarray], alone: Sequence[np.ndarray]) -> Claim:
    ratios = [float(mine.sum() / other.sum()) for mine, other in zip(own, alone, strict=True)]
    return reported(name, SOURCE, "ratio of total time", ratio_interval(ratios), **MODEL)


if __name__ == "__main__":
    main(
        "ruskey.actions",
        actions,
        scale=1,
        quick_scale=1,
        extra={"missions": "200,400", "repeats": 5, "entries": str(ENTRIES), "costs": COSTS},
    )
