"""Exports to a C++ header with a function that sets the options."""

import json

from rocktune.errors import UserError
from rocktune.export.rules import translated
from rocktune.export.target import Found, Target, head
from rocktune.systems.rules import Rule, Settings, named
from rocktune.systems.typed_options import ENUMERATIONS, TYPES
from rocktune.systems.values import (
    INT_MAX,
    LONG_MAX,
    UNSIGNED_LONG_MAX,
    NotExpressibleError,
    Writer,
    choice,
    decimal,
    filter_in,
    switch,
    whole,
)

_PARSERS = {
    "db": ("DBOptions", "*options", "options"),
    "cf": ("ColumnFamilyOptions", "*options", "options"),
    "table": ("BlockBasedTableOptions", "table", "&table"),
}
"""By section: RocksDB's type, the base of its parser, and the target of the result."""


def _long(text: str) -> str:
    """Returns a number as a C++ literal, with a suffix where it needs one."""
    written = whole(-LONG_MAX, UNSIGNED_LONG_MAX)(text)
    return written if int(written) <= LONG_MAX else f"{written}ull"


def _writer(kind: str) -> Writer:
    """Returns the writer that turns an option's text into a C++ expression of a type of `TYPES`."""
    if kind in ENUMERATIONS:
        return choice({name: f"rocksdb::{name}" for name in ENUMERATIONS[kind]})
    writers: dict[str, Writer] = {
        "int": whole(-INT_MAX, INT_MAX),
        "long": _long,
        "double": decimal,
        "boolean": switch(),
    }
    return writers[kind]


def _block_cache(text: str) -> Settings:
    """Returns the C++ expression that makes a block cache of the option's capacity."""
    return {"block_cache": f"rocksdb::NewLRUCache({whole(0, LONG_MAX)(text)})"}


def _filter_policy(text: str) -> Settings:
    """Returns the C++ expression that makes a Bloom filter policy, or none.

    Raises:
        NotExpressibleError: it is a Ribbon filter, whose second parameter only RocksDB's parser reads.
    """
    kind, bits = filter_in(text)
    if kind == "none":
        return {"filter_policy": "nullptr"}
    if kind == "ribbon":
        raise NotExpressibleError("set by RocksDB's parser, which also reads the filter's second parameter")
    policy = f"rocksdb::NewBloomFilterPolicy({decimal(str(bits))})"
    return {"filter_policy": f"std::shared_ptr<const rocksdb::FilterPolicy>({policy})"}


_RULES: dict[str, Rule] = {name: named(name, _writer(kind)) for name, kind in TYPES.items()} | {
    "block_cache": _block_cache,
    "filter_policy": _filter_policy,
}


def _literal(text: str) -> str:
    """Returns text as a C++ string literal.

    Raises:
        UserError: the text has unprintable characters.
    """
    if not text.isprintable():
        raise UserError(f"cpp: the option text {text!r} cannot be written to a C++ file")
    # JSON's escapes of printable text are also C++'s.
    return json.dumps(text, ensure_ascii=False)


def _rest(section: str, texts: Settings) -> list[str]:
    """Returns statements that set options of unknown type through RocksDB's own parser."""
    kind, base, result = _PARSERS[section]
    pairs = [f"{{{_literal(name)}, {_literal(text)}}}" for name, text in texts.items()]
    return [
        "  {",
        f"    const rocksdb::Status status = rocksdb::Get{kind}FromMap(",
        f"        rocksdb::ConfigOptions(), {base},",
        "        {" + ",\n         ".join(pairs) + "},",
        f"        {result});",
        "    if (!status.ok()) return status;",
        "  }",
    ]


def _statements(section: str, texts: Settings) -> list[str]:
    """Returns the statements that set the options of one section."""
    settings = translated(texts, _RULES).settings
    # Nothing is left out in C++: options that we have no type for go through RocksDB's parser as text.
    rest = {name: text for name, text in texts.items() if name not in settings}
    prefix = "table." if section == "table" else "options->"
    statements = [f"  {prefix}{name} = {value};" for name, value in settings.items()]
    return statements + (_rest(section, rest) if rest else [])


def _table_statements(texts: Settings) -> list[str]:
    """Returns the statements that set table options, and keep the application's own that are not tuned."""
    return [
        "  rocksdb::BlockBasedTableOptions table;",
        "  const auto* present = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();",
        "  if (present != nullptr) table = *present;",
        *_statements("table", texts),
        "  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));",
    ]


def _one_family(found: Found) -> list[str]:
    """Returns the function that sets all options of a store with one column family."""
    (own,) = found.families.values()
    return [
        "// Sets the tuned options; all others in `options` stay as they are.",
        "// The status is not OK if RocksDB refuses an option.",
        "inline rocksdb::Status ApplyRocktuneOptions(rocksdb::Options* options) {",
        *_statements("db", found.options.get("db", {})),
        *_statements("cf", own["cf"]),
        *_table_statements(own["table"]),
        "  return rocksdb::Status::OK();",
        "}",
    ]


def _several_families(found: Found) -> list[str]:
    """Returns the functions that set the options of the database and of a column family by its name."""
    shared = "" if found.options.get("cf") else found.options.get("table", {}).get("block_cache", "")
    lines = [
        "// Sets the tuned options of the database; all others in `options` stay as they are.",
        "// The status is not OK if RocksDB refuses an option.",
        "inline rocksdb::Status ApplyRocktuneDatabaseOptions(rocksdb::DBOptions* options) {",
        *_statements("db", found.options.get("db", {})),
        "  return rocksdb::Status::OK();",
        "}",
        "",
        "// Sets the tuned options of a column family; one of another name stays as it is.",
        "inline rocksdb::Status ApplyRocktuneOptions(const std::string& family,",
        "                                            rocksdb::ColumnFamilyOptions* options) {",
    ]
    if shared:
        expression = _block_cache(shared)["block_cache"]
        lines.append(
            f"  static const std::shared_ptr<rocksdb::Cache> cache = {expression};  // of all families"
        )
    for name, own in found.families.items():
        body = [*_statements("cf", own["cf"]), *_table_statements(own["table"])]
        if shared:
            body.insert(-1, "  table.block_cache = cache;")
        lines += [
            f"  if (family == {_literal(name)}) {{",
            *(f"  {line}" if line else line for line in body),
            "  }",
        ]
    return [*lines, "  return rocksdb::Status::OK();", "}"]


def _write(found: Found) -> str:
    """Returns the C++ header."""
    several = len(found.families) > 1
    notes = (
        ["Call ApplyRocktuneOptions for each column family that you open"]
        if several
        else ["Each call makes its own block cache; to share one among stores, copy the table factory"]
    )
    lines = [
        *head(found, "//", "RocksDB's C++ interface, 7.8 to 11", notes, []),
        "#pragma once",
        "",
        *(
            f"#include <rocksdb/{name}.h>"
            for name in ("cache", "convenience", "filter_policy", "options", "status", "table")
        ),
        "",
        "#include <memory>",
        *(["#include <string>"] if several else []),
        "",
        *(_several_families(found) if several else _one_family(found)),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("cpp", "a C++ header with a function that sets the options", _write, holds_families=True)
