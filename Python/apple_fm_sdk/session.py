"""Conversations with the model."""

import asyncio
import json

from . import _ctypes_bindings as lib
from .c_helpers import (
    _c_string,
    _callback_came,
    _ManagedObject,
    _register_handle,
    _session_callback,
    _session_structured_callback,
    _SnapshotQueue,
    _stream_callback,
    _tool_array,
    _unregister_handle,
)
from .generable import Generable
from .prompt import _composed_prompt_from_prompt
from .tool import _BridgedTool, _ToolCalls
from .transcript import Transcript


class LanguageModelSession(_ManagedObject):
    """A conversation. Requests of one session run one after the other; sessions run beside each other."""

    def __init__(self, instructions=None, model=None, tools=None, _ptr=None):
        self._request_lock = asyncio.Lock()
        if _ptr is not None:
            super().__init__(_ptr)
            return
        self._bridge(tools)
        text = _c_string(instructions, "instructions") if instructions else None
        super().__init__(
            lib.FMLanguageModelSessionCreateFromSystemLanguageModel(
                model._ptr if model else None, text, *_tool_array(self._tools)
            )
        )
        self.transcript = Transcript(self._ptr)

    @classmethod
    def from_transcript(cls, transcript, model=None, tools=None):
        """A session that goes on from a transcript. Tools that the transcript speaks of are history: those that the
        model may call are given here."""
        session = cls.__new__(cls)
        session._bridge(tools)
        ptr = lib.FMLanguageModelSessionCreateFromTranscript(
            transcript.session_ptr, model._ptr if model else None, *_tool_array(session._tools)
        )
        session.__init__(_ptr=ptr)
        transcript._update_session_ptr(ptr)
        session.transcript = transcript
        return session

    def _bridge(self, tools):
        """Makes the tools this session's."""
        self._calls = _ToolCalls()
        self._tools = [_BridgedTool(tool, self._calls) for tool in tools or []]

    @property
    def is_responding(self):
        """Whether a request is under way."""
        return lib.FMLanguageModelSessionIsResponding(self._ptr)

    async def respond(self, prompt, generating=None, *, schema=None, json_schema=None, options=None):
        """The answer to a prompt: text; an instance of the `@generable` class `generating`; or a `GeneratedContent` that
        follows `schema`, a `GenerationSchema`, or `json_schema`, a JSON Schema as a dictionary.

        A request that is cancelled leaves the session ready for the next.
        """
        if sum(kind is not None for kind in (generating, schema, json_schema)) > 1:
            raise ValueError("An answer has one form: give only one of 'generating', 'schema' and 'json_schema'.")
        if generating is not None:
            if not isinstance(generating, Generable):
                name = getattr(generating, "__name__", repr(generating))
                raise ValueError(f"{name} is not a Generable type: make it one with @generable.")
            content = await self._respond_with_schema(prompt, generating.generation_schema(), options)
            return generating._from_generated_content(content)
        if schema is not None:
            return await self._respond_with_schema(prompt, schema, options)
        if json_schema is not None:
            return await self._respond_with_schema_from_json(prompt, json_schema, options)
        return await self._respond_basic(prompt, options)

    async def _respond_basic(self, prompt, options=None):
        return await self._request(prompt, options, lib.FMLanguageModelSessionRespond, [], _session_callback)

    async def _respond_with_schema(self, prompt, schema, options=None):
        function = lib.FMLanguageModelSessionRespondWithSchema
        return await self._request(prompt, options, function, [schema._ptr], _session_structured_callback)

    async def _respond_with_schema_from_json(self, prompt, json_schema, options=None):
        text = _c_string(json.dumps(json_schema), "schema")
        function = lib.FMLanguageModelSessionRespondWithSchemaFromJSON
        return await self._request(prompt, options, function, [text], _session_structured_callback)

    async def _request(self, prompt, options, function, form, callback):
        async with self._request_lock:
            loop = asyncio.get_running_loop()
            self._calls.run_on(loop)
            options_json = _options_json(options)
            composed_prompt = self._composed_prompt_from_prompt(prompt)
            future = loop.create_future()
            handle = _register_handle(future)
            task = None
            try:
                task = function(self._ptr, composed_prompt, *form, options_json, handle, callback)
                return await future
            except asyncio.CancelledError:
                if task is not None:
                    lib.FMTaskCancel(task)
                self._calls.cancel()
                await self._until_idle()
                raise
            finally:
                _unregister_handle(handle)
                if task is not None:
                    lib.FMRelease(task)
                else:
                    _callback_came(handle)
                lib.FMRelease(composed_prompt)

    def _composed_prompt_from_prompt(self, prompt):
        return _composed_prompt_from_prompt(prompt)

    async def _until_idle(self):
        """Waits until a cancelled request has ended, at most a second."""
        end = asyncio.get_running_loop().time() + 1
        while self.is_responding and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.005)

    async def stream_response(self, prompt, options=None):
        """The answer to a prompt while it is made: each text holds all that the one before it held.

        Leaving the loop early cancels the request.
        """
        async with self._request_lock:
            self._calls.run_on(asyncio.get_running_loop())
            options_json = _options_json(options)
            composed_prompt = self._composed_prompt_from_prompt(prompt)
            snapshots = _SnapshotQueue()
            handle = _register_handle(snapshots)
            stream = lib.FMLanguageModelSessionStreamResponse(self._ptr, composed_prompt, options_json)
            has_ended = False
            try:
                lib.FMLanguageModelSessionResponseStreamIterate(stream, handle, _stream_callback)
                while (snapshot := await snapshots.get()) is not None:
                    if isinstance(snapshot, Exception):
                        has_ended = True
                        raise snapshot
                    yield snapshot
                has_ended = True
            finally:
                _unregister_handle(handle)
                # Cancels the request unless it has ended.
                lib.FMRelease(stream)
                lib.FMRelease(composed_prompt)
                if not has_ended:
                    self._calls.cancel()
                    await self._until_idle()


def _options_json(options):
    return None if options is None else json.dumps(options.to_dict()).encode("utf-8")
