"""The set-ups on which no model of the Bayesian tuners was developed, and their tables of random runs."""

from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common.claims import Settings
from benchmarks.common.measuring import processors_awake
from rocktune import api
from rocktune.errors import UserError
from rocktune.study import SweepSpec, make_request, resolve_sweep
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import Table, read_table
from rocktune.units import format_scale

FILES = Path(__file__).parent / "setups"
SPACE, NEAR = "alabed", str(FILES / "near.toml")
"""The paper's space, and the part of it with small blocks."""


@dataclass(frozen=True)
class SetUp:
    """A workload on a device.

    Attributes:
        workload: its name or file.
        device: its name or file.
        seconds: length of a run in seconds at full size.
    """

    workload: str
    device: str
    seconds: float


SETUPS = {
    "ycsb-updates": SetUp(str(FILES / "ycsb-updates.toml"), str(FILES / "ssd-40mb.toml"), 1800),
    "ycsb-a": SetUp("ycsb-a", "ssd-100mb", 3072),
    "alabed-listing": SetUp("alabed-listing", "ssd-100mb", 1800),
}
"""By name. Runs of `ycsb-updates` write enough for level-0 compactions under nearly every configuration.
Those of `alabed-listing` write 12 bytes an operation, which no affordable length makes enough."""


@dataclass(frozen=True)
class Sampled:
    """The random runs on a set-up.

    Attributes:
        drawn: runs drawn from the whole space, and the control.
        near: runs drawn from the part with small blocks, and the control.
        promising: by round, runs where a model of the runs before promises most.
    """

    drawn: Table
    near: Table
    promising: tuple[Table, ...] = ()

    def merged(self, left_out: int) -> Table:
        """Returns one table of all runs, without the first `left_out` ones drawn from the whole space."""
        swept = [row for row in self.drawn.rows if row.replicate == 0]
        control = [row for row in self.drawn.rows if row.replicate]
        promising = [row for table in self.promising for row in table.rows]
        return replace(self.drawn, rows=(*swept[left_out:], *control, *self.near.rows, *promising))


def drawn_runs(name: str, out: Path, ledger: str, settings: Settings) -> Table:
    """Returns the runs drawn from the whole space of a set-up; measures them if `out` has no table of them.

    Args:
        name: one of `SETUPS`.
        out: directory of the table, NAME.csv.
        ledger: file of the ledger; an interrupted sweep continues with the same one.
        settings: with the flag `samples`, the number of configurations.
    """
    if name not in SETUPS:
        raise UserError(f"setups: unknown set-up '{name}'; use {', '.join(SETUPS)}")
    return _table(
        name, name, SPACE, 2 if settings.quick else settings.extra["samples"], out, ledger, settings
    )


def near_runs(name: str, out: Path, ledger: str, settings: Settings) -> Table:
    """Returns the runs with small blocks, from NAME-near.csv, as `drawn_runs`; `near` is their number."""
    samples = 1 if settings.quick else settings.extra["near"]
    return _table(name, f"{name}-near", NEAR, samples, out, ledger, settings)


def _table(
    name: str, study: str, space: str, samples: int, out: Path, ledger: str, settings: Settings
) -> Table:
    path = out / f"{study}.csv"
    if not path.exists():
        setup = SETUPS[name]
        how = how_to_sweep(name, samples, settings)
        settings.say(f"{study}: measuring {samples} configurations for {how.seconds} each")
        with processors_awake():
            api.sweep(
                how=how,
                workload=setup.workload,
                space=space,
                device=setup.device,
                scale=format_scale(settings.scale),
                seed=settings.seed,
                study=f"held-out-{study}",
                ledger=ledger,
                out=out / "sweeps" / study,
            )
        api.write_recorded([f"held-out-{study}"], path, ledger=ledger)
    return read_table(path)


def how_to_sweep(name: str, samples: int, settings: Settings) -> HowToSweep:
    """Returns the length of runs on a set-up, for a number of configurations."""
    seconds = 0.2 if settings.quick else SETUPS[name].seconds / settings.scale
    return HowToSweep(samples, "1/1", f"{seconds}s", "0")


def spec_of(name: str, study: str, samples: int, settings: Settings) -> SweepSpec:
    """Returns the specification of further runs under the conditions of a set-up's random runs.

    Args:
        name: one of `SETUPS`.
        study: name of the study in the ledger.
        samples: number of configurations.
        settings: with the scale and the seed.
    """
    setup = SETUPS[name]
    given = {"workload": setup.workload, "device": setup.device, "space": SPACE}
    scale = {"scale": format_scale(settings.scale), "seed": settings.seed}
    return resolve_sweep(make_request({**given, **scale}), study, how_to_sweep(name, samples, settings))
