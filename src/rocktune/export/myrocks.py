"""Exports to MyRocks' part of my.cnf, for Facebook's MySQL, Percona Server and MariaDB."""

from rocktune.export.rules import THREADS, background_threads, flat, translated, with_background_jobs
from rocktune.export.target import Found, Target, head
from rocktune.space import OptionMaps
from rocktune.space.options import SECTIONS
from rocktune.systems.myrocks import FAMILY, TABLE, VARIABLES
from rocktune.systems.rules import Settings

_NOTES = (
    "rocksdb_default_cf_options and most variables are read-only: changing them needs a restart."
    " rocksdb_override_cf_options overrides it for the column families that it names",
    "It applies to each column family. Each has its own memtables; all share the block cache",
    "Variables with loose_ exist in Facebook's MySQL and in Percona Server; MariaDB skips them",
    "Column-family options that are left out may be added to rocksdb_default_cf_options if the"
    " server's RocksDB knows them",
)


def _threads(found: Found) -> Settings:
    """Returns the numbers of compactions and flushes, if they were set."""
    threads = background_threads(found.options)
    return {} if threads is None else dict(zip(THREADS, map(str, threads), strict=True))


def _family_string(options: OptionMaps) -> str:
    """Returns a column family's options as one text, in RocksDB's own notation."""
    texts = flat(options)
    family = [f"{name}={value}" for name, value in translated(texts, FAMILY).settings.items()]
    table = [f"{name}={value}" for name, value in translated(texts, TABLE).settings.items()]
    if table:
        # Table options are nested in one option.
        family.append(f"block_based_table_factory={{{';'.join(table)}}}")
    return ";".join(family)


def _family_lines(found: Found) -> list[str]:
    """Returns the variables with the options of the default column family and of all others."""
    strings = {name: _family_string(options) for name, options in found.families.items()}
    # A study of one family without a name of its own tunes what each of the server's families gets.
    default = strings.pop("default", "") if len(strings) > 1 else strings.popitem()[1]
    others = ";".join(f"{name}={{{text}}}" for name, text in strings.items() if text)
    return [
        *([f'rocksdb_default_cf_options="{default}"'] if default else []),
        *([f'rocksdb_override_cf_options="{others}"'] if others else []),
    ]


def _write(found: Found) -> str:
    """Returns the [mysqld] section of my.cnf."""
    jobs, thread_notes = with_background_jobs(found.options)
    common = flat({section: texts for section, texts in jobs.items() if section in SECTIONS})
    unmapped = translated(common, {**VARIABLES, **FAMILY, **TABLE}).unmapped
    for name, options in found.families.items():
        if len(found.families) > 1 and name != found.family:
            left = translated(flat(options), {**VARIABLES, **FAMILY, **TABLE}).unmapped
            unmapped += [f"{name}: {line}" for line in left]
    variables = translated(common, VARIABLES).settings
    # MariaDB lacks these variables; mysqld ignores unknown ones with the prefix loose_.
    variables |= {f"loose_rocksdb_{name}": count for name, count in _threads(found).items()}
    lines = [
        *head(
            found,
            "#",
            "MyRocks, my.cnf (Facebook's MySQL 8.0, Percona Server 8.0, MariaDB 10.11)",
            [*_NOTES, *thread_notes],
            unmapped,
        ),
        "",
        "[mysqld]",
        *(f"{name}={value}" for name, value in variables.items()),
        *_family_lines(found),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target(
    "myrocks",
    "MyRocks' variables for my.cnf (MySQL, Percona Server, MariaDB)",
    _write,
    holds_families=True,
)
