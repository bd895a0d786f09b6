"""Dremel, figure 8: the best configuration found against the tuning guide's, per setting."""

import json
import tempfile
from pathlib import Path

from benchmarks.claims import Claim, Measured, Settings, main
from rocktune import api
from rocktune.workload.dremel_settings import dremel_settings

# The setting whose ratio the project promises, with the least lower end of its interval.
PROMISED = {"dremel-write-heavy": 1.4}
PAPER_BEST = "up to 2.61 over the tuning guide on 18 settings"


def dremel_throughput(settings: Settings) -> list[Claim]:
    """Tunes each setting with the paper's budget of 2,325 s divided by S and proves the winner."""
    conditions = {setting.name: (setting.workload, setting.device) for setting in dremel_settings()}
    named = str(settings.extra["settings"])
    chosen = list(conditions) if named == "all" else named.split(",")
    scale = 512 if settings.quick else settings.scale
    claims = []
    for name in chosen[: 1 if settings.quick else None]:
        workload, device = conditions.get(name, (name, "ssd-100mb"))
        with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
            outcome = api.tune(
                workload=workload,
                device=device,
                scale=f"1/{scale}",
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
                f"lower end >= {least}" if least else "whatever it gives",
                measured,
                measured.low >= least if least else "reported",
                paper=PAPER_BEST,
                engine=outcome["engine"],
                device=device,
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
