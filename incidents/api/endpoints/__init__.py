"""The operations of the API, a module for each kind of thing that is asked about. Thin: parse, ask, print."""
