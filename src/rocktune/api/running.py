"""Measures one configuration."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Unpack

from rocktune.api.engines import opened_engine
from rocktune.api.options import options_by_section
from rocktune.api.requests import GivenConditions, own_options_of, requested
from rocktune.api.traces import trace_notes
from rocktune.engine import EmbeddedSpec, Engine, EngineSpec, Run, RunFailed, run_options
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.engine.steadiness import LIMIT_FULL_SIZE_S, STEP_FULL_SIZE_S, Steadiness, Step
from rocktune.errors import UserError, unknown_name
from rocktune.options_account import OptionsAccount, account_json
from rocktune.space import Configuration, OptionMaps, merged_options, space_from_document
from rocktune.study import Observer
from rocktune.study.seeds import seed_of
from rocktune.study.specs.own_options import terms_sentences
from rocktune.study.specs.problem import expected_entries, families_together
from rocktune.study.specs.request import StudyRequest, engine_spec
from rocktune.study.specs.resolving import conditions_of
from rocktune.trial import Experiment, Measurement, Result, Status, Trial
from rocktune.units import format_scale, parse_seconds


@dataclass(frozen=True)
class _Subject:
    """A configuration to measure, its conditions, and notes on how the user's OPTIONS file was used.

    Attributes:
        experiment: conditions of the measurement.
        configuration: configuration to measure.
        notes: sentences for the user; empty without an OPTIONS file.
    """

    experiment: Experiment
    configuration: Configuration
    notes: tuple[str, ...] = ()
    account: OptionsAccount | None = None


def run(
    study_file: str | Path | None = None,
    *,
    options: Mapping[str, str] | None = None,
    seconds: str | float | None = None,
    until: str | None = None,
    repeat: int = 1,
    observer: Observer | None = None,
    **given: Unpack[GivenConditions],
) -> dict[str, Any]:
    """Measures one configuration in fresh runs. Nothing is recorded.

    The configuration is the user's OPTIONS file, or else the space's default (the tuning guide's), with
    single options changed.

    Args:
        study_file: a study's TOML file; `given` overrides it, and its search has no effect. Only the file can
            define the user's own program for engine "command".
        options: RocksDB options or knobs of the space by name, as text, at full size.
        seconds: length of each run; by default 120 s at full size, divided by S where times scale.
        until: "steady" runs until the store is in steady state, for at most four hours at full size. The
            figures are then those of the steady windows, or of the later half of a run that did not become
            steady.
        repeat: number of runs; each has its own random numbers.
        observer: observer of phases, trials and progress.
        **given: conditions, named as the fields of `rocktune.study.StudyRequest`. If a memory budget is given
            and neither the OPTIONS file nor `block_cache` has a block cache, it gets what memtables and
            filters leave of the budget.

    Returns:
        `configuration`, `options` (full size), `scale`, `seconds`, `seed`, `engine`, `workload`, `device`,
        `own_options_notes` and `trace_notes` (how OPTIONS file and trace were used, in sentences),
        `options_account` (see `rocktune.options_account`) and `runs`. Each run has `status`,
        `message`, `figures` (empty if it failed), `families` (the figures of each column family, if the
        workload has several) and `output` (the end of what the user's own program
        printed). With `until` each run that did not fail has `steady`: `is_steady`, `load_s`, `changes` (what
        still changed, in words) and `window_s` (the seconds that the figures are of).

    Raises:
        UserError: an argument is invalid, or this machine lacks something that is needed.
    """
    request = requested(study_file, given)
    spec = engine_spec(request)
    if repeat < 1:
        raise UserError(f"repeat: {repeat} must be at least 1")
    subject = _subject(request, spec, options or {})
    divisor = subject.experiment.scale
    _check_until(until, seconds, spec)
    default_s = (LIMIT_FULL_SIZE_S if until else FULL_LENGTH_S) / spec.time_scale(divisor)
    seconds_s = default_s if seconds is None else parse_seconds(seconds, "seconds")
    watching = observer or Observer()
    with opened_engine(spec) as opened:
        _refuse_invalid(opened, subject)
        watching.estimated(repeat * seconds_s)
        watching.phase_started("run", repeat * seconds_s)
        runs = []
        for replicate in range(repeat):
            # Replicates differ in their random numbers, as those of a study's proof do.
            trial = Trial(subject.configuration, seconds_s, replicate)
            watching.trial_started(trial, replicate, repeat)
            seed = seed_of(request.seed, replicate)
            result, output = _measured(opened, subject.experiment, trial, seed, watching, bool(until))
            watching.trial_finished(result)
            # A failed run is shown with its status; it never counts as a figure of 0.
            figures = result.measurement.figures if result.measurement else {}
            families = result.measurement.families if result.measurement else {}
            runs.append(
                {
                    "status": str(result.status),
                    "message": result.message,
                    "figures": figures,
                    "families": {name: part.figures for name, part in families.items()},
                    "output": output,
                }
                | ({"steady": result.measurement.raw["followed"]} if until and result.measurement else {})
            )
        return {
            "workload": subject.experiment.workload.name,
            "device": subject.experiment.device.name,
            "scale": format_scale(divisor),
            "seconds": seconds_s,
            "seed": request.seed,
            "engine": opened.version,
            "configuration": dict(subject.configuration),
            "options": run_options(subject.experiment, subject.configuration),
            "own_options_notes": list(subject.notes),
            "trace_notes": trace_notes(subject.experiment.workload, divisor, seconds_s),
            "options_account": account_json(subject.account),
            "runs": runs,
        }


def _refuse_invalid(engine: Engine, subject: _Subject) -> None:
    """Refuses options that RocksDB refuses.

    In a study they only end a trial, but here the user named them.

    Raises:
        UserError: RocksDB refuses an option.
    """
    try:
        engine.check(subject.experiment, subject.configuration)
    except RunFailed as failed:
        raise UserError(failed.message) from None


def _check_until(until: str | None, seconds: str | float | None, spec: EngineSpec) -> None:
    """Refuses an end that is unknown, contradictory, or that the engine cannot find.

    Raises:
        UserError: see above.
    """
    if until is None:
        return
    if until != "steady":
        raise unknown_name("until", until, ["steady"])
    if seconds is not None:
        raise UserError("until: 'steady' and --seconds exclude each other; give one of them")
    if not isinstance(spec, EmbeddedSpec):
        raise UserError(
            f"until: engine '{spec.kind}' does not show its levels while it runs; choose engine 'embedded' "
            "or give --seconds"
        )


def _measured(
    engine: Engine, experiment: Experiment, trial: Trial, seed: int, observer: Observer, until_steady: bool
) -> tuple[Result, str]:
    """Returns the result of a trial, and the end of what the user's own program printed."""
    try:
        # Options that act on all files need a base that was loaded with them.
        loaded = experiment.loaded_by(trial.configuration)
        opened = engine.open(loaded, trial.configuration, seed, observer.progress)
        with closing(opened):
            if until_steady:
                measurement = _followed(opened, trial.until_s, experiment.scale, observer)
            else:
                measurement = opened.advance(trial.until_s, observer.progress)
        return Result(trial, Status.OK, measurement), str(measurement.raw.get("output", ""))
    except RunFailed as failed:
        return Result(trial, failed.status, None, failed.message), failed.output


def _followed(run: Run, limit_s: float, scale: int, observer: Observer) -> Measurement:
    """Advances a run until it is steady; returns the measurement of the steady windows.

    The measurement's raw figure `followed` says whether the run became steady.

    Args:
        run: a run of age 0.
        limit_s: maximum age in seconds.
        scale: S of the model.
        observer: observer of the age.
    """
    steadiness, windows, age_s = Steadiness(), list[Measurement](), 0.0
    is_steady = False
    while not is_steady and age_s < limit_s:
        age_s += STEP_FULL_SIZE_S / scale
        windows.append(run.advance(age_s))
        is_steady = steadiness.add(Step.of(windows[-1]))
        observer.progress("follow", age_s, limit_s)
    window = steadiness.steady or steadiness.latest
    assert window is not None, "a run has at least one step"
    # The steady windows end with the latest step.
    merged = reduce(Measurement.merged, windows[-len(window.steps) :])
    followed = {
        "is_steady": is_steady,
        "load_s": age_s,
        "window_s": window.seconds,
        "changes": "" if is_steady else steadiness.describe(),
    }
    return Measurement(merged.raw | {"followed": followed})


def _subject(request: StudyRequest, spec: EngineSpec, options: Mapping[str, str]) -> _Subject:
    """Returns the configuration to measure with its conditions.

    Raises:
        UserError: an argument is invalid.
    """
    if isinstance(spec, EmbeddedSpec):
        # The knobs that a study would have.
        request = request.model_copy(update={"space": request.space_in("steady")})
    found = conditions_of(request, spec, own_options_of(request), "short", choose_family=False)
    load, place, scale, base = (found[name] for name in ("workload", "device", "scale", "base_options"))
    family = found.get("column_family")
    entries, together = expected_entries(load, place, family), families_together(load, place, family)
    chosen = space_from_document(found["space"], found["memory_bytes"], entries, base, together)
    # Knobs of the space become part of the configuration; all other options are laid over it.
    knobs = {knob.name: knob for knob in chosen.knobs}
    # A name may be both a knob and an option; the knob wins, because the space's rules then hold for it.
    tuned = {name: text for name, text in options.items() if name in knobs}
    other = {name: text for name, text in options.items() if name not in knobs}
    values = {name: knobs[name].parse(text) for name, text in tuned.items()}
    for name, value in values.items():
        knobs[name].check(value)
    changes = options_by_section(other, knobs, [each.name for each in together], base)
    if base is None:
        # What a value makes inactive goes; a value that is itself inactive stays and is refused.
        configuration = chosen.activated(values).replaced(values)
        chosen.validate(configuration)
        subject = _Subject(
            Experiment(load, place, scale, chosen.with_base_options(changes), changes, family),
            configuration,
        )
        _refuse_derived(changes, run_options(subject.experiment, configuration))
        return subject
    for knob in chosen.conditional_knobs.in_order:
        if knob.name in values:
            section, option = changes.setdefault(knob.section, {}), knob.option_name
            present = section.get(option, base.get(knob.section, {}).get(option))
            section[option] = knob.text(values[knob.name], present)
    # The sentences describe the OPTIONS file alone; the last one names the options changed on top of it.
    notes = terms_sentences(found["own_terms"], found["memory_bytes"], chosen.memory_shares(base), base)
    if options:
        changed = ", ".join(f"{name}={text}" for name, text in options.items())
        notes.append(f"Changed from the OPTIONS file, as you asked: {changed}.")
    experiment = Experiment(load, place, scale, chosen, merged_options(base, changes), family)
    return _Subject(experiment, Configuration({}), tuple(notes), found["own_terms"].account)


def _refuse_derived(given: OptionMaps, options: OptionMaps) -> None:
    """Refuses an option that rocktune derives from others, since it would not get the user's value.

    Raises:
        UserError: an option would get another value than the given one.
    """
    for section, texts in given.items():
        for name, text in texts.items():
            # The worker would silently use the derived value, and the user would believe in theirs.
            if options[section][name] != text:
                raise UserError(
                    f"{name}: the memory budget sets it to {options[section][name]}; "
                    "set --memory instead, or give an OPTIONS file"
                )
