"""Checks of scales: how well a small model ranks configurations."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.requests import Given, resolved
from rocktune.ledger import Ledger, open_ledger
from rocktune.options_account import account_json
from rocktune.outcome import ScaleCheck
from rocktune.study import Observer, ScaleCheckSpec, StudyRequest, resolve_scale_check, run_scale_check
from rocktune.study.specs.resolving import OwnOptions
from rocktune.study.specs.spec import MIN_CHECKED
from rocktune.units import format_scale


@dataclass(frozen=True)
class PreparedScaleCheck:
    """A scale check that was validated and has not measured or written anything yet.

    Attributes:
        spec: the check.
        request: request that it was made from.
    """

    spec: ScaleCheckSpec
    request: StudyRequest

    def estimate(self) -> dict[str, Any]:
        """Returns the maximum size and time.

        Returns:
            `study` (the name), `scale`, `larger_scale`, `objective`, `configurations`, `runs` (at most),
            `own_options_notes` and `options_account` (how the OPTIONS file is used) and `total_s`.
        """
        spec = self.spec
        return {
            "study": spec.name,
            "scale": format_scale(spec.scale),
            "larger_scale": format_scale(spec.larger_scale),
            "objective": spec.objective,
            "configurations": spec.configurations,
            "runs": study.runs_at_most(spec),
            "own_options_notes": study.own_notes(spec),
            "options_account": account_json(study.own_account(spec)),
            "total_s": study.scale_check_s(spec),
        }

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> ScaleCheck:
        """Runs or continues the check; see `rocktune.api.check_scale`."""
        with open_ledger(self.request.ledger) as ledger:
            return run_recorded_scale_check(self.spec, ledger, executor, address, observer)


def prepare_scale_check(
    study_file: str | Path | None = None,
    *,
    configurations: int = MIN_CHECKED,
    **given: Unpack[Given],
) -> PreparedScaleCheck:
    """Returns a validated scale check.

    Args:
        study_file: see `check_scale`.
        configurations: see `check_scale`.
        **given: see `check_scale`.

    Raises:
        UserError: a part of the request is invalid.
    """

    def resolve(request: StudyRequest, name: str, own_options: OwnOptions) -> ScaleCheckSpec:
        return resolve_scale_check(request, name, configurations, own_options)

    return PreparedScaleCheck(*resolved(study_file, given, resolve, "scale-check"))


def check_scale(
    study_file: str | Path | None = None,
    *,
    configurations: int = MIN_CHECKED,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
    **given: Unpack[Given],
) -> ScaleCheck:
    """Checks how well a 1/S model ranks configurations, against a model four times larger.

    An existing check with this name and equal settings is continued.

    Args:
        study_file: a study's TOML file; `given` overrides it.
        configurations: number of configurations, the space's default and others drawn at random; 20 to 1000.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: observer of phases, trials and progress.
        **given: fields of `rocktune.study.StudyRequest`; tuner, constraints and budget have no effect.

    Raises:
        UserError: a part of the request is invalid, or this machine lacks something that is needed.
        StudyInterrupted: Ctrl-C was pressed; `resume` continues.
    """
    prepared = prepare_scale_check(study_file, configurations=configurations, **given)
    return prepared.run(executor=executor, address=address, observer=observer)


def run_recorded_scale_check(
    spec: ScaleCheckSpec,
    ledger: Ledger,
    executor: str | None,
    address: str | None,
    observer: Observer | None,
) -> ScaleCheck:
    """Runs or continues a scale check; see `check_scale`."""
    watching = observer or Observer()
    with opened_executor(spec, (), executor, address, opened_engine, watching) as measuring:
        return run_scale_check(spec, measuring, ledger, watching)
