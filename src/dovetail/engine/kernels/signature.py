"""The machine types that kernels are compiled for."""

import numpy as np

I8, U8, F8 = "int64[::1]", "uint64[::1]", "float64[::1]"
# Arrow's memory may be read, not written
READ, READ_I4 = "Array(int64, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"
WHERE = "UniTuple(int64, 3)"
MIX = np.uint64(0x9E3779B97F4A7C15)
