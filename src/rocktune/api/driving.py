"""Driving a store through a workload that changes, under a controller of its policies."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any

from rocktune.api.engines import own_options_file
from rocktune.api.options import options_by_section
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, RunFailed, default_data_directory
from rocktune.errors import UserError, unknown_name
from rocktune.online import DrivenMission, DriveRequest, load_sessions, run_drive
from rocktune.online.control import parse_controller
from rocktune.online.flsm import Filters
from rocktune.online.flsm.tradeoff_map import STOCK, shape_options
from rocktune.options_account import account_json
from rocktune.report import write_driven_report
from rocktune.space import merged_options
from rocktune.study import Observer
from rocktune.units import format_scale, parse_scale

REPORT_NAME = "drive.html"
STORES = ("flsm", *STOCK)


def drive(
    *,
    sessions: str | None = None,
    controller: str | None = None,
    store: str = "flsm",
    device: str,
    scale: str | None = None,
    operations: int = 50_000,
    filters: Filters = "uniform",
    bits_per_key: float = 8.0,
    size_ratio: int = 10,
    options: Mapping[str, str] | None = None,
    options_file: str | Path | None = None,
    column_family: str | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Drives a store through sessions, mission by mission, while a controller sets its policies.

    Args:
        sessions: a name ("ruskey-dynamic", the default), a TOML file, or a workload for a single session.
        controller: "lerp" (the default), "greedy:LOW,HIGH", "static:K", or a preset such as "lazy-leveling";
            only an FLSM store has policies for it to set.
        store: "flsm", or RocksDB's own "leveled" or "universal".
        device: a name or file.
        scale: "1/S"; 1/128 by default.
        operations: of a mission, at full size.
        filters: how they share out their memory: "uniform" or "monkey".
        bits_per_key: of filters, on average.
        size_ratio: T.
        options: RocksDB's options by name, as text, at full size.
        options_file: an OPTIONS file, under `options`.
        column_family: the family of that file; needed if it has several.
        seed: decides keys, values, and what is random in learning; 1 by default.
        out: a directory for drive.html; none is written without one.
        observer: is told what happens.

    Returns:
        A JSON object: `sessions`, `controller`, `store`, `device`, `scale`, `engine`; `seconds` in all, on
        the model; `per_session`, a list of `workload`, `seconds`, `missions` and `converged_at_mission`
        (counted from 1 within the session, None where it did not settle); `missions`, a list of the fields of
        `rocktune.online.DrivenMission` with `policy` (K by level), `phase` and `why`;
        `learner_ms_per_mission`; `options_account` (what became of the OPTIONS file's options; None without
        one); and `report` (the path) where there is one.

    Raises:
        UserError: something given is wrong, the store failed, or this machine lacks what it takes.
    """
    if store not in STORES:
        raise unknown_name("store", store, STORES)
    if controller is not None and store in STOCK:
        raise UserError(
            f"controller: a {store} store has no policies that {controller!r} could set; leave it out, "
            "or drive the flsm store"
        )
    steering = "lerp" if controller is None else controller
    chosen = parse_controller(steering, size_ratio)
    spec = load_sessions(sessions or "ruskey-dynamic")
    shape = store if store in STOCK else _shape_of(chosen.policies)
    own = own_options_file(options_file, column_family)
    request = DriveRequest(
        sessions=[
            (workload, session.missions)
            for workload, session in zip(spec.workloads(), spec.sessions, strict=True)
        ],
        device=load_device(device),
        scale=parse_scale(scale or "1/128"),
        operations=operations,
        options=merged_options(
            own.options if own else {},
            options_by_section(options or {}),
            shape_options(shape, filters, bits_per_key, size_ratio),
        ),
        seed=1 if seed is None else seed,
    )
    if operations < request.scale:
        raise UserError(f"operations: {operations} of a mission are none on a 1/{request.scale} model")
    made = chosen.made(filters, request.seed) if store == "flsm" else None
    watching = observer or Observer()
    engine = EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        watching.phase_started("drive", None)
        try:
            done = run_drive(engine, request, made, _Watcher(watching, request))
        except RunFailed as failed:
            raise UserError(f"drive: {failed.message}") from None
        version = engine.version
    found = {
        "sessions": spec.name,
        "controller": steering if store == "flsm" else store,
        "store": store,
        "device": request.device.name,
        "scale": format_scale(request.scale),
        "engine": version,
        "options_account": account_json(own.account if own else None),
        **_summary(done, [workload.name for workload, _ in request.sessions]),
    }
    if out is not None:
        found["report"] = Path(out) / REPORT_NAME
        write_driven_report(found["report"], found)
    return found


def _shape_of(policies: str | Sequence[int]) -> str:
    return policies if isinstance(policies, str) else str(policies[0])


class _Watcher:
    """Tells an observer of missions: where the drive is, and how long it will go on."""

    def __init__(self, observer: Observer, request: DriveRequest) -> None:
        self._observer = observer
        self._names = [workload.name for workload, _ in request.sessions]
        self._missions = request.missions
        self._begun = monotonic()

    def __call__(self, mission: DrivenMission, done: int) -> None:
        elapsed_s = monotonic() - self._begun
        self._observer.estimated(elapsed_s / done * (self._missions - done))
        policies = " ".join(map(str, mission.policies))
        where = f"{self._names[mission.session]}, mission {done} of {self._missions}"
        shape = f", K {policies}" if policies else ""
        phase = f", {mission.decision.phase}" if mission.decision.phase else ""
        self._observer.progress(f"{where}, {mission.latency_us:.0f} µs{shape}{phase}", done, self._missions)
        if mission.decision.why and mission.decision.converged:
            self._observer.note(f"Mission {done}: {mission.decision.why}")


def _summary(done: Sequence[DrivenMission], names: Sequence[str]) -> dict[str, Any]:
    per_session = []
    for session, group in groupby(done, key=lambda mission: mission.session):
        missions = list(group)
        per_session.append(
            {
                "workload": names[session],
                "seconds": sum(mission.seconds for mission in missions),
                "missions": len(missions),
                "converged_at_mission": converged_at(missions),
            }
        )
    return {
        "seconds": sum(mission.seconds for mission in done),
        "per_session": per_session,
        "learner_ms_per_mission": sum(mission.learner_ms for mission in done) / len(done),
        "missions": [_row(mission) for mission in done],
    }


def converged_at(missions: Sequence[DrivenMission]) -> int | None:
    """Returns after which mission, from 1, a controller had settled for the rest; None where it had not."""
    if not missions[-1].decision.converged:
        return None
    last_open = max(
        (number for number, mission in enumerate(missions, 1) if not mission.decision.converged), default=0
    )
    return last_open + 1


def _row(mission: DrivenMission) -> dict[str, Any]:
    return {
        "session": mission.session,
        "seconds": mission.seconds,
        "latency_us": mission.latency_us if math.isfinite(mission.latency_us) else None,
        "read_share": mission.read_share,
        "policy": list(mission.policies),
        "phase": mission.decision.phase,
        "why": mission.decision.why,
        "learner_ms": mission.learner_ms,
    }
