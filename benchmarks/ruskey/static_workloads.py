"""Figures 6, 8, 11 and 13: how far the learned policy is from the best, and what learning costs."""

import numpy as np

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.flsm.shared import Where, decided_at
from benchmarks.ruskey.driver import FLAGS, driver_of, setting_of
from benchmarks.ruskey.shared import (
    LEARNED,
    POLICIES,
    Drives,
    best_of,
    driven_turns,
    latency_us,
    settled,
)
from rocktune.online import DrivenMission
from rocktune.workload import WorkloadSpec, load_workload
from rocktune.workload.distributions import KeyChooserSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

PAPER_MISSIONS = {"ruskey-write-heavy": 300, "ruskey-balanced": 600, "ruskey-read-heavy": 300}
"""Until it had converged."""
LAZY_LEVELING = "lazy-leveling"
SKEW = 0.99
MOST = 1.05
PAPER_UPDATE_MS = {"ruskey-balanced": 19}
"""Milliseconds of an update of the model with uniform filters."""
MAX_UPDATE_SHARE = 0.01

AllDrives = dict[str, Drives]
"""By workload."""


def static_workloads(settings: Settings) -> list[Claim]:
    """Drives each policy and Lerp; `--filters` and `--keys` (uniform, or zipfian with scans) set how.

    `--costs FILE` uses a modelled store of the paper's size; `--repeats 0` only evaluates the turns in
    `--out`.
    """
    setting = setting_of(settings, "monkey" if settings.extra["filters"] == "monkey" else "uniform")
    missions = 6 if settings.quick else int(settings.extra["missions"])
    controllers = ("static:1", "static:10") if settings.quick else (*POLICIES, LAZY_LEVELING, LEARNED)
    workloads = {workload.name: workload for workload in _workloads(settings)}
    # One controller after the other, whose preloaded store then serves all workloads.
    names = {f"{workload} {each}": (workload, each) for each in controllers for workload in workloads}
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    with driver_of(settings, setting) as driver:

        def drive(name: str, seed: int) -> list[DrivenMission]:
            workload, controller = names[name]
            return driver.drive(controller, [(workloads[workload], missions)], seed)

        turns = driven_turns(settings, repeats, list(names), drive)
        where = driver.where
    drives: AllDrives = {workload: {} for workload in workloads}
    for name, (workload, controller) in names.items():
        drives[workload][controller] = [turn[name] for turn in turns]
    _write(settings, drives)
    if settings.quick:
        return [_latency(drives, "ruskey-balanced", "static:1", where)]
    return [
        claim
        for workload in drives
        for claim in (
            _near_the_best(drives, workload, where),
            _convergence(drives, workload, where),
            _lazy_leveling(drives, workload, where),
            *_updates(drives, workload, settings.scale, where),
            *(_latency(drives, workload, controller, where) for controller in controllers),
        )
    ]


def _workloads(settings: Settings) -> list[WorkloadSpec]:
    """Returns RusKey's workloads, or YCSB's zipfian keys with the same mixes and half scans."""
    uniform = [load_workload(name) for name in (("ruskey-balanced",) if settings.quick else PAPER_MISSIONS)]
    if settings.extra["keys"] == "uniform":
        return uniform
    chooser = KeyChooserSpec(kind="scrambled_zipfian", skew=SKEW)
    zipfian = [each.model_copy(update={"key_chooser": chooser}) for each in uniform]
    half_ranges = SessionSpec(mix=MixSpec(scan=0.5, put=0.5))
    ranges = {"name": "ruskey-ranges", "sessions": (half_ranges,), "key_chooser": chooser}
    return [*zipfian, uniform[0].model_copy(update=ranges)]


def _after(drives: AllDrives, workload: str, controller: str) -> list[float]:
    """Returns the latencies of every controller in the missions after Lerp has settled."""
    found = []
    for turn, missions in enumerate(drives[workload][controller]):
        reference = drives[workload].get(LEARNED)
        count = len(settled(reference[turn])) if reference else len(missions)
        found.append(latency_us(missions[-count:]))
    return found


