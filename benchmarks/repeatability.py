"""How well a run repeats, and whether standing still changes it."""

import numpy as np

from benchmarks.claims import Claim, Settings, exactly, main, median_spread, write_csv
from benchmarks.measuring import WRITE_HEAVY, embedded_engine, experiment_of, measure

DEVICE = "ssd-100mb"
FULL_SIZE_S = 120.0


def repeatability(settings: Settings) -> list[Claim]:
    """Measures the tuning guide's configuration five times, and with four parks against none in pairs."""
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

    fresh = np.array(throughputs("fresh"))
    variation = float(fresh.std(ddof=1) / fresh.mean())
    ratios = [
        parked / plain for parked, plain in zip(throughputs("parked"), throughputs("unparked"), strict=True)
    ]
    parking = median_spread(ratios)
    return [
        Claim(
            "throughput_coefficient_of_variation",
            "issue 2, must hold",
            "1",
            "<= 0.03",
            exactly(variation, repeats),
            variation <= 0.03,
            engine=version,
            device=DEVICE,
        ),
        Claim(
            "four_parks_over_none",
            "issue 2, must hold",
            "ratio of throughput, median [min, max]",
            "0.98 to 1.02",
            parking,
            0.98 <= parking.value <= 1.02,
            engine=version,
            device=DEVICE,
        ),
    ]


if __name__ == "__main__":
    main("repeatability", repeatability, scale=16)
