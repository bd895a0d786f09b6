"""Which RocksDB options a run gets: the user's file, the configuration laid over it, and the scale."""

from rocktune.engine.base import RunFailed
from rocktune.space import merged_options, scaled_options
from rocktune.space.options import OWN_SECTIONS
from rocktune.space.options_file import NOT_ROCKSDBS
from rocktune.trial import Configuration, Experiment, OptionMaps, Status

_PATHS = ("wal_dir", "db_log_dir", "db_paths", "cf_paths")


def without_paths(options: OptionMaps) -> OptionMaps:
    """Returns the options without those that name places to write, which may be those of a live database."""
    return {
        section: {name: text for name, text in texts.items() if name not in _PATHS}
        for section, texts in options.items()
    }


def run_options(experiment: Experiment, configuration: Configuration) -> OptionMaps:
    """Returns the full-size options that a configuration stands for.

    Its knobs and what the space derives from them are laid over the user's own options, and those over what
    the space pins. The configuration without knobs is the user's options as they stand, and where there are
    none RocksDB's bare defaults.

    Raises:
        UserError: the configuration is not one of the space.
    """
    if not configuration:
        return merged_options(experiment.base_options)
    return experiment.space.with_base_options(experiment.base_options).options(configuration)


def rocksdb_options(experiment: Experiment, configuration: Configuration, engine: str) -> OptionMaps:
    """Returns `run_options` for an engine that knows nothing but RocksDB.

    Raises:
        UserError: the configuration is not one of the space.
        RunFailed: it needs a compaction governor or an FLSM store (status `invalid`).
    """
    options = run_options(experiment, configuration)
    for section, what in OWN_SECTIONS.items():
        if options.get(section):
            settings = ", ".join(f"{section}_{name}" for name in options[section])
            raise RunFailed(Status.INVALID, f"engine '{engine}' has no {what}; leave {settings} out")
    for name in NOT_ROCKSDBS:
        if name in options["db"]:
            message = f"{name}: an OPTIONS file cannot hold it, so engine '{engine}' has it not; leave it out"
            raise RunFailed(Status.INVALID, message)
    return options


def preload_options(experiment: Experiment, configuration: Configuration) -> OptionMaps:
    """Returns the full-size options with which the preloaded base of a configuration is made.

    They are the configuration's own where a knob acts on all files, for those shape what lies on the device
    at age 0, and elsewhere the space's defaults, so that a base does not depend on who came first. The
    user's own options begin on the base of their knobs' values, as every configuration over them does;
    RocksDB's bare defaults have a base of their own. No base is governed: nothing hinders its making; that of
    an FLSM store is one, of the same layout.

    Raises:
        UserError: the configuration is not one of the space.
    """
    if not configuration and any(experiment.base_options.values()):
        laid_over = experiment.space.with_base_options(experiment.base_options)
        configuration = laid_over.configuration_from_options(experiment.base_options)
    own = run_options(experiment, configuration)
    options = run_options(experiment, experiment.space.default()) if configuration else own
    options = {section: texts for section, texts in options.items() if section not in OWN_SECTIONS}
    if "flsm" in own:
        options["flsm"] = own["flsm"]
    for knob in experiment.space.knobs:
        if knob.acts_on == "all_files" and knob.name in configuration:
            options[knob.section][knob.option_name] = own[knob.section][knob.option_name]
    return options


def model_options(options: OptionMaps, effective: OptionMaps, scale: int) -> OptionMaps:
    """Returns the options of the 1/scale model.

    Sizes that `options` leaves to RocksDB's defaults are divided too, and so have to be named.

    Args:
        options: full-size.
        effective: full-size, every option of the linked RocksDB with `options` in force.
        scale: S, at least 1; 1 returns the options as they are.
    """
    divided = {
        section: {
            name: text
            for name, text in texts.items()
            if name in effective[section] and text != effective[section][name]
        }
        for section, texts in scaled_options(effective, scale).items()
    }
    return merged_options(options, divided)
