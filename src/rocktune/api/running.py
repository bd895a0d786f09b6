"""Measuring one configuration."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune.api.engines import opened_engine, own_options
from rocktune.device import load_device
from rocktune.engine import EmbeddedSpec, Engine, OptionsChecker, RunFailed, run_options
from rocktune.errors import UserError, unknown_name
from rocktune.space import CATALOGUE, Configuration, OptionMaps, load_space, merged_options
from rocktune.study import Observer
from rocktune.study.problem import expected_entries
from rocktune.study.request import DEFAULT_SCALE, require_workload
from rocktune.study.seeds import seed_of
from rocktune.trial import Experiment, Result, Status, Trial
from rocktune.units import format_scale, parse_bytes, parse_scale, parse_seconds
from rocktune.workload import load_workload

FULL_SIZE_S = 120.0
"""How long a run lasts at full size, unless the user says otherwise."""


@dataclass(frozen=True)
class _Subject:
    """What is measured."""

    experiment: Experiment
    configuration: Configuration


def run(
    *,
    workload: str | None = None,
    device: str | None = None,
    space: str | None = None,
    scale: str | None = None,
    memory: str | int | None = None,
    options: Mapping[str, str] | None = None,
    options_file: str | Path | None = None,
    seconds: str | float | None = None,
    repeat: int = 1,
    seed: int | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Measures one configuration in fresh runs.

    It is the user's OPTIONS file, or without one the space's default (the tuning guide's), with single
    options changed. Nothing is recorded.

    Args:
        workload: a name or file.
        device: a name or file; the machine's own storage by default.
        space: a name or file; "dremel" by default.
        scale: "1/S"; 1/32 by default.
        memory: the memory budget at full size; of no effect on an OPTIONS file, which has a cache of its own.
        options: RocksDB's options or the space's knobs, by name, as text, at full size.
        options_file: an OPTIONS file.
        seconds: how long each run lasts; by default 120 s divided by S.
        repeat: how many runs, each with random numbers of its own.
        seed: decides them; 1 by default.
        observer: is told what happens.

    Returns:
        `configuration`, `options` (full size), `scale`, `seconds`, `seed`, `engine`, `workload`, `device`,
        and `runs`: for each its `status`, `message` and `figures` (empty for a failed one).

    Raises:
        UserError: something given is wrong, or this machine lacks what it takes.
    """
    divisor = DEFAULT_SCALE if scale is None else parse_scale(scale)
    seconds_s = FULL_SIZE_S / divisor if seconds is None else parse_seconds(seconds, "seconds")
    if repeat < 1:
        raise UserError(f"repeat: {repeat} is not above 0")
    subject = _subject(workload, device, space, divisor, memory, options or {}, options_file)
    first_seed, watching = 1 if seed is None else seed, observer or Observer()
    if first_seed < 0:
        raise UserError(f"seed: {first_seed} is negative")
    with opened_engine(EmbeddedSpec()) as engine:
        _refuse_invalid(engine, subject)
        watching.estimated(repeat * seconds_s)
        watching.phase_started("run", repeat * seconds_s)
        runs = []
        for replicate in range(repeat):
            trial = Trial(subject.configuration, seconds_s, replicate)
            watching.trial_started(trial, replicate, repeat)
            result = _measured(engine, subject.experiment, trial, seed_of(first_seed, replicate), watching)
            watching.trial_finished(result)
            figures = result.measurement.figures if result.measurement else {}
            runs.append({"status": str(result.status), "message": result.message, "figures": figures})
        return {
            "workload": subject.experiment.workload.name,
            "device": subject.experiment.device.name,
            "scale": format_scale(divisor),
            "seconds": seconds_s,
            "seed": first_seed,
            "engine": engine.version,
            "configuration": dict(subject.configuration),
            "options": run_options(subject.experiment, subject.configuration),
            "runs": runs,
        }


def _refuse_invalid(engine: Engine, subject: _Subject) -> None:
    """Refuses options that RocksDB does: in a study that ends a trial, but here the user has named them."""
    try:
        engine.check(subject.experiment, subject.configuration)
    except RunFailed as failed:
        raise UserError(failed.message) from None


def _measured(engine: Engine, experiment: Experiment, trial: Trial, seed: int, observer: Observer) -> Result:
    try:
        opened = engine.open(experiment, trial.configuration, seed, observer.progress)
        with closing(opened):
            return Result(trial, Status.OK, opened.advance(trial.until_s, observer.progress))
    except RunFailed as failed:
        return Result(trial, failed.status, None, failed.message)


def _subject(
    workload: str | None,
    device: str | None,
    space: str | None,
    scale: int,
    memory: str | int | None,
    options: Mapping[str, str],
    options_file: str | Path | None,
) -> _Subject:
    load, place = load_workload(require_workload(workload)), load_device(device or "none")
    memory_bytes = None if memory is None else parse_bytes(memory, "memory")
    chosen = load_space(space or "dremel", memory_bytes, expected_entries(load, place))
    base = own_options(options_file)
    knobs = {knob.name: knob for knob in chosen.knobs}
    tuned = {name: text for name, text in options.items() if name in knobs}
    other = {name: text for name, text in options.items() if name not in knobs}
    values = {name: knobs[name].parse(text) for name, text in tuned.items()}
    for name, value in values.items():
        knobs[name].check(value)
    changes = _option_maps(other, [*knobs, *CATALOGUE])
    if base is None:
        configuration = chosen.default().replaced(values)
        chosen.validate(configuration)
        subject = _Subject(Experiment(load, place, scale, chosen.over(changes), changes), configuration)
        _refuse_derived(changes, run_options(subject.experiment, configuration))
        return subject
    for name, value in values.items():
        changes[knobs[name].section][knobs[name].option_name] = knobs[name].text(value)
    return _Subject(Experiment(load, place, scale, chosen, merged_options(base, changes)), Configuration({}))


def _refuse_derived(given: OptionMaps, options: OptionMaps) -> None:
    """Refuses an option that follows from others, and so would not have the value that the user gave."""
    for section, texts in given.items():
        for name, text in texts.items():
            if options[section][name] != text:
                raise UserError(
                    f"{name}: follows from the memory budget, would be {options[section][name]}; "
                    "set --memory or give an OPTIONS file"
                )


def _option_maps(options: Mapping[str, str], known: list[str]) -> OptionMaps:
    """Sorts options that are no knobs by section: catalogued ones, and whatever else the linked RocksDB has.

    Raises:
        UserError: there is no such option, or the text is no value of a catalogued one.
    """
    maps: OptionMaps = {"db": {}, "cf": {}, "table": {}}
    foreign = [name for name in options if name not in CATALOGUE]
    sections = _all_sections() if foreign else {}
    for name in foreign:
        if name not in sections:
            raise unknown_name("option", name, {*known, *sections})
        maps[sections[name]][name] = options[name]
    for name in options.keys() - set(foreign):
        knob = CATALOGUE[name]
        value = knob.parse(options[name])
        knob.check(value)
        maps[knob.section][knob.option_name] = knob.text(value)
    return maps


def _all_sections() -> dict[str, str]:
    with closing(OptionsChecker()) as checker:
        effective = checker.effective({"db": {}, "cf": {}, "table": {}})
        return {name: section for section, texts in effective.items() for name in texts}
