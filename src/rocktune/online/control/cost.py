"""The native cost controller (`cpp/include/rocktune/cost_controller.h`) as a controller of drives."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.control.base import Decision
from rocktune.online.control.mission import Mission, Served
from rocktune.online.flsm.shape import FlsmShape


@dataclass(frozen=True)
class CostDecision:
    """An entry of the controller's log.

    Attributes:
        mission: number of the mission after which it was made, from 1.
        what: "change"; "probe", a change whose gain is within its uncertainty; "workload", if another one
            has begun; or "settled".
        changes: new K by level.
        why: reason, in a sentence.
        predicted_s: predicted seconds of a mean operation until the next decision, at most 8 missions.
        observed_s: mean seconds of an operation in these missions so far.
        observed_missions: number of missions observed, from 0 to 8.
    """

    mission: int
    what: str
    changes: Mapping[int, int]
    why: str
    predicted_s: float
    observed_s: float
    observed_missions: int


class CostBased:
    """A controller that chooses each level's policy by its predicted cost; see the C++ class CostController.

    Needs missions with a shape.
    """

    def __init__(self, *, flush_bytes: int = 0, missions: float = 1000, half_after: float = 200) -> None:
        """Creates a controller that knows no prices yet.

        Args:
            flush_bytes: bytes of a flush; 0 for a T-th of level 1's capacity.
            missions: horizon of predictions, in missions.
            half_after: number of missions after which a mission's cost counts half.
        """
        self._native = _native.CostController(flush_bytes, missions, half_after)
        self._missions = 0

    @property
    def log(self) -> tuple[CostDecision, ...]:
        """The last 1,000 decisions, oldest first."""
        return tuple(_decision(entry) for entry in json.loads(self._native.save())["log"])

    def decide(self, mission: Mission) -> Decision:
        """Returns the policy changes after a mission; see `Controller.decide`."""
        if mission.shape is None:
            raise UserError("cost controller: the mission has no shape; use missions of a store")
        self._missions += 1
        changes = dict(self._native.decide(json.dumps(_document(mission, mission.shape, self._missions))))
        settled = self._native.is_settled()
        why = self.log[-1].why if changes else ""
        return Decision(changes, why, "converged" if settled else "estimating", converged=settled)


def _decision(entry: Mapping[str, Any]) -> CostDecision:
    """Returns an entry of the native log."""
    return CostDecision(
        mission=entry["mission"],
        what=entry["what"],
        changes=dict(entry["changes"]),
        why=entry["why"],
        predicted_s=entry["predicted_ns"] / 1e9,
        observed_s=entry["observed_ns"] / 1e9,
        observed_missions=entry["observed_missions"],
    )


def _document(mission: Mission, shape: FlsmShape, number: int) -> dict[str, Any]:
    """Returns a mission as the extension takes it. Level 1 includes RocksDB's own level 0."""
    levels = [
        {
            "passed": level.passed,
            "read_ns": level.read_s * 1e9,
            "false_positive_read_ns": level.false_positive_read_s * 1e9,
            "scanned": level.scanned,
            "compaction_written_bytes": level.compaction_bytes,
        }
        for level in mission.levels
    ]
    statistics = {
        "lookups": mission.lookups,
        "iterators": mission.scans,
        "entries_written": mission.writes,
        "flushed_bytes": mission.flushed_bytes,
        "busy_ns": mission.busy_s * 1e9,
        "quiet": _served(mission.quiet),
        "merging": _served(mission.merging),
        "levels": [{}, *levels],
    }
    return {"number": number, "statistics": statistics, "shape": _shape(shape)}


def _served(served: Served) -> dict[str, float]:
    return {
        "operations": served.operations,
        "busy_ns": served.busy_s * 1e9,
        "passed": served.passed,
        "read_ns": served.read_s * 1e9,
        "scanned": served.scanned,
    }


def _shape(shape: FlsmShape) -> dict[str, Any]:
    levels = [
        {
            "policy": level.policy,
            "capacity_bytes": level.capacity_bytes,
            "runs": [
                {"bytes": held, "sealed": sealed}
                for held, sealed in zip(level.run_bytes, level.sealed, strict=True)
            ],
        }
        for level in shape.levels
    ]
    return {
        "size_ratio": shape.size_ratio,
        "max_level0_files": shape.max_level0_files,
        "level0_files": shape.level0_files,
        "level0_bytes": shape.level0_bytes,
        "levels": levels,
    }
