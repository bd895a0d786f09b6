"""Cassandra's names of compressors, and the false positives of its filters, for both directions."""

import math

COMPRESSORS = {
    "kSnappyCompression": "SnappyCompressor",
    "kZlibCompression": "DeflateCompressor",
    "kLZ4Compression": "LZ4Compressor",
    "kZSTD": "ZstdCompressor",
}


def false_positive_chance(bits_per_key: float) -> float:
    """Returns the share of false positives of an optimal Bloom filter: exp(-bits per key * (ln 2)^2)."""
    return math.exp(-bits_per_key * math.log(2) ** 2)


def bits_per_key(chance: float) -> float:
    """Returns the bits per key of an optimal Bloom filter with a share of false positives in (0, 1)."""
    return -math.log(chance) / math.log(2) ** 2
