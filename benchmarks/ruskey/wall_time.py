"""Beyond the paper: the cost controller against tuned rivals on a store, by wall time on a limited device.

`priced_sessions` decides by counted work; this confirms it. The rivals are the best of its sweeps and its
best static policy, on the same stores. A ratio of 1.2 matters. Log ratios of turns are known to spread by
0.05, those of universal compaction by 0.2. So three turns decide 1.4 over leveled compaction, and universal's
ratio only if it is 2 or more. A turn takes some ten minutes, in which nothing else may run.
"""

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.ruskey.driver import SIZE_RATIO, Driver, Setting
from benchmarks.ruskey.priced_sessions import COST, LEVEL0_RUNS, MIN_OF_TUNED, MIN_TURNS, request_of
from benchmarks.ruskey.shared import Drives, driven_turns
from rocktune.online import DrivenMission, run_drive
from rocktune.online.control import parse_controller

SOURCE = "the cost controller on a store"
TUNED = {"leveled:8": "tuned_leveled", "universal:20": "tuned_universal"}
"""RocksDB's styles, each with the best number of tables of `priced_sessions`."""
BEST_STATIC = "static:10"


def wall_time(settings: Settings) -> list[Claim]:
    """Drives each store through the paper's five sessions of `--missions` on `--device`, `--repeats` times.

    With `--out` each drive is recorded and is not made again. `--repeats 0` evaluates what is there.
    """
    names = (COST, *TUNED, BEST_STATIC)
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    with embedded_engine() as engine:
        device = str(settings.extra["device"])
        setting = Setting(device, "monkey", 8.0, True, 100_000, level0_runs=LEVEL0_RUNS)
        driver = Driver(settings, setting, engine)
        turns = driven_turns(settings, repeats, names, lambda name, seed: _drive(driver, name, seed))
        where = driver.where
    drives: Drives = {name: [turn[name] for turn in turns] for name in names}
    seconds = {name: [sum(each.seconds for each in drive) for drive in drives[name]] for name in names}
    claims = [
        reported(f"{name}_seconds", SOURCE, "s for all sessions", mean_interval(seconds[name]),
                 engine=where.engine, device=where.device)
        for name in names
    ]  # fmt: skip
    for name in names[1:]:
        ratios = [theirs / own for theirs, own in zip(seconds[name], seconds[COST], strict=True)]
        title = f"{TUNED.get(name, name)}_over_cost_controller"
        claim = reported(title, SOURCE, "ratio of total time", ratio_interval(ratios),
                         engine=where.engine, device=where.device)  # fmt: skip
        claims.append(decided(claim, low=MIN_OF_TUNED if name in TUNED else 1.0))
    return claims


def _drive(driver: Driver, name: str, seed: int) -> list[DrivenMission]:
    assert driver.engine is not None
    request, made = request_of(driver, name, seed), None
    if "flsm" in request.options:
        made = parse_controller(name, SIZE_RATIO).made(driver.setting.filters, seed)
    with processors_awake():
        return run_drive(driver.engine, request, made)


if __name__ == "__main__":
    main(
        "ruskey.wall_time",
        wall_time,
        scale=128,
        quick_scale=2048,
        extra={"device": "cloud-gp3", "missions": 200, "repeats": MIN_TURNS},
    )
