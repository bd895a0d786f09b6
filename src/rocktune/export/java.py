"""Exports to a Java class that sets the options through rocksdbjni."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.export.rules import flat, translated
from rocktune.export.target import Found, Target, head
from rocktune.space import OptionMaps
from rocktune.systems.rules import Rule, Settings, named
from rocktune.systems.typed_options import ENUMERATIONS, TYPES, setter
from rocktune.systems.values import (
    INT_MAX,
    LONG_MAX,
    NotExpressibleError,
    Writer,
    choice,
    decimal,
    filter_in,
    switch,
    whole,
)


@dataclass(frozen=True)
class JavaSource:
    """The parts of a Java class that sets options.

    Attributes:
        imports: classes of org.rocksdb besides Options and BlockBasedTableConfig, sorted.
        fields: "Type name = expression" of the objects that the options refer to; the class must close them.
        statements: statements on `options` and `table`.
        unmapped: one line for each option without a setter in rocksdbjni.
    """

    imports: Sequence[str]
    fields: Sequence[str]
    statements: Sequence[str]
    unmapped: Sequence[str]


def _decimal(text: str) -> str:
    """Returns a number as a Java double."""
    return repr(float(decimal(text)))


def _long(text: str) -> str:
    """Returns a number as a Java long."""
    return whole(-LONG_MAX, LONG_MAX)(text) + "L"


def _writer(kind: str) -> Writer:
    """Returns the writer that turns an option's text into a Java expression of a type of `TYPES`."""
    if kind in ENUMERATIONS:
        return choice({name: f"{kind}.{java}" for name, java in ENUMERATIONS[kind].items()})
    writers: dict[str, Writer] = {
        "int": whole(-INT_MAX, INT_MAX),
        "long": _long,
        "double": _decimal,
        "boolean": switch(),
    }
    return writers[kind]


def _block_cache(text: str) -> Settings:
    """Returns the Java field of a block cache with the option's capacity, and its initial value."""
    return {"Cache cache": f"new LRUCache({_long(text)})"}


def _filter_policy(text: str) -> Settings:
    """Returns the Java field of a Bloom filter, and its initial value; "null" for none.

    Raises:
        NotExpressibleError: it is a Ribbon filter.
    """
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("rocksdbjni has only Bloom filters")
    return {"Filter filter": "null" if kind == "none" else f"new BloomFilter({_decimal(str(bits))})"}


_SETTERS: dict[str, Rule] = {name: named(setter(name), _writer(kind)) for name, kind in TYPES.items()}
_OBJECTS: dict[str, Rule] = {"block_cache": _block_cache, "filter_policy": _filter_policy}
_USES = {
    "Cache cache": ("setBlockCache(cache)", ("Cache", "LRUCache")),
    "Filter filter": ("setFilterPolicy(filter)", ("BloomFilter", "Filter")),
}


def java_source(options: OptionMaps) -> JavaSource:
    """Returns the parts of a Java class that sets the options."""
    objects = translated(flat(options), _OBJECTS).settings
    fields = [f"{field} = {made}" for field, made in objects.items() if made != "null"]
    imports = {name for field in objects for name in _USES[field][1] if objects[field] != "null"}
    statements = []
    for section in ("db", "cf", "table"):
        variable = "table" if section == "table" else "options"
        calls = translated(options.get(section, {}), _SETTERS).settings
        statements += [f"{variable}.{name}({value});" for name, value in calls.items()]
        # Enumeration values are written as Type.NAME, so the type is what to import.
        imports |= {value.split(".")[0] for value in calls.values() if value.split(".")[0] in ENUMERATIONS}
    for field, made in objects.items():
        call = _USES[field][0]
        # A null filter must be set too: Kafka Streams has a Bloom filter by default.
        statements.append(f"table.{call};" if made != "null" else "table.setFilterPolicy(null);")
    unmapped = translated(flat(options), _SETTERS | _OBJECTS).unmapped
    return JavaSource(sorted(imports), fields, statements, unmapped)


def java_head(found: Found, system: str, notes: Sequence[str], unmapped: Sequence[str]) -> list[str]:
    """Returns the comments at the begin of a Java file, in ASCII, since compilers differ in encoding."""
    # A backslash is impossible here (see one_line), so the escapes added below are the only ones.
    lines = head(found, "//", system, notes, unmapped)
    return ["".join(letter if letter.isascii() else _escaped(letter) for letter in line) for line in lines]


def _escaped(letter: str) -> str:
    """Returns a character as Java's escapes of UTF-16."""
    units = letter.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _write(found: Found) -> str:
    """Returns the source of the Java class."""
    source = java_source(found.options)
    notes = [
        "RocktuneOptions owns the objects that the options refer to; close it after the store",
    ]
    if source.unmapped:
        notes.append(
            "rocksdbjni has setters for most options; OptionsUtil.loadOptionsFromFile takes all of them"
            " from an OPTIONS file (rocktune export --to options-file)"
        )
    names = sorted({"BlockBasedTableConfig", "Options", "RocksDB", *source.imports})
    closes = [f"    {field.split()[1]}.close();" for field in source.fields]
    lines = [
        *java_head(found, "rocksdbjni (org.rocksdb), 7.8 to 11", notes, source.unmapped),
        *(f"import org.rocksdb.{name};" for name in names),
        "",
        "public final class RocktuneOptions implements AutoCloseable {",
        "  static {",
        "    RocksDB.loadLibrary();",
        "  }",
        "",
        *(f"  private final {field};" for field in source.fields),
        *([""] if source.fields else []),
        "  /** Sets the tuned options and returns them; all others stay as they are. */",
        "  public Options apply(final Options options) {",
        "    final BlockBasedTableConfig table =",
        "        options.tableFormatConfig() instanceof BlockBasedTableConfig",
        "            ? (BlockBasedTableConfig) options.tableFormatConfig()",
        "            : new BlockBasedTableConfig();",
        *(f"    {statement}" for statement in source.statements),
        "    return options.setTableFormatConfig(table);",
        "  }",
        "",
        "  @Override",
        "  public void close() {",
        *closes,
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("java", "a Java class that sets the options through rocksdbjni", _write)
