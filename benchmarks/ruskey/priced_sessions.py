"""Beyond the paper: the cost controller on a store, against tuned rivals of equal memory, by counted work.

The cost of an operation is the time for which its I/O occupies a device, plus CPU time. Both are counted, so
that they barely depend on what else the machine does. The device's limits are not applied: they only price.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import stats

from benchmarks.common.claims import (
    Claim,
    Settings,
    decided,
    main,
    mean_interval,
    ratio_interval,
    reported,
)
from benchmarks.common.flags import check_flags
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.flsm.shared import SIZE_RATIO, Where, buffer_at
from benchmarks.ruskey.counted import SessionWork, prices_of, sessions_of
from benchmarks.ruskey.driver import RIVALS, Driver, Setting, is_stock
from benchmarks.ruskey.dynamic import GREEDY, SESSION_NAMES
from benchmarks.ruskey.priced import Priced
from benchmarks.ruskey.shared import POLICIES
from rocktune.device import DeviceSpec, load_device
from rocktune.errors import UserError
from rocktune.online import DrivenMission, DriveRequest, run_drive
from rocktune.online.control import parse_controller
from rocktune.space import merged_options
from rocktune.trial import OptionMaps

DEVICES = ("cloud-gp3", "ssd-200mb")
COST = "cost"
DYNAMIC = "dynamic"
"""Leveled with dynamic level sizes, RocksDB's default since 8.4."""
TUNED = {
    "tuned_leveled": (*(each for each in RIVALS if each.startswith("leveled")), f"{DYNAMIC}:4"),
    "tuned_universal": tuple(each for each in RIVALS if each.startswith("universal")),
}
"""RocksDB's styles, each with its sweep."""
SOURCE = "the cost controller on a store"
MIN_OF_TUNED = 1.2
LEVEL0_RUNS = 10
"""Flushed files that may wait in level 0, by default 10. Rivals have as many as their trigger says."""
SPREAD = 0.05
"""Known spread of a turn's log ratios, of times; counted work spreads less."""
MIN_TURNS = 3

Turn = dict[str, list[SessionWork]]
"""The sessions of each drive, by its name."""


def priced_sessions(settings: Settings) -> list[Claim]:
    """Drives each store through the paper's five sessions of `--missions`, `--repeats` times.

    With `--out` each drive is appended to `sessions.csv` and is not made again. `--repeats 0` evaluates what
    is there.
    """
    names = _names(settings.quick)
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    settings.say(f"{turns_for(math.log(1.3 / MIN_OF_TUNED))} turns decide a ratio of 1.3 against 1.2")
    with embedded_engine() as engine:
        absent = settings.extra["absent"] == "yes"
        setting = Setting("none", "monkey", 8.0, absent, 100_000, level0_runs=LEVEL0_RUNS)
        turns = driven(settings, repeats, names, Driver(settings, setting, engine))
        version = f"{engine.version}, work counted and priced"
    devices = [load_device(device) for device in (DEVICES[:1] if settings.quick else DEVICES)]
    return [claim for device in devices for claim in _claims(turns, names, device, version)]


def turns_for(margin: float, spread: float = SPREAD) -> int:
    """Returns the number of turns whose 95% interval of a log ratio has half the width `margin` or less."""
    turns = MIN_TURNS
    while stats.t.ppf(0.975, turns - 1) * spread / math.sqrt(turns) > margin:
        turns += 1
    return turns


def driven(settings: Settings, repeats: int, names: Sequence[str], driver: Driver) -> list[Turn]:
    """Returns `repeats` whole turns, and whole turns of other seeds that are in `--out`.

    Raises:
        UserError: no turn is whole, or those in the directory were made with other flags.
    """
    table = None if settings.out is None else settings.out / "sessions.csv"
    turns: dict[int, Turn] = {}
    check_flags(settings)
    for each in read_rows(table, record_of(SessionWork)):
        turns.setdefault(each.seed, {}).setdefault(each.drive, []).append(each)
    for seed in range(settings.seed, settings.seed + repeats):
        turn = turns.setdefault(seed, {})
        for name in names:
            if name not in turn:
                turn[name] = sessions_of(seed, name, _drive(driver, name, seed, turn))
                cpu_s = sum(each.cpu_s for each in turn[name])
                settings.say(f"seed {seed}, {name}: {cpu_s:.1f} s of CPU")
                append_rows(table, turn[name])
    whole = [turn for _, turn in sorted(turns.items()) if set(names) <= set(turn)]
    if not whole:
        raise UserError(f"--repeats 0: no turn in {settings.out} has all drives; give 1 or more")
    return whole


def _names(quick: bool) -> tuple[str, ...]:
    if quick:
        return ("static:1", "static:10", _own(DEVICES[0]), "leveled:4", f"{DYNAMIC}:4", "universal:4")
    rivals = [name for names in TUNED.values() for name in names]
    # Static policies first: the controller's prices are those that their work shows.
    return (*POLICIES, *map(_own, DEVICES), *rivals, *GREEDY)


def _own(device: str) -> str:
    return f"{COST}@{device}"


