"""Prints the table in BlockFixtures.swift: two blocks of every element type and the hash of what they stand for.

The values come from the reference implementation in the `gguf` package (`pip install gguf numpy`).
"""

import base64

import numpy
from gguf import GGMLQuantizationType as Type
from gguf import quants

# Type number, block size, block bytes, offsets of half-precision fields.
TYPES = [
    (1, 1, 2, []), (30, 1, 2, []), (2, 32, 18, [0]), (3, 32, 20, [0, 2]), (6, 32, 22, [0]), (7, 32, 24, [0, 2]),
    (8, 32, 34, [0]), (10, 256, 84, [80, 82]), (11, 256, 110, [108]), (12, 256, 144, [0, 2]), (13, 256, 176, [0, 2]),
    (14, 256, 210, [208]), (20, 32, 18, [0]), (23, 256, 136, [0]),
]

random = numpy.random.default_rng(7)
for number, size, length, halves in TYPES:
    count = 2 if size > 1 else 64
    blocks = random.integers(0, 256, size=(count, length), dtype=numpy.uint8)
    for offset in halves:
        blocks[:, offset : offset + 2] = random.standard_normal((count, 1)).astype(numpy.float16).view(numpy.uint8)
    if size == 1:
        numbers = random.standard_normal(count).astype(numpy.float32)
        blocks = numbers.astype(numpy.float16).view(numpy.uint8) if number == 1 else numbers.view(numpy.uint8).reshape(-1, 4)[:, 2:]
    blocks = numpy.ascontiguousarray(blocks).reshape(1, -1)
    values = quants.dequantize(blocks, Type(number)).astype(numpy.float32)
    digest = 0xCBF29CE484222325
    for byte in values.tobytes():    # FNV-1a
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    print(f"    .init(type: {number}, hash: 0x{digest:016x}, blocks: \"{base64.b64encode(blocks.tobytes()).decode()}\"),")
