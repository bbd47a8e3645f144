"""One cluster of two workers and one session on it for all tests here; what they share is a folder of this machine."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.cluster.standalone import Cluster, cluster
from tests.docs.pages import ROOT, blocks, run_block


@pytest.fixture(scope="session")
def running() -> Iterator[Cluster]:
    with cluster(workers=2) as found:
        yield found


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="session")
def cluster_spark(running: Cluster, kernels: Path) -> Iterator[Any]:
    from dovetail.runtime.spark.session import spark_session

    settings = {
        "spark.master": running.master,
        "spark.driver.host": "127.0.0.1",
        "spark.executor.cores": "1",
        "spark.executor.memory": "1g",
        "spark.executorEnv.XDG_CACHE_HOME": str(kernels),
    }
    session = spark_session(cores=2, name="cluster tests", settings=settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def page(cluster_spark: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[str, str]]:
    """The page on clusters, run: by line, what it printed and what it shows. It is the page that ships the package."""
    path = ROOT / "docs" / "how-to" / "cluster.md"
    namespace = {"__name__": "__main__", "spark": cluster_spark}
    with contextlib.chdir(tmp_path_factory.mktemp("page")):
        found = [block for block in blocks(path) if block.language == "python"]
        return {block.line: (run_block(block, path, namespace), block.prints or "") for block in found}
