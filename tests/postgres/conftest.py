"""A primary and its replica for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.cluster import Cluster, primary, replica_of


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    with primary() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def replica(postgres: Cluster) -> Iterator[Cluster]:
    with replica_of(postgres) as cluster:
        yield cluster
