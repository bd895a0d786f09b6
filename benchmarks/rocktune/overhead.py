"""Splits a study's time: measuring, loading, opening and closing runs, and the rest."""

import tempfile
import time
from pathlib import Path

from benchmarks.common.claims import Claim, Measured, Settings, decided, main, reported
from benchmarks.common.measuring import WRITE_HEAVY
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
            protocol="short",
            ledger=f"sqlite:///{scratch}/ledger.sqlite",
            out=Path(scratch) / "out",
        ).to_json()
        wall_s = time.monotonic() - start
    seconds = outcome["seconds"]
    rest = (wall_s - seconds["measuring"] - seconds["loading"]) / wall_s
    opening = seconds["opening"] / wall_s
    return [
        decided(_share("time_neither_measuring_nor_loading", rest, outcome["engine"]), high=0.05),
        _share("time_opening_and_closing_runs", opening, outcome["engine"]),
    ]


def _share(name: str, share: float, engine: str) -> Claim:
    once = Measured(share, share, share, 1)
    return reported(name, "overhead", "share of the study's wall time", once, engine=engine, device=DEVICE)


if __name__ == "__main__":
    main("rocktune.overhead", overhead, scale=64)
