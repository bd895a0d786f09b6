"""Dremel, figure 8: the best configuration found against the tuning guide's, per setting."""

import json
import tempfile
from pathlib import Path

from benchmarks.claims import ANYTHING, REPORTED, Claim, Measured, Settings, main
from benchmarks.dremel_shared import chosen_settings
from rocktune import api
from rocktune.units import format_scale

# The setting whose ratio the project promises, with the least lower end of its interval.
PROMISED = {"dremel-write-heavy": 1.4}
PAPER_BEST = "up to 2.61 over the tuning guide on 18 settings"


def dremel_throughput(settings: Settings) -> list[Claim]:
    """Tunes each setting with the paper's budget of 2,325 s divided by S and proves the winner."""
    claims = []
    for setting in chosen_settings(settings):
        name = setting.name
        with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
            outcome = api.tune(
                workload=setting.workload,
                device=setting.device,
                scale=format_scale(settings.scale),
                seed=settings.seed,
                ledger=f"sqlite:///{scratch}/ledger.sqlite",
                out=(settings.out or Path(scratch)) / name,
            ).to_json()
        if settings.out is not None:
            (settings.out / f"{name}.json").write_text(json.dumps(outcome, indent=1) + "\n")
        ratio = outcome["ratio_to_baseline"]
        measured = Measured(ratio["value"], ratio["low"], ratio["high"], outcome["proof_pairs"])
        least = PROMISED.get(name)
        claims.append(
            Claim(
                f"{name}_best_over_baseline",
                "Dremel, figure 8",
                "ratio of throughput",
                f"lower end >= {least}" if least else ANYTHING,
                measured,
                measured.low >= least if least else REPORTED,
                paper=PAPER_BEST,
                engine=outcome["engine"],
                device=setting.device,
            )
        )
        settings.say(f"{name}: {ratio}")
    return claims


if __name__ == "__main__":
    main(
        "dremel_throughput",
        dremel_throughput,
        scale=16,
        extra={"settings": "dremel-write-heavy,dremel-read-heavy,dremel-preloaded"},
    )
