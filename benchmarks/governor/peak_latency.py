"""Latencies of writes that wait for ever: the wave in an open loop, from the intended start."""

from benchmarks.common.claims import Claim, Settings, exactly, main, mean_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    PROPORTIONAL,
    SCALE,
    WAVE_S,
    WAYS,
    decided_of,
    figures,
    interleaved,
    load_of,
    reported_of,
    rows_of,
)
from rocktune.online import GovernedRun, figures_of
from rocktune.workload import WorkloadSpec, load_workload

PEAK_S = (100.0, 250.0)
MAX_STOPPED_MS = 1000.0
_SOURCE = "Warlo, figure 4.3; the peak from 100 to 250 s"


def peak_latency(settings: Settings) -> list[Claim]:
    """Runs each mode through the wave; latencies and stops are in full-size units."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    patient = _patient(load_workload("sine"))
    with processors_awake(), embedded_engine() as engine:
        loads = {way.name: load_of(settings, way, WAVE_S, read_s=0.0, workload=patient) for way in WAYS}
        runs = interleaved(settings, engine, loads, repeats)
    tails = {way: [_tail_us(run) for run in each] for way, each in runs.items()}
    stops = figures(runs, "max_write_stop_ms")
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows_of({"peak_write_us_p999": tails, "max_stop_ms": stops}))
    series = {way: figures_of(each[0])["series"] for way, each in runs.items()}
    traces = [
        lines(way, each["time_s"], [max(1.0, value) for value in each["write_latency_us_p999"]])
        for way, each in series.items()
    ]
    panel = Panel("", "time (s)", "p99.9 of writes, microseconds at full size", traces)
    write_figure(settings, "Write latency through the wave", [panel])
    claims = [
        reported_of(runs, f"{way}_{name}", _SOURCE, unit, mean_interval(values[way]))
        for way in runs
        for name, unit, values in (
            ("peak_write_us_p999", "us at full size", tails),
            ("max_stop_ms", "ms at full size", stops),
        )
    ]
    shares = [enabled / own for own, enabled in zip(tails[PROPORTIONAL.name], tails["enabled"], strict=True)]
    name = "enabled_peak_p999_over_proportional"
    claims.append(decided_of(runs, name, _SOURCE, "ratio", mean_interval(shares), least=10.0))
    longest = exactly(max(stops[PROPORTIONAL.name]), repeats=len(shares))
    name, unit = "proportional_max_stop_of_all_runs", "ms at full size"
    return [*claims, decided_of(runs, name, _SOURCE, unit, longest, most=MAX_STOPPED_MS)]


def _patient(workload: WorkloadSpec) -> WorkloadSpec:
    """Returns the workload with writes that wait for ever."""
    sessions = tuple(
        session.model_copy(update={"arrival": session.arrival.model_copy(update={"patience_s": 0.0})})
        for session in workload.sessions
    )
    return workload.model_copy(update={"sessions": sessions})


def _tail_us(run: GovernedRun) -> float:
    return run.between(*PEAK_S).figures["write_latency_us_p999"] * run.load.scale


if __name__ == "__main__":
    main(
        "governor.peak_latency",
        peak_latency,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 5, "device_mb_s": CALIBRATED_MB_S},
    )
