"""What Spark is given: it declares the state, and loads the operator when the first rows come.

    driver, at each start      init                     only the variables are wanted; no engine is imported
    worker, in each batch      init, then rows          the operator is unpacked, and does the work

The driver's process is a new one for every start of a query; with the engine and its kernels it takes three times as
long to get ready.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from dovetail.runtime.spark.hush import hush
from dovetail.runtime.spark.variables import state_variables

if TYPE_CHECKING:
    import pandas as pd

    from dovetail.runtime.spark.operator import Job, JoinOperator
    from dovetail.runtime.spark.output import Output


class JoinProcessor(StatefulProcessor):
    """Spark calls this once per bucket and batch."""

    def __init__(self, job: "Job", output: "Output") -> None:
        self._spills = job.spills
        self._packed: bytes = cloudpickle.dumps((job, output))  # type: ignore[no-untyped-call]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """It has come to the process in which it is wanted."""
        self.__dict__.update(state)
        hush()

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state variables."""
        self._variables = state_variables(handle, self._spills)

    @cached_property
    def _operator(self) -> "JoinOperator":
        from dovetail.runtime.spark.operator import JoinOperator

        job, output = cloudpickle.loads(self._packed)
        return JoinOperator(job, output, self._variables)

    def handleInitialState(  # noqa: N802
        self,
        key: tuple[Any, ...],
        initialState: "pd.DataFrame",  # noqa: N803
        timerValues: TimerValues,  # noqa: N803
    ) -> None:
        """Rows of static inputs, before the first batch."""
        self._operator.begin(int(key[0]), initialState)

    def handleInputRows(  # noqa: N802
        self,
        key: tuple[Any, ...],
        rows: Iterable["pd.DataFrame"],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator["pd.DataFrame"]:
        """One batch of one bucket."""
        return self._operator.process(int(key[0]), rows)

    def close(self) -> None:
        """Nothing to release: engines stay in the cache for the next batch."""
