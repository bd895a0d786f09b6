"""Computes the RocksDB options of a run from the user's OPTIONS file, the configuration and the scale."""

from rocktune.engine.base import RunFailed
from rocktune.space import family_section, merged_options, scaled_options, section_kind
from rocktune.space.options import BLOCK_CACHE, OWN_SECTIONS
from rocktune.space.options_file import NOT_ROCKSDBS
from rocktune.trial import Configuration, Experiment, OptionMaps, Status

_OF_FAMILIES = ("cf", "table")
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
    RocksDB's bare defaults if the user gave none. Other column families have the user's own options, else
    those of the space's default.

    Raises:
        UserError: the configuration is not valid in the space.
    """
    if not configuration:
        return merged_options(experiment.base_options)
    space = experiment.space.with_base_options(experiment.base_options)
    options = space.options(configuration)
    if experiment.workload.families and experiment.family is not None:
        default = space.options(space.default())
        for name in experiment.workload.family_names:
            for kind in _OF_FAMILIES if name != experiment.family else ():
                texts = {option: text for option, text in default[kind].items() if option != BLOCK_CACHE}
                options.setdefault(family_section(kind, name), texts)
    return options


def store_options(experiment: Experiment, options: OptionMaps) -> OptionMaps:
    """Returns the options of the store that the workload loads.

    A workload without families loads the default column family alone, with the options of "cf" and "table".
    Otherwise each family gets its own. The block cache stays that of all families unless one has a cache of
    its own.

    Args:
        experiment: the conditions of the run.
        options: options of `run_options` or `preload_options`.
    """
    names = experiment.workload.family_names
    kept = {
        section: texts
        for section, texts in options.items()
        if ":" not in section or (experiment.workload.families and section.split(":", 1)[1] in names)
    }
    if not experiment.workload.families or experiment.family is None:
        return kept
    own = merged_options(kept)
    cf, table = own.pop("cf"), own.pop("table")
    cache = table.pop(BLOCK_CACHE, None)
    shares = not any(
        BLOCK_CACHE in texts for section, texts in own.items() if section_kind(section) == "table"
    )
    own |= {"cf": {}, "table": {}}
    if cache is not None:
        (own["table"] if shares else table)[BLOCK_CACHE] = cache
    own[family_section("cf", experiment.family)] = cf
    own[family_section("table", experiment.family)] = table
    return own


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
    # Without sections of other column families, which these engines do not load.
    options = store_options(experiment, run_options(experiment, configuration))
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

    Knobs that act on all files are as in the configuration, because they shape the data at age 0. All
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
        if knob.acts_on != "all_files":
            continue
        # An option of an inactive knob is absent, though the default configuration may have it.
        options.get(knob.section, {}).pop(knob.option_name, None)
        if knob.option_name in own.get(knob.section, {}):
            options.setdefault(knob.section, {})[knob.option_name] = own[knob.section][knob.option_name]
    return options


def model_options(options: OptionMaps, effective: OptionMaps, scale: int) -> OptionMaps:
    """Returns the options of the 1/S model: all sizes divided by S.

    Sizes that `options` leaves to RocksDB's defaults are divided too, so the result names them.

    Args:
        options: full-size options that are set.
        effective: full-size values of all options of the linked RocksDB if `options` are set.
        scale: S, at least 1; 1 returns `options` unchanged.
    """
    shares_cache = BLOCK_CACHE in options.get("table", {})
    divided = {
        section: {
            name: text
            for name, text in texts.items()
            if name in effective[section]
            and text != effective[section][name]
            # What RocksDB reports for a family without a cache of its own is the shared one.
            and (
                name != BLOCK_CACHE
                or section == "table"
                or not shares_cache
                or name in options.get(section, {})
            )
        }
        for section, texts in scaled_options(effective, scale).items()
        if section in effective
    }
    return merged_options(options, divided)
