"""Checks scales on presets, and adds the results to those that come with rocktune.

Each call measures one check: `--workload`, `--device`, `--space`, `--protocol` and `--scale`. It continues
where an interrupted call ended, as `--ledger` has it. The row in src/rocktune/study/scale_checks.csv replaces
an earlier one of the same conditions. The claims are those of all rows.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common.claims import ROOT, Claim, Measured, Settings, main, reported
from benchmarks.common.measuring import WRITE_HEAVY, Teller, embedded_engine
from benchmarks.common.tables import write_csv
from rocktune.ledger import Ledger, open_ledger
from rocktune.outcome import ScaleCheck
from rocktune.study import (
    ScaleCheckSpec,
    make_request,
    resolve_scale_check,
    run_scale_check,
)
from rocktune.study.scale_lookup import SHIPPED, shipped_row, shipped_rows
from rocktune.units import format_scale

SOURCE = "scale checks"
FILE = ROOT / "src" / "rocktune" / "study" / SHIPPED


def _spec(settings: Settings) -> ScaleCheckSpec:
    names = ("workload", "device", "space", "protocol")
    given = {name: settings.extra[name] for name in names} | {"seed": settings.seed}
    if settings.quick:
        # Waiting for 120 steady states takes five minutes.
        given["protocol"] = "short"
    request = make_request(given | {"scale": format_scale(settings.scale)})
    name = f"{request.workload}-{request.device}-{request.protocol}-{settings.scale}-{settings.seed}"
    return resolve_scale_check(request, name, int(settings.extra["configurations"]))


@contextmanager
def _ledger(settings: Settings) -> Iterator[Ledger]:
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        path = Path(directory) / "ledger.sqlite" if settings.quick else Path(settings.extra["ledger"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_ledger(str(path)) as ledger:
            yield ledger


def _measured(settings: Settings, spec: ScaleCheckSpec) -> ScaleCheck:
    with _ledger(settings) as ledger, embedded_engine() as engine:
        return run_scale_check(spec, engine, ledger, Teller(settings, spec.name))


def _claims(row: Mapping[str, Any]) -> list[Claim]:
    where = f"{row['workload']}_{row['space']}_{row['figure']}_{row['scale']}_against_{row['larger_scale']}"
    claims = []
    for name, unit in (
        ("correlation", "correlation"),
        ("regret", f"share, measured at {row['larger_scale']}"),
    ):
        value, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
        if not value:
            continue
        # A regret's interval has no end if runs failed in all rounds but one.
        least, most = float(low or value), float(high or value)
        repeats = int(row[f"{name}_repeats"])
        measured = Measured(float(value), least, most, repeats, exact=least == most)
        label = f"{where}_{name}"
        claim = reported(label, SOURCE, unit, measured, engine=row["engine"], device=row["device"])
        # Each row was measured by a command of its own.
        claim.scale = row["scale"]
        claim.command = " ".join(
            [
                "python -m benchmarks.rocktune.scale_checks",
                *(f"--{name} {row[name]}" for name in ("workload", "device", "space", "protocol", "scale")),
            ]
        )
        claims.append(claim)
    return claims


def scale_checks(settings: Settings) -> list[Claim]:
    """Measures one check, adds its row to those that come with rocktune, and returns the claims of all."""
    spec = _spec(settings)
    check = _measured(settings, spec)
    settings.say(f"{spec.name}: {check.verdict}")
    texts = {name: "" if value is None else str(value) for name, value in shipped_row(spec, check).items()}
    if settings.quick:
        return _claims(texts)
    rows = [row for row in shipped_rows() if row["key"] != texts["key"]] + [texts]
    rows.sort(key=lambda row: (row["workload"], row["device"], row["space"], row["figure"], row["scale"]))
    write_csv(FILE, rows)
    return [claim for row in rows for claim in _claims(row)]


if __name__ == "__main__":
    main(
        "rocktune.scale_checks",
        scale_checks,
        extra={
            "workload": WRITE_HEAVY,
            "device": "ssd-100mb",
            "space": "dremel",
            "protocol": "steady",
            "configurations": 20,
            "ledger": str(ROOT / "build" / "scale_checks.sqlite"),
        },
    )