def _near_the_best(drives: AllDrives, workload: str, where: Where) -> Claim:
    latencies = {controller: _after(drives, workload, controller) for controller in drives[workload]}
    best = best_of(latencies, POLICIES)
    ratios = [own / other for own, other in zip(latencies[LEARNED], latencies[best], strict=True)]
    return decided_at(
        f"{workload}_lerp_over_the_best",
        "RusKey, section 7",
        f"ratio of latency after settling to that of {best}, the best of all levels alike",
        ratio_interval(ratios),
        high=MOST,
        paper="near-optimal",
        where=where,
    )


def _lazy_leveling(drives: AllDrives, workload: str, where: Where) -> Claim:
    own, theirs = (_after(drives, workload, controller) for controller in (LEARNED, LAZY_LEVELING))
    return reported(
        f"{workload}_lazy_leveling_over_lerp",
        "RusKey, figure 9, of Monkey's filters",
        "ratio of latency after settling",
        ratio_interval([other / learned for other, learned in zip(theirs, own, strict=True)]),
        engine=where.engine,
        device=where.device,
    )


def _convergence(drives: AllDrives, workload: str, where: Where) -> Claim:
    missions = [float(len(done) - len(settled(done))) for done in drives[workload][LEARNED]]
    return reported(
        f"{workload}_missions_to_settle",
        "RusKey, section 7",
        "missions; 100 are aimed at",
        mean_interval(missions),
        PAPER_MISSIONS.get(workload),
        engine=where.engine,
        device=where.device,
    )


def _updates(drives: AllDrives, workload: str, scale: int, where: Where) -> list[Claim]:
    """Returns how long updates of the model take until it has settled, alone and as a share of missions."""
    learning = []
    for missions in drives[workload][LEARNED]:
        own = missions[: len(missions) - len(settled(missions))] or missions
        # A mission of the model has 1/scale of the operations.
        seconds = float(np.mean([mission.seconds for mission in own])) * scale
        learning.append((float(np.mean([mission.learner_ms for mission in own])), seconds))
    conditions = {"engine": where.engine, "device": where.device}
    share = reported(
        f"{workload}_update_share",
        "RusKey, figure 13",
        "time of an update of the model over that of a mission of full size",
        mean_interval([milliseconds / 1e3 / seconds for milliseconds, seconds in learning]),
        **conditions,
    )
    return [
        reported(
            f"{workload}_update_ms",
            "RusKey, figure 13",
            "ms for an update of the model",
            mean_interval([milliseconds for milliseconds, _ in learning]),
            PAPER_UPDATE_MS.get(workload),
            **conditions,
        ),
        decided(share, high=MAX_UPDATE_SHARE),
    ]


def _latency(drives: AllDrives, workload: str, controller: str, where: Where) -> Claim:
    return reported(
        f"{workload}_{controller}_latency",
        "RusKey, figures 6 and 8",
        "us an operation, in the missions after Lerp has settled",
        mean_interval(_after(drives, workload, controller)),
        engine=where.engine,
        device=where.device,
    )


def _write(settings: Settings, drives: AllDrives) -> None:
    if settings.out is None:
        return
    panels = []
    for workload, each in drives.items():
        traces = []
        for controller, turns in each.items():
            median = np.median([[mission.latency_us for mission in missions] for missions in turns], axis=0)
            smooth = np.convolve(median, np.ones(9) / 9, mode="valid")
            traces.append(lines(controller, list(range(5, 5 + len(smooth))), smooth.tolist()))
        panels.append(Panel(workload, "mission", "us an operation, mean of 9 missions", traces))
    write_figure(settings, "Policies that stay, and Lerp", panels)


if __name__ == "__main__":
    main(
        "ruskey.static_workloads",
        static_workloads,
        scale=128,
        quick_scale=2048,
        extra=FLAGS | {"filters": "uniform", "keys": "uniform", "missions": 400, "repeats": 3},
    )
