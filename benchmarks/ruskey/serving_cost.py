"""The cost of a learner for the store that it runs in: pairs of runs with frozen policies."""

import random
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common.claims import Claim, Settings, main, ratio_interval
from benchmarks.common.measuring import processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import Where, decided_at
from rocktune.online import AdaptiveStore, FlsmStore
from rocktune.online.control import Controller, Decision, Greedy, Mission
from rocktune.online.flsm.layout import LEVELWISE_LEVEL0_RUNS

SOURCE = "serving beside a learner"
MOST = 1.03
KEYS = 200_000
VALUE = bytes(100)
POLICIES = [5]
OPTIONS = {"cf": {"write_buffer_size": str(4 << 20)}, "table": {"block_cache": str(64 << 20)}}


class Frozen:
    """A controller that lets another one decide but changes nothing."""

    def __init__(self, controller: Controller) -> None:
        """Creates it with the controller that decides."""
        self._controller = controller
        self.missions = 0

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        self.missions += 1
        self._controller.decide(mission)
        return Decision()


def serving_cost(settings: Settings) -> list[Claim]:
    """Serves half lookups and half updates from one thread; `--repeats` and `--seconds` set how long."""
    repeats = 2 if settings.quick else int(settings.extra["repeats"])
    seconds = 0.5 if settings.quick else float(settings.extra["seconds"])
    rows: list[dict[str, Any]] = []
    with processors_awake(), tempfile.TemporaryDirectory() as scratch:
        for turn in range(repeats):
            for learning in (False, True) if turn % 2 else (True, False):
                path = Path(scratch) / f"{turn}-{learning}"
                frozen = Frozen(_learner(settings.quick, turn)) if learning else None
                rows.append({"turn": turn, "learning": learning} | _served(path, frozen, seconds, turn))
            settings.say(f"pair {turn + 1} of {repeats}")
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    alone, beside = (
        [row["operations_s"] for row in rows if row["learning"] == learning] for learning in (False, True)
    )
    ratio = ratio_interval([without / with_it for without, with_it in zip(alone, beside, strict=True)])
    return [
        decided_at(
            "throughput_alone_over_beside_a_learner", SOURCE, "ratio", ratio, high=MOST,
            where=Where("RocksDB in process", "none"),
        )
    ]  # fmt: skip


def _served(path: Path, frozen: Frozen | None, seconds: float, seed: int) -> dict[str, Any]:
    # Of the same make, or what differs is not the learner's.
    if frozen is None:
        opened = FlsmStore(path, policies=POLICIES, level0_runs=LEVELWISE_LEVEL0_RUNS, options=OPTIONS)
    else:
        opened = AdaptiveStore(path, policies=POLICIES, options=OPTIONS, controller=frozen)
    drawn = random.Random(seed)
    with opened as store:
        for number in range(KEYS):
            store.put(b"%012d" % number, VALUE)
        begun, operations = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            for _ in range(200):
                key = b"%012d" % drawn.randrange(KEYS)
                if drawn.random() < 0.5:
                    store.get(key)
                else:
                    store.put(key, VALUE)
            operations += 200
        took_s = time.perf_counter() - begun
    return {"operations_s": operations / took_s, "missions": 0 if frozen is None else frozen.missions}


def _learner(quick: bool, seed: int) -> Controller:
    if quick:
        return Greedy(0.33, 0.67)
    # Here, because smoke runs go without PyTorch.
    from rocktune.online.control.lerp import Lerp

    return Lerp("uniform", seed=seed)


if __name__ == "__main__":
    main("ruskey.serving_cost", serving_cost, scale=1, quick_scale=1, extra={"repeats": 20, "seconds": 5.0})
