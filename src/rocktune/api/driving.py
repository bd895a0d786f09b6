"""Drives a store through a changing workload while a controller sets its policies."""

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
from rocktune.online.control import ChosenController, Controller, parse_controller
from rocktune.online.flsm import Filters
from rocktune.online.flsm.tradeoff_map import STOCK, shape_options
from rocktune.options_account import account_json
from rocktune.report import write_driven_report
from rocktune.space import CATALOGUE, merged_options, scaled_options
from rocktune.space.options import knob_values
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
        sessions: name ("ruskey-dynamic" by default), TOML file, or a workload for a single session.
        controller: "curve" (the default), "cost", "lerp", "greedy:LOW,HIGH", "static:K", or a preset such
            as "lazy-leveling". Only an FLSM store can have one.
        store: "flsm", or RocksDB's own "leveled" or "universal".
        device: name or file.
        scale: "1/S"; 1/128 by default.
        operations: operations of a mission, at full size.
        filters: how Bloom filters share their memory: "uniform" or "monkey".
        bits_per_key: mean bits of filters for each key.
        size_ratio: T.
        options: RocksDB options by name, as text, at full size; they override `options_file`.
        options_file: RocksDB OPTIONS file.
        column_family: column family of that file; needed if it has several.
        seed: seed of keys, values and the controller; 1 by default.
        out: directory of drive.html; None writes no report.
        observer: observer of phases and progress.

    Returns:
        A JSON object. `sessions`, `controller`, `store`, `device`, `scale`, `engine`. `seconds`: total on the
        model. `per_session`: a list of `workload`, `seconds`, `missions` and `converged_at_mission` (from 1
        within the session, None if the controller did not settle). `missions`: a list of the fields of
        `rocktune.online.DrivenMission`, with `policy` (K by level), `phase` and `why`.
        `learner_ms_per_mission`. `options_account`: see `rocktune.options_account`; None without an
        OPTIONS file. `report`: the path, if one was written.

    Raises:
        UserError: an argument is invalid, the store failed, or this machine lacks something that is needed.
    """
    if store not in STORES:
        raise unknown_name("store", store, STORES)
    if controller is not None and store in STOCK:
        raise UserError(
            f"controller: a {store} store has no policies for {controller!r} to set; leave it out, "
            "or use --store flsm"
        )
    # Not a default argument, because None also says that a stock store was asked for no controller.
    steering = "curve" if controller is None else controller
    chosen = parse_controller(steering, size_ratio)
    # Everything is read and checked before the engine opens, so that a slip costs no loading of data.
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
        raise UserError(
            f"operations: {operations} of a mission are too few for a 1/{request.scale} model; "
            f"use at least {request.scale}"
        )
    made = _made(chosen, filters, request) if store == "flsm" else None
    watching = observer or Observer()
    engine = EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        # No total: how long missions take depends on the policies that the controller will choose.
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
    """Returns the name of the shape that a controller starts with."""
    return policies if isinstance(policies, str) else str(policies[0])


def _made(chosen: ChosenController, filters: Filters, request: DriveRequest) -> Controller:
    """Returns the controller of an FLSM store with the request's options."""
    named = (CATALOGUE[name] for name in ("write_buffer_size", "min_write_buffer_number_to_merge"))
    # A model's flushes are as many times smaller as its write buffer is.
    buffer_bytes, buffers = knob_values(scaled_options(request.options, request.scale), named).values()
    (granularity,) = knob_values(request.options, (CATALOGUE["flsm_granularity"],)).values()
    return chosen.made(
        filters,
        request.seed,
        granularity="files" if granularity == "files" else "levels",
        flush_bytes=int(buffer_bytes) * int(buffers),
    )


class _Watcher:
    """A watcher that tells an observer the progress of a drive and its remaining time."""

    def __init__(self, observer: Observer, request: DriveRequest) -> None:
        self._observer = observer
        self._names = [workload.name for workload, _ in request.sessions]
        self._missions = request.missions
        self._begun = monotonic()

    def __call__(self, mission: DrivenMission, done: int) -> None:
        """Reports a mission, and a decision that settled on policies."""
        elapsed_s = monotonic() - self._begun
        # Missions take as long as the policies make them, so the time left can only be extrapolated.
        self._observer.estimated(elapsed_s / done * (self._missions - done))
        policies = " ".join(map(str, mission.policies))
        where = f"{self._names[mission.session]}, mission {done} of {self._missions}"
        shape = f", K {policies}" if policies else ""
        phase = f", {mission.decision.phase}" if mission.decision.phase else ""
        self._observer.progress(f"{where}, {mission.latency_us:.0f} µs{shape}{phase}", done, self._missions)
        if mission.decision.why and mission.decision.converged:
            self._observer.note(f"Mission {done}: {mission.decision.why}")


def _summary(done: Sequence[DrivenMission], names: Sequence[str]) -> dict[str, Any]:
    """Returns the sessions and missions of a drive as JSON."""
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
    """Returns the number, from 1, of the mission since which the controller has stayed settled.

    Returns:
        None if the controller was not settled in the last mission.
    """
    if not missions[-1].decision.converged:
        return None
    last_open = max(
        (number for number, mission in enumerate(missions, 1) if not mission.decision.converged), default=0
    )
    return last_open + 1


def _row(mission: DrivenMission) -> dict[str, Any]:
    """Returns the figures of one mission and its decision as JSON."""
    return {
        "session": mission.session,
        "seconds": mission.seconds,
        # JSON has no infinity; a mission in which no operation ended has no latency.
        "latency_us": mission.latency_us if math.isfinite(mission.latency_us) else None,
        "read_share": mission.read_share,
        "policy": list(mission.policies),
        "phase": mission.decision.phase,
        "why": mission.decision.why,
        "learner_ms": mission.learner_ms,
    }
