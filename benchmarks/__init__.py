"""Dovetail beside its peers: ``python -m benchmarks`` lists the benchmarks, ``python -m benchmarks NAME`` runs one."""
