"""Values that older RocksDB releases and people write in another way than the linked RocksDB reads them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocktune.importing.document import Option
from rocktune.importing.examination import LinkedRocksDb
from rocktune.importing.values import nested_text, size_in

_COMPRESSION_FIELDS = (
    "window_bits",
    "level",
    "strategy",
    "max_dict_bytes",
    "zstd_max_train_bytes",
    "parallel_threads",
    "enabled",
    "max_dict_buffer_bytes",
    "use_zstd_dict_trainer",
)
_COMPRESSIONS = {
    "none": "kNoCompression",
    "snappy": "kSnappyCompression",
    "zlib": "kZlibCompression",
    "bzip2": "kBZip2Compression",
    "lz4": "kLZ4Compression",
    "lz4hc": "kLZ4HCCompression",
    "zstd": "kZSTD",
    "kzstdnotfinalcompression": "kZSTD",
}
_ASSUMED_BITS = 10
_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


@dataclass(frozen=True)
class Respelt:
    """A value in the spelling of the linked RocksDB.

    Attributes:
        text: the value.
        why: what the file's spelling was, for the account.
    """

    text: str
    why: str


def respelt(section: str, option: Option, linked: LinkedRocksDb) -> Respelt | None:
    """Returns an option's value as the linked RocksDB spells it; None if the file's spelling is right."""
    special = _SPECIAL.get((section, option.name))
    found = special(option) if special else None
    return found or _plain(option.text, linked.default(section, option.name))


def _plain(text: str, default: str) -> Respelt | None:
    """Respells sizes and booleans, which the option's default shows it to hold."""
    if re.fullmatch(r"\d+", default) and (size := size_in(text)) is not None and not _read_by_rocksdb(text):
        return Respelt(str(size), f"{text} is {size} bytes")
    if default not in ("true", "false") or text in ("true", "false", "0", "1"):
        return None
    switch = _BOOLEANS.get(text.lower())
    return None if switch is None else Respelt(switch, f"{text} is {switch}")


def _read_by_rocksdb(text: str) -> bool:
    return re.fullmatch(r"\d+[KMGTkmgt]", text) is not None


def _filter_policy(option: Option) -> Respelt | None:
    fields = {part.name: part.text for part in option.parts}
    text = fields.get("id", option.text)
    if re.fullmatch(r"bloomfilter:[^:]+:true", text):
        full = text.removesuffix("true") + "false"
        return Respelt(full, "no block-based filters since RocksDB 7.0; it makes full ones of as many bits")
    kind = re.match(r"rocksdb\.(?:internal\.)?(?:Builtin)?\w*?(Bloom|Ribbon)\w*", text)
    if kind:
        name = "bloomfilter:{}:false" if kind[1] == "Bloom" else "ribbonfilter:{}"
        why = f"the file names the filter without its bits; {_ASSUMED_BITS} bits a key are assumed"
        return Respelt(name.format(_ASSUMED_BITS), why)
    if text != option.text and re.match(r"(bloom|ribbon)filter:", text):
        return Respelt(text, "the name holds the settings")
    return None


def _compression_options(option: Option) -> Respelt | None:
    if option.parts or ":" not in option.text:
        return None
    values = option.text.split(":")
    if not 3 <= len(values) <= len(_COMPRESSION_FIELDS):
        return None
    names: tuple[str, ...] = _COMPRESSION_FIELDS
    if len(values) == 6:
        # parallel_threads came later than enabled and stands before it, except where enabled is the last.
        names = (*names[:5], "enabled")
    return Respelt(
        nested_text(dict(zip(names, values, strict=False))), "numbers between colons have names now"
    )


def _fifo(option: Option) -> Respelt | None:
    if not re.fullmatch(r"\d+", option.text):
        return None
    return Respelt(
        nested_text({"max_table_files_size": option.text}), "a number alone is the size of all files"
    )


def _compression(option: Option) -> Respelt | None:
    spelt = [_COMPRESSIONS.get(each.lower(), each) for each in option.text.split(":")]
    text = ":".join(spelt)
    return None if text == option.text else Respelt(text, "RocksDB's names for compression types")


def _read_amplification(option: Option) -> Respelt | None:
    # RocksDB 4.12 to 6.14 wrote eight bytes for a field of four; newer releases read the lower four.
    if not re.fullmatch(r"\d{1,20}", option.text) or not 1 << 32 <= int(option.text) < 1 << 64:
        return None
    return Respelt(
        str(int(option.text) % (1 << 32)),
        "RocksDB 4.12 to 6.14 wrote eight bytes of a field of four; newer ones read the lower four",
    )


_SPECIAL: Mapping[tuple[str, str], Callable[[Option], Respelt | None]] = {
    ("table", "filter_policy"): _filter_policy,
    ("table", "read_amp_bytes_per_bit"): _read_amplification,
    ("cf", "compression_opts"): _compression_options,
    ("cf", "bottommost_compression_opts"): _compression_options,
    ("cf", "compaction_options_fifo"): _fifo,
    ("cf", "compression"): _compression,
    ("cf", "bottommost_compression"): _compression,
    ("cf", "compression_per_level"): _compression,
    ("cf", "blob_compression_type"): _compression,
}


@dataclass(frozen=True)
class FamilyTexts:
    """The options of one column family in a file, for conversions that depend on another option.

    Attributes:
        given: values by section and name.
        linked: the RocksDB whose defaults hold for absent options.
    """

    given: Mapping[tuple[str, str], str]
    linked: LinkedRocksDb

    def number(self, name: str) -> int:
        """Returns a whole number of section "cf": the file's, or the linked RocksDB's default."""
        text = self.given.get(("cf", name), self.linked.default("cf", name))
        size = size_in(text)
        return size if size is not None else int(text) if re.fullmatch(r"-?\d{1,20}", text) else 0


def carried_over(path: str, text: str, texts: FamilyTexts) -> str | None:
    """Returns the value that the option in place of a gone one gets; None if it cannot be carried over.

    Args:
        path: section and name of the gone option, such as "cf.memtable_prefix_bloom_bits".
        text: its value.
        texts: what else the file gives.
    """
    convert = _CONVERSIONS.get(path)
    if convert is None:
        return text
    if not re.fullmatch(r"-?\d{1,20}", text):
        return None
    return convert(int(text), texts)


def _bloom_ratio(bits: int, texts: FamilyTexts) -> str | None:
    buffer_bytes = texts.number("write_buffer_size")
    # RocksDB caps the ratio at a quarter of the write buffer.
    return f"{min(0.25, bits / 8 / buffer_bytes):.6f}" if buffer_bytes > 0 <= bits else None


def _compaction_bytes(factor: int, texts: FamilyTexts) -> str | None:
    return str(factor * texts.number("target_file_size_base")) if factor > 0 else None


def _history_bytes(memtables: int, texts: FamilyTexts) -> str | None:
    if memtables < 0:
        return "-1"
    return str(memtables * texts.number("write_buffer_size"))


def _ttl(seconds: int, _: FamilyTexts) -> str | None:
    # 0 was "none" for FIFO alone, while the column family's option has a default that depends on its style.
    return str(seconds) if seconds > 0 else None


_CONVERSIONS: Mapping[str, Callable[[int, FamilyTexts], str | None]] = {
    "cf.memtable_prefix_bloom_bits": _bloom_ratio,
    "cf.expanded_compaction_factor": _compaction_bytes,
    "cf.max_write_buffer_number_to_maintain": _history_bytes,
    "cf.compaction_options_fifo.ttl": _ttl,
}
