"""Where a study's time goes: what is neither measuring nor loading, opening and closing runs apart."""

import tempfile
import time
from pathlib import Path

from benchmarks.claims import Claim, Settings, exactly, main
from benchmarks.measuring import WRITE_HEAVY
from rocktune import api

DEVICE = "ssd-100mb"


def overhead(settings: Settings) -> list[Claim]:
    """Runs one study and splits its wall time."""
    scale = 512 if settings.quick else settings.scale
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
        start = time.monotonic()
        outcome = api.tune(
            workload=WRITE_HEAVY,
            device=DEVICE,
            scale=f"1/{scale}",
            seed=settings.seed,
            ledger=f"sqlite:///{scratch}/ledger.sqlite",
            out=Path(scratch) / "out",
        ).to_json()
        wall_s = time.monotonic() - start
    seconds = outcome["seconds"]
    measuring_s = sum(seconds[phase] for phase in ("search", "pick", "ablate", "prove"))
    rest = (wall_s - measuring_s - seconds["loading"]) / wall_s
    opening = seconds["opening"] / wall_s
    return [
        Claim(
            "time_neither_measuring_nor_loading", "issue 2, must hold", "share of the study's wall time", "<= 0.05",
            exactly(rest), rest <= 0.05, engine=outcome["engine"], device=DEVICE,
        ),
        Claim(
            "time_opening_and_closing_runs", "issue 2, must hold", "share of the study's wall time", "reported apart",
            exactly(opening), "reported", engine=outcome["engine"], device=DEVICE,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main("overhead", overhead, scale=64)
