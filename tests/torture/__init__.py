"""What takes too long for every test run: `make torture`. The generators are used by bounded tests too."""
