"""A key-value store that tunes its own shape while it serves (RusKey, section 3)."""

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
from rocktune.online.control import Controller, Curve, Decision, mission_of
from rocktune.online.control.checkpoint import keep, restore
from rocktune.online.control.levelwise import Levelwise
from rocktune.online.flsm.layout import LEVELWISE_LEVEL0_RUNS, SAMPLE_EVERY, Filters
from rocktune.online.flsm.shape import flsm_shape_of
from rocktune.online.flsm.statistics import flsm_statistics_of
from rocktune.online.flsm.store import FlsmStore
from rocktune.trial import OptionMaps

# Missions between saves: a crash loses at most what was learned in these.
_KEEP_EVERY = 100
_logger = logging.getLogger("rocktune.adaptive")


@dataclass(frozen=True)
class LoggedDecision:
    """An entry of the decision log.

    Attributes:
        mission: number of the mission after which it was made, from 1 since the store was opened.
        policies: new K by level, for the levels that change.
        phase: the controller's phase, such as "level 1" or "converged".
        why: reason, in a sentence.
    """

    mission: int
    policies: dict[int, int]
    phase: str
    why: str


class AdaptiveStore(FlsmStore):
    """An `FlsmStore` that adapts its policies to the workload. It needs no settings.

        with AdaptiveStore("data") as store:
            store.put(b"key", b"value")

    It learns on its own thread, which uses at most a hundredth of a processor; no operation waits for it. The
    learned state is kept in the store's directory. If learning fails, the store keeps serving with its
    present policies, sets `problem`, and warns through the logger "rocktune.adaptive".
    """

    def __init__(
        self,
        path: Path | str,
        *,
        controller: Controller | None = None,
        mission_operations: int = 50_000,
        filters: Filters = "uniform",
        bits_per_key: float = 8.0,
        level0_runs: int = LEVELWISE_LEVEL0_RUNS,
        sample_every: int = SAMPLE_EVERY,
        reshape_bytes_per_s: int = 8 << 20,
        options: OptionMaps | None = None,
        **layout: Any,
    ) -> None:
        """Creates a store, or opens an existing one with what it has learned.

        Args:
            path: the store's directory.
            controller: controller to use instead of `Curve`, for example `Lerp` of
                `rocktune.online.control.lerp`; called on the store's learning thread.
            mission_operations: number of operations between two decisions.
            filters: see `FlsmStore`. With "monkey" the first two levels learn, else only the first.
            bits_per_key: see `FlsmStore`.
            level0_runs: see `FlsmStore`; `rocktune.online.flsm.layout.LEVELWISE_LEVEL0_RUNS` explains the
                default of 0.
            sample_every: see `FlsmStore`. At least 1, because learning needs samples.
            reshape_bytes_per_s: see `FlsmStore`. With 0 a new policy takes effect only as writes arrive.
            options: RocksDB options by section.
            **layout: further arguments of `FlsmStore`. Column families in `families` keep their policies; the
                store learns those of the default family.

        Raises:
            UserError: `sample_every` is below 1, or a reason of `FlsmStore`.
        """
        if sample_every < 1:
            raise UserError(
                "AdaptiveStore: sample_every must be at least 1, because the store learns from samples"
            )
        self.problem = ""
        self._decisions: deque[LoggedDecision] = deque(maxlen=1000)
        self._missions = 0
        self._closing = threading.Lock()
        if controller is None:
            controller = Curve(filters)
        self._kept = None
        if isinstance(controller, Levelwise):
            self._kept = controller, Path(path) / f"{controller.name}.npz"
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
        self._remember()
        # The pilot's thread must not keep the store alive: a store that is dropped without close() would
        # never be collected and would hold its lock.
        decide = weakref.WeakMethod(self._decide)
        self._pilot = _native.FlsmPilot(
            self._native, lambda document: _decided(decide, document), mission_operations
        )
        self._stop = weakref.finalize(self, self._pilot.stop)

    @property
    def missions(self) -> int:
        """Number of missions since the store was opened."""
        return self._missions

    @property
    def decisions(self) -> Sequence[LoggedDecision]:
        """The last 1,000 decisions that changed a policy or gave a reason, oldest first."""
        return tuple(self._decisions)

    def close(self) -> None:
        """Closes the store after any decision in progress and saves the learned state. Idempotent."""
        with self._closing:
            # The pilot must stop before the store closes, because it reads the store's statistics.
            if self._stop.alive:
                self._stop()
                self._keep()
            super().close()

    def _decide(self, document_text: str) -> list[tuple[int, int]]:
        """Returns level and K of each policy to change. Called on the pilot's thread after each mission."""
        self._missions += 1
        # The pilot keeps calling; its missions are still counted.
        if self._controller is None:
            return []
        document = json.loads(document_text)
        statistics = flsm_statistics_of(document["statistics"])
        shape = flsm_shape_of(document["shape"])
        try:
            mission = mission_of(statistics, shape, statistics.busy_ns / 1e9)
            decision = self._controller.decide(mission)
        except Exception as failure:
            # A fault of a controller must not end the thread of a store in production.
            self._controller = None
            self._has_problem(f"the controller failed and is off until the store is reopened: {failure!r}")
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
        """Restores what an earlier store learned, or notes the problem and starts without it."""
        if self._kept is None or not self._kept[1].exists():
            return
        try:
            restore(*self._kept)
        except (ValueError, OSError) as failure:
            self._has_problem(f"{self._kept[1]}: not usable, learning starts from the beginning: {failure}")

    def _keep(self) -> None:
        """Saves the learned state, or notes the problem."""
        if self._kept is None:
            return
        try:
            keep(*self._kept)
        except OSError as failure:
            self._has_problem(f"{self._kept[1]}: the learned state cannot be written: {failure.strerror}")

    def _has_problem(self, problem: str) -> None:
        self.problem = problem
        _logger.warning("%s", problem)


def _decided(decide: "weakref.WeakMethod[Any]", document_text: str) -> list[tuple[int, int]]:
    """Returns the decision of a store that still exists, and nothing for a collected one."""
    alive = decide()
    return [] if alive is None else alive(document_text)
