"""A key-value store that tunes itself while it serves: RusKey."""

import json
import logging
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.control import Controller, Decision, mission_of, require_torch
from rocktune.online.flsm.layout import SAMPLE_EVERY, STEERED_LEVEL0_RUNS, Filters
from rocktune.online.flsm.shape import flsm_shape_of
from rocktune.online.flsm.statistics import flsm_statistics_of
from rocktune.online.flsm.store import FlsmStore
from rocktune.trial import OptionMaps

MODEL_NAME = "lerp.npz"
_KEEP_EVERY = 100
_logger = logging.getLogger("rocktune.adaptive")


@dataclass(frozen=True)
class LoggedDecision:
    """An entry of the decision log.

    Attributes:
        mission: after which it was made, counted from 1 since the store was opened.
        policies: K by level, as they were changed.
        phase: what the controller was doing.
        why: in a sentence.
    """

    mission: int
    policies: dict[int, int]
    phase: str
    why: str


class AdaptiveStore(FlsmStore):
    """An `FlsmStore` whose policies follow what it is used for. There is nothing to configure.

        with AdaptiveStore("data") as store:
            store.put(b"key", b"value")

    It learns on a thread of its own, which takes a hundredth of a processor at most; no operation waits for
    it. What it has learned is kept in the store's directory. If learning fails the store serves on with the
    policies that it has, and says so in `problem` and to the logger "rocktune.adaptive".
    """

    def __init__(
        self,
        path: Path | str,
        *,
        controller: Controller | None = None,
        mission_operations: int = 50_000,
        filters: Filters = "uniform",
        bits_per_key: float = 8.0,
        level0_runs: int = STEERED_LEVEL0_RUNS,
        sample_every: int = SAMPLE_EVERY,
        reshape_bytes_per_s: int = 8 << 20,
        options: OptionMaps | None = None,
        seed: int = 1,
        **layout: Any,
    ) -> None:
        """Creates a store, or opens the one that is there with what it has learned.

        Args:
            path: of the store's directory.
            controller: decides instead of Lerp; is called on the store's own thread.
            mission_operations: after how many operations policies may change.
            filters: see `FlsmStore`; with "monkey" the first two levels learn, else the first.
            bits_per_key: see `FlsmStore`.
            level0_runs: see `FlsmStore`, and `rocktune.online.flsm.layout.STEERED_LEVEL0_RUNS` for why 0.
            sample_every: see `FlsmStore`; at least 1, for what is not sampled cannot be learned from.
            reshape_bytes_per_s: see `FlsmStore`. Without it a policy would wait for writes to take effect.
            options: of RocksDB.
            seed: of what is random in learning.
            **layout: what else `FlsmStore` takes.

        Raises:
            UserError: see `FlsmStore`; nothing is sampled; or PyTorch is missing, which Lerp needs.
        """
        if sample_every < 1:
            raise UserError(
                "AdaptiveStore: sample_every 0 leaves nothing to learn from; leave it out, or give 1 or more"
            )
        self.problem = ""
        self._decisions: deque[LoggedDecision] = deque(maxlen=1000)
        self._missions = 0
        self._model = Path(path) / MODEL_NAME
        self._closing = threading.Lock()
        self._lerp = None
        if controller is None:
            require_torch("AdaptiveStore")
            # Here, because PyTorch takes seconds to import.
            from rocktune.online.control.lerp import Lerp

            controller = self._lerp = Lerp(filters, seed=seed)
        super().__init__(
            path,
            filters=filters,
            bits_per_key=bits_per_key,
            level0_runs=level0_runs,
            sample_every=sample_every,
            reshape_bytes_per_s=reshape_bytes_per_s,
            options=options,
            **layout,
        )
        self._controller: Controller | None = controller
        if self._lerp is not None:
            self._remember()
        # The pilot knows the store weakly, or nobody could lose the store without closing it.
        decide = weakref.WeakMethod(self._decide)
        self._pilot = _native.FlsmPilot(self._native, lambda told: _decided(decide, told), mission_operations)
        self._stop = weakref.finalize(self, self._pilot.stop)

    @property
    def missions(self) -> int:
        """Missions since the store was opened."""
        return self._missions

    @property
    def decisions(self) -> Sequence[LoggedDecision]:
        """The last thousand decisions that changed something, the oldest first."""
        return tuple(self._decisions)

    def close(self) -> None:
        """Closes it, after a decision that is being made, and keeps what was learned; may be repeated."""
        with self._closing:
            if self._stop.alive:
                self._stop()
                self._keep()
            super().close()

    def _decide(self, told: str) -> list[tuple[int, int]]:
        self._missions += 1
        if self._controller is None:
            return []
        document = json.loads(told)
        statistics = flsm_statistics_of(document["statistics"])
        shape = flsm_shape_of(document["shape"])
        try:
            mission = mission_of(statistics, shape, statistics.busy_ns / 1e9)
            decision = self._controller.decide(mission)
        except Exception as failure:
            # Whatever happens to a controller, the store serves on.
            self._controller = None
            self._has_problem(f"the controller has failed and is not asked again: {failure!r}")
            return []
        self._log(decision)
        if self._missions % _KEEP_EVERY == 0:
            self._keep()
        return list(decision.policies.items())

    def _log(self, decision: Decision) -> None:
        if decision.policies or decision.why:
            entry = LoggedDecision(self._missions, dict(decision.policies), decision.phase, decision.why)
            self._decisions.append(entry)
            _logger.info("mission %d: %s %s", entry.mission, entry.why, entry.policies)

    def _remember(self) -> None:
        from rocktune.online.control.checkpoint import restore

        assert self._lerp is not None
        if self._model.exists():
            try:
                restore(self._lerp, self._model)
            except (ValueError, OSError) as failure:
                self._has_problem(f"{self._model} is left aside, learning begins anew: {failure}")

    def _keep(self) -> None:
        if self._lerp is None:
            return
        from rocktune.online.control.checkpoint import keep

        try:
            keep(self._lerp, self._model)
        except OSError as failure:
            self._has_problem(f"{self._model}: what was learned cannot be kept: {failure.strerror}")

    def _has_problem(self, problem: str) -> None:
        self.problem = problem
        _logger.warning("%s", problem)


def _decided(decide: "weakref.WeakMethod[Any]", told: str) -> list[tuple[int, int]]:
    alive = decide()
    return [] if alive is None else alive(told)
