"""Makes the tables of Jia and Chen's study: all configurations once, and samples of three settings."""

import tempfile
from pathlib import Path

from benchmarks.common.claims import Claim, Settings, exactly, main, reported
from benchmarks.common.measuring import processors_awake
from rocktune import api
from rocktune.analysis import summary_of_table
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import read_table

DEVICES = Path(__file__).parent / "devices"
SAMPLES = 540
_WARM_UP_S, _MEASURED_S = 30, 90
"""At full size."""
TABLES = {
    "zipfian-pcie": ("zipfian", "pcie", None),
    "hotspot-pcie": ("hotspot", "pcie", SAMPLES),
    "random-pcie": ("random", "pcie", SAMPLES),
    "zipfian-sata": ("zipfian", "sata", SAMPLES),
}
"""By name: workload, device, and how many configurations; None for all 2,160."""


def tables(settings: Settings) -> list[Claim]:
    """Sweeps the settings of the flag `--tables`; an interrupted run continues with the same `--ledger`.

    With `--part K/N` it measures only a part. A table holds all parts in `--out`, and claims use all tables
    there.
    """
    names = str(settings.extra["tables"]).split(",") if not settings.quick else list(TABLES)[:1]
    with tempfile.TemporaryDirectory() as scratch, processors_awake():
        out = settings.out or Path(scratch)
        ledger = str(settings.extra["ledger"]) or str(Path(scratch) / "ledger.sqlite")
        for name in names:
            _sweep(settings, name, ledger, out)
        return [claim for name in TABLES if (out / f"{name}.csv").exists() for claim in _claims(name, out)]


def _sweep(settings: Settings, name: str, ledger: str, out: Path) -> None:
    workload, device, samples = TABLES[name]
    part = str(settings.extra["part"])
    how = (
        HowToSweep(2, seconds="0.2s", warm_up="0")
        if settings.quick
        else HowToSweep(samples, part, f"{_MEASURED_S / settings.scale}s", f"{_WARM_UP_S / settings.scale}s")
    )
    sweep = f"{name}-{part.replace('/', '-of-')}"
    api.sweep(
        how=how,
        workload=workload,
        device=str(DEVICES / f"jia-chen-{device}.toml"),
        space="jia-chen",
        scale=f"1/{settings.scale}",
        seed=settings.seed,
        study=sweep,
        ledger=ledger,
        out=out / "sweeps" / sweep,
    )
    api.write_recorded([sweep], out / "parts" / f"{sweep}.csv", ledger=ledger)
    api.write_recorded(sorted(map(str, (out / "parts").glob(f"{name}-*.csv"))), out / f"{name}.csv")


def _claims(name: str, out: Path) -> list[Claim]:
    table = read_table(out / f"{name}.csv")
    summary = summary_of_table(table)
    runs, device = summary["runs"], table.conditions.device.name
    repeats = runs - summary["configurations"] + 1
    claims = [
        reported(
            f"{name}_noise_of_{field}",
            "the control: one configuration again and again",
            "coefficient of variation",
            exactly(noise, repeats),
            engine=table.conditions.engine,
            device=device,
        )
        for field, noise in summary["noise"].items()
        if noise is not None
    ]
    claims.append(
        reported(
            f"{name}_runs",
            "Jia and Chen, section III",
            f"runs of {table.conditions.measured_s:.4g} s",
            exactly(runs),
            12_000,
            engine=table.conditions.engine,
            device=device,
        )
    )
    return claims


if __name__ == "__main__":
    main(
        "jia_chen.tables",
        tables,
        extra={"tables": ",".join(TABLES), "part": "1/1", "ledger": ""},
    )
