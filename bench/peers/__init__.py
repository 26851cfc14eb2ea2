"""The peers' own programs. They run in the benchmarks' environment and import nothing of the library."""
