"""Finds the bandwidth at which plain RocksDB accepts as much as in the thesis: 62 MB/s of the wave.

The thesis had a drive of 430 MB/s, but the log and the reads of compactions went through 16 GB of page cache.
Here all of it reaches the device, so a faster one is needed.
"""

from dataclasses import replace

from benchmarks.common.claims import Claim, Settings, exactly, main, mean_interval
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    DEVICE_BYTES_S,
    DISABLED,
    ENABLED,
    SCALE,
    WAVE_S,
    figures,
    interleaved,
    load_of,
    reported_of,
)

ACCEPTED_MB_S = 62.0
DISABLED_MB_S = 116.0
_STEPS = 5


def calibration(settings: Settings) -> list[Claim]:
    """Halves a range of bandwidths five times, and measures accepted writes with and without compactions."""
    repeats, steps = (1, 1) if settings.quick else (int(settings.extra["repeats"]), _STEPS)
    low_mb_s, high_mb_s = 300.0, 900.0
    rows = []
    with processors_awake(), embedded_engine() as engine:
        for step in range(steps + 1):
            # The first step is the thesis' drive.
            tried_mb_s = DEVICE_BYTES_S / 1e6 if step == 0 else (low_mb_s + high_mb_s) / 2
            tried = replace(settings, extra=settings.extra | {"device_mb_s": tried_mb_s})
            load = {ENABLED.name: load_of(tried, ENABLED, WAVE_S, read_s=0.0)}
            accepted = figures(interleaved(settings, engine, load, 2), "ingest_mb_s")[ENABLED.name]
            mean_mb_s = sum(accepted) / len(accepted)
            rows.append({"device_mb_s": tried_mb_s, "accepted_mb_s": mean_mb_s})
            settings.say(f"a drive of {tried_mb_s:.0f} MB/s accepts {mean_mb_s:.1f} MB/s")
            if mean_mb_s > ACCEPTED_MB_S:
                high_mb_s = tried_mb_s
            else:
                low_mb_s = tried_mb_s
        chosen_mb_s = round(high_mb_s)
        chosen = replace(settings, extra=settings.extra | {"device_mb_s": chosen_mb_s})
        loads = {way.name: load_of(chosen, way, WAVE_S) for way in (ENABLED, DISABLED)}
        runs = interleaved(settings, engine, loads, repeats)
    if settings.out is not None:
        write_csv(settings.out / "steps.csv", rows)
    accepted_by_way = figures(runs, "ingest_mb_s")
    source = "Warlo, figure 4.4"
    return [
        reported_of(runs, "device", source, "MB/s", exactly(chosen_mb_s), DEVICE_BYTES_S / 1e6),
        *(
            reported_of(runs, f"{way}_accepts", source, "MB/s", mean_interval(accepted_by_way[way]), paper)
            for way, paper in ((ENABLED.name, ACCEPTED_MB_S), (DISABLED.name, DISABLED_MB_S))
        ),
    ]


if __name__ == "__main__":
    main("governor.calibration", calibration, scale=SCALE, quick_scale=256, extra={"repeats": 5})
