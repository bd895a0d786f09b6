"""Where a study's time goes: what is neither measuring nor loading, opening and closing runs apart."""

import tempfile
import time
from pathlib import Path

from benchmarks.claims import REPORTED, Claim, Settings, exactly, main
from benchmarks.measuring import WRITE_HEAVY
from rocktune import api
from rocktune.units import format_scale

DEVICE = "ssd-100mb"


def overhead(settings: Settings) -> list[Claim]:
    """Runs one study and splits its wall time."""
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
        start = time.monotonic()
        outcome = api.tune(
            workload=WRITE_HEAVY,
            device=DEVICE,
            scale=format_scale(settings.scale),
            seed=settings.seed,
            ledger=f"sqlite:///{scratch}/ledger.sqlite",
            out=Path(scratch) / "out",
        ).to_json()
        wall_s = time.monotonic() - start
    seconds = outcome["seconds"]
    rest = (wall_s - seconds["measuring"] - seconds["loading"]) / wall_s
    opening = seconds["opening"] / wall_s
    return [
        Claim(
            "time_neither_measuring_nor_loading",
            "issue 2, must hold",
            "share of the study's wall time",
            "<= 0.05",
            exactly(rest),
            rest <= 0.05,
            engine=outcome["engine"],
            device=DEVICE,
        ),
        Claim(
            "time_opening_and_closing_runs",
            "issue 2, must hold",
            "share of the study's wall time",
            "reported apart",
            exactly(opening),
            REPORTED,
            engine=outcome["engine"],
            device=DEVICE,
        ),
    ]


if __name__ == "__main__":
    main("overhead", overhead, scale=64)