def request_of(driver: Driver, controller: str, seed: int) -> DriveRequest:
    """Returns the drive of a store with a controller, or of a rival, through `--missions` of each session."""
    missions = 3 if driver.settings.quick else int(driver.settings.extra["missions"])
    sessions = [(workload, missions) for workload in SESSION_NAMES]
    base = controller.replace(DYNAMIC, "leveled")
    request = driver.request(base, sessions, seed)
    if not is_stock(base):
        return request
    options = merged_options(request.options, _leveled(controller, driver.settings.scale))
    return replace(request, options=options)


def _drive(driver: Driver, name: str, seed: int, turn: Turn) -> list[DrivenMission]:
    assert driver.engine is not None
    controller, _, device = name.partition("@")
    request = request_of(driver, controller, seed)
    if "flsm" not in request.options:
        return run_drive(driver.engine, request, None)
    made = parse_controller(controller, SIZE_RATIO).made(driver.setting.filters, seed)
    if controller == COST:
        static = [each for kind in turn if kind in POLICIES for each in turn[kind]]
        made = Priced(made, prices_of(static, load_device(device)), driver.setting.absent)
    return run_drive(driver.engine, request, made)


def _leveled(controller: str, scale: int) -> OptionMaps:
    """Returns options that make level 1 as large as the FLSM store's."""
    level1_bytes = SIZE_RATIO * int(buffer_at(scale)["cf"]["write_buffer_size"])
    return {
        "cf": {
            "max_bytes_for_level_base": str(level1_bytes),
            "level_compaction_dynamic_level_bytes": str(controller.startswith(DYNAMIC)).lower(),
        }
    }


def _claims(turns: list[Turn], names: Sequence[str], device: DeviceSpec, version: str) -> list[Claim]:
    """Returns the claims that hold for one device's prices."""
    own = _own(device.name)
    where = Where(version, device.name)
    total = partial(_totals, turns, device)
    report = partial(reported, engine=where.engine, device=where.device)

    def over_own(name: str, claimed: str = "") -> Claim:
        ratios = [theirs / ours for theirs, ours in zip(total(name), total(own), strict=True)]
        title = f"{claimed or name}_over_cost_controller_{device.name}"
        return report(title, SOURCE, "ratio of total cost", ratio_interval(ratios))

    claims = [
        report(
            f"{name}_cost_{device.name}",
            SOURCE,
            "s of device and processor for a million operations",
            mean_interval(total(name)),
        )
        for name in names
        if "@" not in name or name == own
    ]
    for claimed, swept in TUNED.items():
        # The least cost over all turns, chosen in hindsight.
        best = min(set(swept) & set(names), key=lambda name: sum(total(name)))
        why = f"the best of the sweep is {best}"
        claims.append(decided(over_own(best, claimed), low=MIN_OF_TUNED, why=why))
        claims.append(_memory(turns, best, claimed, own, report))
        claims.append(_device_part(turns, set(swept) & set(names), claimed, device, report))
    fixed = [name for name in names if name.startswith(("static", "greedy"))]
    claims += [decided(over_own(name), low=1.0) for name in fixed]
    return [*claims, _settling(turns, own, report)]


def _totals(turns: list[Turn], device: DeviceSpec, name: str) -> list[float]:
    return [float(np.mean([each.cost_s(device) for each in turn[name]])) for turn in turns]


def _memory(turns: list[Turn], rival: str, claimed: str, own: str, report: partial[Claim]) -> Claim:
    ratios = [
        float(np.mean([each.memory_bytes for each in turn[rival]]))
        / float(np.mean([each.memory_bytes for each in turn[own]]))
        for turn in turns
    ]
    device = own.partition("@")[2]
    return report(
        f"memory_of_{claimed}_over_cost_controller_{device}",
        SOURCE,
        "ratio of memtables, cache and table readers",
        ratio_interval(ratios),
    )


def _device_part(
    turns: list[Turn], swept: Collection[str], claimed: str, device: DeviceSpec, report: partial[Claim]
) -> Claim:
    """Returns the ratio of the device's seconds alone, to the drive of a sweep that has the fewest.

    Processor seconds hold costs per file, which weigh more on small models.
    """

    def seconds(name: str) -> list[float]:
        return [float(np.mean([each.device_cost_s(device) for each in turn[name]])) for turn in turns]

    best = min(sorted(swept), key=lambda name: sum(seconds(name)))
    ratios = [theirs / ours for theirs, ours in zip(seconds(best), seconds(_own(device.name)), strict=True)]
    name = f"device_part_of_{claimed}_over_cost_controller_{device.name}"
    return report(name, SOURCE, f"ratio of device seconds, {best}", ratio_interval(ratios))


def _settling(turns: list[Turn], own: str, report: partial[Claim]) -> Claim:
    medians = [float(np.median([each.settled_after for each in turn[own]])) for turn in turns]
    name = f"{own.replace('@', '_')}_settles_after"
    return report(name, SOURCE, "missions of a session, median of its sessions", mean_interval(medians))


if __name__ == "__main__":
    main(
        "ruskey.priced_sessions",
        priced_sessions,
        scale=128,
        quick_scale=2048,
        extra={"missions": 200, "repeats": MIN_TURNS, "absent": "yes"},
    )
