"""What stands between Python's objects and the library's handles, strings and callbacks."""

import asyncio
import atexit
import ctypes
import itertools
import logging
import threading
import time

from . import _ctypes_bindings as lib
from .errors import FoundationModelsError, GenerationErrorCode, _status_code_to_exception

logger = logging.getLogger(__name__)


class _ManagedObject:
    """A Python object that has one reference to a handle of the library, and gives it back once."""

    _ptr = None

    def __init__(self, ptr):
        if not ptr:
            raise FoundationModelsError(f"The library made no {type(self).__name__}; standard error says why.")
        self._ptr = ptr

    def _release(self):
        ptr, self._ptr = self._ptr, None
        # At the end of the process the module may be gone before its objects are.
        if ptr and lib is not None:
            lib.FMRelease(ptr)

    def __del__(self):
        self._release()


# Strings.


def _c_string(text, what):
    """The bytes of a text for the library, in which a zero byte would end it early."""
    if not isinstance(text, str):
        raise TypeError(f"The {what} is to be a str, not {type(text).__name__}.")
    if "\0" in text:
        raise _status_code_to_exception(GenerationErrorCode.INVALID_ARGUMENT, f"the {what} contains a NUL character")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _status_code_to_exception(
            GenerationErrorCode.INVALID_ARGUMENT, f"the {what} is not valid Unicode: {error.reason}"
        ) from None


def _take_string(address):
    """The text of a string that the library gave away; None for NULL."""
    if not address:
        return None
    try:
        return ctypes.string_at(address).decode("utf-8")
    finally:
        lib.FMFreeString(address)


class _ErrorReport:
    """A place for the library to tell an error."""

    def __init__(self):
        self._code = ctypes.c_int(0)
        self._text = ctypes.c_void_p()

    @property
    def arguments(self):
        return ctypes.byref(self._code), ctypes.byref(self._text)

    def exception(self, what):
        text = _take_string(self._text.value)
        return _status_code_to_exception(self._code.value, f"{what}: {text}" if text else what)


# Requests under way: what a callback is to find, by the number that the library hands back to it.

_numbers = itertools.count(1)
_active = {}
# Those whose last callback has not come yet, whether or not anyone still waits for it.
_expected = set()
_lock = threading.Lock()


def _register_handle(obj):
    """Keeps an object for a callback; the library is given what this returns as `userInfo`."""
    with _lock:
        number = next(_numbers)
        _active[number] = obj
        _expected.add(number)
    return ctypes.c_void_p(number)


def _callback_came(handle):
    """No more callbacks come for a handle."""
    with _lock:
        _expected.discard(_number(handle))


@atexit.register
def _wait_for_callbacks():
    """Python must not end under a thread of the library that is about to call it. Requests were cancelled by now."""
    end = time.monotonic() + 2
    while _expected and time.monotonic() < end:
        time.sleep(0.002)


def _number(handle):
    return handle.value if isinstance(handle, ctypes.c_void_p) else handle


def _unregister_handle(handle):
    with _lock:
        _active.pop(_number(handle), None)


def _safe_from_handle(handle):
    """The object that was kept under a handle, or None when it is no longer."""
    with _lock:
        return _active.get(_number(handle))


def _settle(future, result=None, error=None):
    """Ends a future from any thread, unless it has ended."""

    def settle():
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(result)

    try:
        future.get_loop().call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop was closed: nobody waits any more.
        pass


def _bytes(address, length):
    return ctypes.string_at(address, length).decode("utf-8") if address else None


@lib.FMLanguageModelSessionResponseCallback
def _session_callback(status, content, length, handle):
    """Ends the future of a request for text."""
    try:
        future = _safe_from_handle(handle)
        if future is None:
            return
        text = _bytes(content, length) or ""
        if status == GenerationErrorCode.SUCCESS:
            _settle(future, result=text)
        else:
            _settle(future, error=_status_code_to_exception(status, text))
    except Exception:
        logger.exception("an answer was lost")
    finally:
        _callback_came(handle)


@lib.FMLanguageModelSessionStructuredResponseCallback
def _session_structured_callback(status, content_ptr, handle):
    """Ends the future of a request for content."""
    from .generable import GeneratedContent

    try:
        content = GeneratedContent(_ptr=content_ptr)
        future = _safe_from_handle(handle)
        if future is None:
            return
        if status == GenerationErrorCode.SUCCESS:
            _settle(future, result=content)
        else:
            _settle(future, error=_status_code_to_exception(status, content.value()))
    except Exception:
        logger.exception("an answer was lost")
    finally:
        _callback_came(handle)


@lib.FMSystemLanguageModelTokenCountCallback
def _token_count_callback(status, count, text, handle):
    """Ends the future of a count."""
    try:
        future = _safe_from_handle(handle)
        if future is None:
            return
        if status == GenerationErrorCode.SUCCESS:
            _settle(future, result=count)
        else:
            _settle(future, error=_status_code_to_exception(status, text and text.decode("utf-8")))
    except Exception:
        logger.exception("a count was lost")
    finally:
        _callback_came(handle)


class _SnapshotQueue:
    """The snapshots of a stream, from the library's threads to a loop: text, an exception, or None at the end."""

    def __init__(self):
        self._loop = asyncio.get_running_loop()
        self._queue = asyncio.Queue()

    def put(self, item):
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)
        except RuntimeError:
            # The loop was closed.
            pass

    async def get(self):
        return await self._queue.get()


@lib.FMLanguageModelSessionResponseCallback
def _stream_callback(status, content, length, handle):
    """Hands a snapshot on."""
    try:
        queue = _safe_from_handle(handle)
        if queue is None:
            return
        text = _bytes(content, length)
        queue.put(text if status == GenerationErrorCode.SUCCESS else _status_code_to_exception(status, text))
    except Exception:
        logger.exception("a snapshot was lost")
    finally:
        if status != GenerationErrorCode.SUCCESS or not content:
            _callback_came(handle)


def _tool_array(tools):
    """The handles of tools, as the library takes them, and how many there are."""
    handles = (ctypes.c_void_p * len(tools))(*[tool._ptr for tool in tools])
    return handles, len(tools)
