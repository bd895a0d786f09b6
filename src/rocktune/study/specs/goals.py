"""Checks the goals of a request: objectives without a ratio, prices of the cost, and robustness."""

from pathlib import Path

from rocktune.cost import COST, Prices, load_prices
from rocktune.engine import EmbeddedSpec, EngineSpec
from rocktune.errors import UserError
from rocktune.measurement import LATENCY_KINDS, READ_KINDS, WRITE_KINDS
from rocktune.objective import BALANCE, MAY_BE_ZERO, Objective, terms_of
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


def check_operations(objective: Objective, workload: WorkloadSpec, engine: EngineSpec) -> None:
    """Checks that a workload has the operations whose figures are objectives or bounds.

    "balance" needs none: a figure that no run has does not count there.

    Raises:
        UserError: no run would have one of the figures, so that no configuration could be recommended.
    """
    if engine.kind in ("command", "recorded"):
        return  # What they report is known only from a run, or from the table.
    mixes = [load.mix for session in workload.sessions for load in workload.loads(session)]
    stated = {term for bound in objective.constraints for term in terms_of(bound.field)}
    sought = set() if objective.name == BALANCE else {*objective.measured_fields}
    for field in objective.measured_fields:
        word, kinds = _operations_of(field)
        if (
            field in sought | stated
            and kinds
            and not any(getattr(mix, kind) for mix in mixes for kind in kinds)
        ):
            where = "constraint" if field in stated else "objective"
            raise UserError(
                f"{where}: workload '{workload.name}' has no {word}s, so that no run has {field}; name "
                "another figure"
            )


def _operations_of(field: str) -> tuple[str, tuple[str, ...]]:
    """Returns the operations that a figure is of, in a word and by name; empty if it is of any."""
    for word, kinds in LATENCY_KINDS.items():
        if field.startswith(f"{word}_latency_us_"):
            return word, kinds
    return {
        "read_amplification": ("read", (*READ_KINDS, "read_modify_write")),
        "write_amplification": ("write", (*WRITE_KINDS, "read_modify_write")),
        "skipped_keys_per_scan": ("scan", LATENCY_KINDS["scan"]),
    }.get(field, ("", ()))


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
