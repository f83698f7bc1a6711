"""Tools: code of the program that the model can call."""

import asyncio
import inspect
import logging
import threading
from abc import ABC, abstractmethod

from . import _ctypes_bindings as lib
from .c_helpers import _c_string, _ErrorReport, _ManagedObject
from .generable import GeneratedContent
from .generation_schema import GenerationSchema

logger = logging.getLogger(__name__)


class Tool(ABC):
    """A function that the model can call. A subclass gives `name`, `description`, `arguments_schema` and `call`.

    Calls run as tasks on the event loop of the request that they belong to, and are cancelled with it. What `call` raises is told
    to the model, as "Tool error: ...".
    """

    name: str
    description: str

    @property
    @abstractmethod
    def arguments_schema(self):
        """The schema of the arguments."""

    @abstractmethod
    async def call(self, args):
        """Carries out a call with `args`, a `GeneratedContent`, and returns the text for the model."""

    def __init__(self):
        self._verify()
        # Of no session: for counting tokens, and so that what is wrong with the schema shows where the tool is made.
        self._bridge = _BridgedTool(self, None)

    @property
    def _ptr(self):
        return self._bridge._ptr

    def _verify(self):
        for attribute in ("name", "description", "arguments_schema", "call"):
            assert hasattr(self, attribute), f"{type(self).__name__} has no '{attribute}', which a tool needs."
        for attribute in ("name", "description"):
            value = getattr(self, attribute)
            if not isinstance(value, str):
                raise TypeError(f"The {attribute} of {type(self).__name__} is to be a str, not {type(value).__name__}.")
        if not isinstance(self.arguments_schema, GenerationSchema):
            raise TypeError(f"The arguments_schema of {type(self).__name__} is to be a GenerationSchema.")
        if not inspect.iscoroutinefunction(self.call):
            raise TypeError(f"{type(self).__name__}.call is to be an async function.")


class _BridgedTool(_ManagedObject):
    """A tool as one session has it: its calls run on the loop of the session's request."""

    def __init__(self, tool, calls):
        # The callback keeps what it needs and not this object, which would keep itself that way.
        handle = []
        schema = tool.arguments_schema

        def callback(content_ptr, call_id):
            try:
                arguments = GeneratedContent(_ptr=content_ptr)
                if calls is None:
                    raise RuntimeError("the tool has no session")
                calls.begin(tool, arguments, lambda output: _finish(handle[0], call_id, output))
            except Exception as error:
                _finish(handle[0], call_id, f"Tool error: {error}")

        # Lives as long as the handle: the library calls no tool whose handle was released.
        self._callback = lib.FMBridgedToolCallback(callback)
        report = _ErrorReport()
        ptr = lib.FMBridgedToolCreate(
            _c_string(tool.name, "name of the tool"),
            _c_string(tool.description, "description of the tool"),
            schema._ptr,
            self._callback,
            *report.arguments,
        )
        if not ptr:
            raise report.exception(f"the tool '{tool.name}' cannot be made")
        handle.append(ptr)
        super().__init__(ptr)


def _finish(handle, call_id, output):
    data = output.encode("utf-8", errors="replace").replace(b"\0", b"\xef\xbf\xbd")
    lib.FMBridgedToolFinishCall(handle, call_id, data)


class _ToolCalls:
    """The calls of one session's tools that are under way."""

    def __init__(self):
        self._lock = threading.Lock()
        self._loop = None
        self._tasks = set()

    def run_on(self, loop):
        """Calls from now on run on this loop."""
        self._loop = loop

    def begin(self, tool, arguments, finish):
        """Begins a call, from any thread."""
        loop = self._loop
        if loop is None or loop.is_closed():
            raise RuntimeError("the event loop of the request was closed")
        loop.call_soon_threadsafe(self._start, tool, arguments, finish)

    def _start(self, tool, arguments, finish):
        task = self._loop.create_task(_called(tool, arguments, finish))
        with self._lock:
            self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task):
        with self._lock:
            self._tasks.discard(task)

    def cancel(self):
        """Cancels the calls, whose request was."""
        with self._lock:
            tasks = list(self._tasks)
        for task in tasks:
            task.cancel()


async def _called(tool, arguments, finish):
    try:
        output = await tool.call(arguments)
        finish(output if isinstance(output, str) else str(output))
    except asyncio.CancelledError:
        finish("Tool error: the call was cancelled")
        raise
    except Exception as error:
        finish(f"Tool error: {error}")
