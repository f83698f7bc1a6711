"""The model on this machine."""

import asyncio
import ctypes
from enum import IntEnum

from . import _ctypes_bindings as lib
from .c_helpers import (
    _c_string,
    _ManagedObject,
    _register_handle,
    _token_count_callback,
    _tool_array,
    _unregister_handle,
)


class SystemLanguageModelUnavailableReason(IntEnum):
    """Why the model cannot be used."""

    APPLE_INTELLIGENCE_NOT_ENABLED = 0
    """The user switched local models off."""
    DEVICE_NOT_ELIGIBLE = 1
    """The machine has too little memory for any model of the catalogue."""
    MODEL_NOT_READY = 2
    """No model was downloaded yet: `fm pull` does that."""
    UNKNOWN = 0xFF


class SystemLanguageModelUseCase(IntEnum):
    """What the model is used for."""

    GENERAL = 0
    CONTENT_TAGGING = 1


class SystemLanguageModelGuardrails(IntEnum):
    """How strictly prompts and responses are checked."""

    DEFAULT = 0
    PERMISSIVE_CONTENT_TRANSFORMATIONS = 1


class SystemLanguageModel(_ManagedObject):
    """The model on this machine: the default of `fm models`, or the one that FM_MODEL names."""

    def __init__(
        self,
        use_case=SystemLanguageModelUseCase.GENERAL,
        guardrails=SystemLanguageModelGuardrails.DEFAULT,
        _ptr=None,
    ):
        super().__init__(_ptr or lib.FMSystemLanguageModelCreate(use_case.value, guardrails.value))

    def is_available(self):
        """Whether the model can be used, and if not, why: `(True, None)` or `(False, reason)`."""
        reason = ctypes.c_int()
        if lib.FMSystemLanguageModelIsAvailable(self._ptr, ctypes.byref(reason)):
            return True, None
        return False, SystemLanguageModelUnavailableReason(reason.value)

    @property
    def context_size(self):
        """The tokens that the model can read at once, its answer included."""
        return lib.FMSystemLanguageModelGetContextSize(self._ptr)

    async def token_count(self, value=None, *, instructions=None):
        """The tokens of a prompt, a schema, a transcript or a list of tools, or of `instructions`.

        An empty list is an empty prompt.
        """
        from .generation_schema import GenerationSchema
        from .prompt import _composed_prompt_from_prompt
        from .tool import Tool
        from .transcript import Transcript

        if (value is None) == (instructions is None):
            raise ValueError("token_count() takes either a value or instructions.")
        if instructions is not None:
            text = _c_string(instructions, "instructions")
            return await self._count(lib.FMSystemLanguageModelTokenCountForInstructions, text)
        if isinstance(value, GenerationSchema):
            return await self._count(lib.FMSystemLanguageModelTokenCountForSchema, value._ptr)
        if isinstance(value, Transcript):
            return await self._count(lib.FMSystemLanguageModelTokenCountForTranscript, value.session_ptr)
        if isinstance(value, list) and value and all(isinstance(element, Tool) for element in value):
            return await self._count(lib.FMSystemLanguageModelTokenCountForTools, *_tool_array(value))
        prompt = _composed_prompt_from_prompt(value)
        try:
            return await self._count(lib.FMSystemLanguageModelTokenCountForPrompt, prompt)
        finally:
            lib.FMRelease(prompt)

    async def _count(self, function, *subject):
        future = asyncio.get_running_loop().create_future()
        handle = _register_handle(future)
        task = function(self._ptr, *subject, handle, _token_count_callback)
        try:
            return await future
        except asyncio.CancelledError:
            lib.FMTaskCancel(task)
            raise
        finally:
            _unregister_handle(handle)
            lib.FMRelease(task)
