"""Random weights that two programs can make alike: the figures here, and the tests of the package in Swift."""


def weights(name, shape, scale, offset):
    """The numbers of a tensor: uniform in offset ± scale, from SplitMix64 seeded with the FNV-1a hash of its name, 16 bits
    each, so that with a scale that is a power of two every one is exact."""
    import numpy as np

    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    state = np.uint64(seed) + np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    top = ((state ^ (state >> np.uint64(31))) >> np.uint64(48)).astype(np.float64)
    return ((top / 32768 - 1) * scale + offset).astype(np.float32).reshape(shape)
