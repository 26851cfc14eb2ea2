"""The library for programs that read for people: a Model Context Protocol server, read-only, six tools."""
