"""Computes the RocksDB options of a run from the user's OPTIONS file, the configuration and the scale."""

from rocktune.engine.base import RunFailed
from rocktune.space import merged_options, scaled_options
from rocktune.space.options import OWN_SECTIONS
from rocktune.space.options_file import NOT_ROCKSDBS
from rocktune.trial import Configuration, Experiment, OptionMaps, Status

_PATHS = ("wal_dir", "db_log_dir", "db_paths", "cf_paths")


def without_paths(options: OptionMaps) -> OptionMaps:
    """Returns the options without those that name directories, which may belong to a live database."""
    return {
        section: {name: text for name, text in texts.items() if name not in _PATHS}
        for section, texts in options.items()
    }


def run_options(experiment: Experiment, configuration: Configuration) -> OptionMaps:
    """Returns the full-size options that a configuration stands for.

    Knobs and the options derived from them override the user's own options. The user's own options override
    the options that the space pins. The empty configuration stands for the user's options as they are, or for
    RocksDB's bare defaults if the user gave none.

    Raises:
        UserError: the configuration is not valid in the space.
    """
    if not configuration:
        return merged_options(experiment.base_options)
    return experiment.space.with_base_options(experiment.base_options).options(configuration)


def rocksdb_options(experiment: Experiment, configuration: Configuration, engine: str) -> OptionMaps:
    """Returns `run_options` for an engine that supports only RocksDB's own options.

    Args:
        experiment: see `run_options`.
        configuration: see `run_options`.
        engine: the engine's name, for the message.

    Raises:
        UserError: the configuration is not valid in the space.
        RunFailed: the options need a compaction governor or an FLSM store, or include one that an OPTIONS
            file cannot hold (status `invalid`).
    """
    options = run_options(experiment, configuration)
    for section, what in OWN_SECTIONS.items():
        if options.get(section):
            settings = ", ".join(f"{section}_{name}" for name in options[section])
            raise RunFailed(Status.INVALID, f"engine '{engine}' has no {what}; leave {settings} out")
    for name in NOT_ROCKSDBS:
        if name in options["db"]:
            message = (
                f"{name}: engine '{engine}' cannot set it, because an OPTIONS file cannot hold it; "
                "leave it out"
            )
            raise RunFailed(Status.INVALID, message)
    return options


def preload_options(experiment: Experiment, configuration: Configuration) -> OptionMaps:
    """Returns the full-size options with which the preloaded base of a configuration is made.

    Knobs that act on all files have the configuration's values, because they shape the data at age 0. All
    other knobs have the space's defaults, so that a base does not depend on the configuration that is
    measured first. The user's own options begin on the base of the configuration with their knobs' values.
    RocksDB's bare defaults have a base of their own. No governor runs while a base is made. The base of an
    FLSM store is an FLSM store of the same layout.

    Raises:
        UserError: the configuration is not valid in the space.
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
    """Returns the options of the 1/S model: all sizes divided by S.

    Sizes that `options` leaves to RocksDB's defaults are divided too, so the result names them.

    Args:
        options: full-size options that are set.
        effective: full-size values of all options of the linked RocksDB if `options` are set.
        scale: S, at least 1; 1 returns `options` unchanged.
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
