"""Measuring one configuration."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune.api.engines import opened_engine, own_options_file
from rocktune.api.options import options_by_section
from rocktune.api.requests import GivenConditions, requested
from rocktune.engine import Engine, EngineSpec, RunFailed, run_options
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.space import Configuration, OptionMaps, merged_options, space_from_document
from rocktune.study import Observer
from rocktune.study.seeds import seed_of
from rocktune.study.specs.own_options import terms_sentences
from rocktune.study.specs.problem import expected_entries
from rocktune.study.specs.request import StudyRequest, engine_spec
from rocktune.study.specs.resolving import conditions_of
from rocktune.trial import Experiment, Result, Status, Trial
from rocktune.units import format_scale, parse_seconds


@dataclass(frozen=True)
class _Subject:
    """What is measured, and what the user has to know of how their OPTIONS file was taken."""

    experiment: Experiment
    configuration: Configuration
    notes: tuple[str, ...] = ()


def run(
    study_file: str | Path | None = None,
    *,
    options: Mapping[str, str] | None = None,
    seconds: str | float | None = None,
    repeat: int = 1,
    observer: Observer | None = None,
    **given: Unpack[GivenConditions],
) -> dict[str, Any]:
    """Measures one configuration in fresh runs.

    It is the user's OPTIONS file, or without one the space's default (the tuning guide's), with single
    options changed. Nothing is recorded.

    Args:
        study_file: a study's TOML file, which says what is not given here; what it says of the search is of
            no effect. The user's own program, for engine "command", can be said only there.
        options: RocksDB's options or the space's knobs, by name, as text, at full size.
        seconds: how long each run lasts; by default what 120 s at full size come to.
        repeat: how many runs, each with random numbers of its own.
        observer: is told what happens.
        **given: the conditions, by the names of `rocktune.study.StudyRequest`. Of a memory budget an
            OPTIONS file gets the block cache that its memtables and filters leave, if neither the file nor
            `block_cache` says one.

    Returns:
        `configuration`, `options` (full size), `scale`, `seconds`, `seed`, `engine`, `workload`, `device`,
        `own_options_notes` (how the OPTIONS file was taken, in sentences), and `runs`: for each its
        `status`, `message`, `figures` (empty for a failed one) and `output` (the end of what the user's own
        program printed).

    Raises:
        UserError: something given is wrong, or this machine lacks what it takes.
    """
    request = requested(study_file, given)
    spec = engine_spec(request)
    if repeat < 1:
        raise UserError(f"repeat: {repeat} is not above 0")
    subject = _subject(request, spec, options or {})
    divisor = subject.experiment.scale
    seconds_s = (
        FULL_LENGTH_S / spec.time_scale(divisor) if seconds is None else parse_seconds(seconds, "seconds")
    )
    watching = observer or Observer()
    with opened_engine(spec) as opened:
        _refuse_invalid(opened, subject)
        watching.estimated(repeat * seconds_s)
        watching.phase_started("run", repeat * seconds_s)
        runs = []
        for replicate in range(repeat):
            trial = Trial(subject.configuration, seconds_s, replicate)
            watching.trial_started(trial, replicate, repeat)
            result, output = _measured(
                opened, subject.experiment, trial, seed_of(request.seed, replicate), watching
            )
            watching.trial_finished(result)
            figures = result.measurement.figures if result.measurement else {}
            runs.append(
                {
                    "status": str(result.status),
                    "message": result.message,
                    "figures": figures,
                    "output": output,
                }
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
            "runs": runs,
        }


def _refuse_invalid(engine: Engine, subject: _Subject) -> None:
    """Refuses options that RocksDB does: in a study that ends a trial, but here the user has named them."""
    try:
        engine.check(subject.experiment, subject.configuration)
    except RunFailed as failed:
        raise UserError(failed.message) from None


def _measured(
    engine: Engine, experiment: Experiment, trial: Trial, seed: int, observer: Observer
) -> tuple[Result, str]:
    """Returns what came of a trial, and what the user's own program printed."""
    try:
        loaded = experiment.loaded_by(trial.configuration)
        opened = engine.open(loaded, trial.configuration, seed, observer.progress)
        with closing(opened):
            measurement = opened.advance(trial.until_s, observer.progress)
        return Result(trial, Status.OK, measurement), str(measurement.raw.get("output", ""))
    except RunFailed as failed:
        return Result(trial, failed.status, None, failed.message), failed.output


def _subject(request: StudyRequest, spec: EngineSpec, options: Mapping[str, str]) -> _Subject:
    found = conditions_of(
        request,
        spec,
        lambda: own_options_file(request.options_file, request.engine == "command", request.rocksdb),
    )
    load, place, scale, base = (found[name] for name in ("workload", "device", "scale", "base_options"))
    entries = expected_entries(load, place)
    chosen = space_from_document(found["space"], found["memory_bytes"], entries, base)
    knobs = {knob.name: knob for knob in chosen.knobs}
    tuned = {name: text for name, text in options.items() if name in knobs}
    other = {name: text for name, text in options.items() if name not in knobs}
    values = {name: knobs[name].parse(text) for name, text in tuned.items()}
    for name, value in values.items():
        knobs[name].check(value)
    changes = options_by_section(other, knobs)
    if base is None:
        configuration = chosen.default().replaced(values)
        chosen.validate(configuration)
        subject = _Subject(Experiment(load, place, scale, chosen.over(changes), changes), configuration)
        _refuse_derived(changes, run_options(subject.experiment, configuration))
        return subject
    for name, value in values.items():
        section = changes.setdefault(knobs[name].section, {})
        section[knobs[name].option_name] = knobs[name].text(value)
    # What is said of the file holds without the single options, which are named after it.
    notes = terms_sentences(found["own_terms"], found["memory_bytes"], chosen.memory_shares(base), base)
    if options:
        changed = ", ".join(f"{name}={text}" for name, text in options.items())
        notes.append(f"Changed from the OPTIONS file, as you asked: {changed}.")
    experiment = Experiment(load, place, scale, chosen, merged_options(base, changes))
    return _Subject(experiment, Configuration({}), tuple(notes))


def _refuse_derived(given: OptionMaps, options: OptionMaps) -> None:
    """Refuses an option that follows from others, and so would not have the value that the user gave."""
    for section, texts in given.items():
        for name, text in texts.items():
            if options[section][name] != text:
                raise UserError(
                    f"{name}: follows from the memory budget, would be {options[section][name]}; "
                    "set --memory or give an OPTIONS file"
                )
