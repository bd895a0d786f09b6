"""Measures how well a run repeats, and whether pausing changes it."""

from benchmarks.common.claims import Claim, Settings, decided, main, ratio_interval, reported, spread_interval
from benchmarks.common.measuring import WRITE_HEAVY, embedded_engine, experiment_of, measure
from benchmarks.common.tables import write_csv

DEVICE = "ssd-100mb"
SOURCE = "repeatability"
FULL_SIZE_S = 120.0


def repeatability(settings: Settings) -> list[Claim]:
    """Measures the tuning guide's configuration five times, and pairs with four pauses and without."""
    experiment = experiment_of(WRITE_HEAVY, DEVICE, settings.scale)
    configuration = experiment.space.default()
    seconds = FULL_SIZE_S / settings.scale
    repeats, pairs = (2, 2) if settings.quick else (5, 10)
    parked_ages = tuple(seconds * part / 5 for part in range(1, 6))
    rows: list[dict[str, float | str]] = []
    with embedded_engine() as engine:
        for repeat in range(repeats):
            throughput = measure(engine, experiment, configuration, settings.seed, (seconds,)).figures
            rows.append({"what": "fresh", "pair": repeat, "throughput_ops_s": throughput["throughput_ops_s"]})
            settings.say(f"run {repeat + 1} of {repeats}: {throughput['throughput_ops_s']:.0f} ops/s")
        for pair in range(pairs):
            ways = {"unparked": (seconds,), "parked": parked_ages}
            for what in sorted(ways, reverse=pair % 2 == 1):
                figures = measure(engine, experiment, configuration, settings.seed + pair, ways[what]).figures
                rows.append({"what": what, "pair": pair, "throughput_ops_s": figures["throughput_ops_s"]})
            settings.say(f"pair {pair + 1} of {pairs}")
        version = engine.version
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)

    def throughputs(what: str) -> list[float]:
        chosen = sorted((row for row in rows if row["what"] == what), key=lambda row: float(row["pair"]))
        return [float(row["throughput_ops_s"]) for row in chosen]

    ratios = [
        parked / plain for parked, plain in zip(throughputs("parked"), throughputs("unparked"), strict=True)
    ]
    return [
        decided(
            reported(
                "throughput_coefficient_of_variation",
                SOURCE,
                "standard deviation over mean",
                spread_interval(throughputs("fresh")),
                engine=version,
                device=DEVICE,
            ),
            high=0.03,
        ),
        decided(
            reported(
                "four_parks_over_none",
                SOURCE,
                "ratio of throughput",
                ratio_interval(ratios),
                engine=version,
                device=DEVICE,
            ),
            low=0.98,
            high=1.02,
        ),
    ]


if __name__ == "__main__":
    main("rocktune.repeatability", repeatability, scale=16)
