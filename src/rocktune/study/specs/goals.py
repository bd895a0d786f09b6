"""Checks the goals of a request: objectives without a ratio, prices of the cost, and robustness."""

from pathlib import Path

from rocktune.cost import COST, Prices, load_prices
from rocktune.engine import EmbeddedSpec, EngineSpec
from rocktune.errors import UserError
from rocktune.objective import MAY_BE_ZERO, Objective
from rocktune.workload import WorkloadSpec, neighbours


def check_robust(share: float | None, workload: WorkloadSpec, engine: EngineSpec) -> None:
    """Checks that a workload has neighbours and that the engine can run them.

    Args:
        share: the share within which mix and skew may change; None for a study on one workload.
        workload: the study's workload.
        engine: the study's engine.

    Raises:
        UserError: it has none, or the engine cannot.
    """
    if share is None:
        return
    if not isinstance(engine, EmbeddedSpec):
        raise UserError(
            f"robust: engine '{engine.kind}' cannot run workloads near yours; choose engine 'embedded'"
        )
    if not neighbours(workload, share):
        raise UserError(
            f"robust: workload '{workload.name}' has neither a mix of reads and writes nor skewed keys that "
            "could change; leave --robust out"
        )


def checked_prices(objective: Objective, file: str | None, engine: EngineSpec) -> Prices | None:
    """Returns the prices of a study; None if it has no use for them.

    Args:
        objective: the study's objective, without prices.
        file: the TOML file that the user gave; None for none.
        engine: the study's engine.

    Raises:
        UserError: the prices are missing, without use or invalid; the engine does not count what they price;
            or an objective is a figure that may be 0.
    """
    for field in objective.fields:
        if field in MAY_BE_ZERO:
            raise UserError(
                f"objective: {field} may be 0, and ratios to 0 are not defined; improve longest_wait_us, or "
                f"bound it with --constraint '{field}<=NUMBER'"
            )
    has_cost = COST in objective.shown_fields
    if not has_cost:
        if file is not None:
            raise UserError("prices: no objective and no constraint is 'cost'; add --objective cost")
        return None
    if file is None:
        raise UserError(
            "objective: 'cost' needs your prices; give them with --prices FILE, such as docs/prices.toml"
        )
    if not isinstance(engine, EmbeddedSpec):
        raise UserError(
            f"objective: engine '{engine.kind}' does not count all that has a price; choose engine 'embedded'"
        )
    return load_prices(Path(file))
