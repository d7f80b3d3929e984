//! Benchmarks of the kernels; see `benches`.
