"""Prompts: a text, an attachment, or a list of both."""

import ctypes
from abc import ABC, abstractmethod
from pathlib import Path
from typing import List, Union

from . import _ctypes_bindings as lib
from .c_helpers import _c_string


class PromptError(Exception):
    """A prompt cannot be made of what was given."""


class ImagePromptError(PromptError):
    """An image cannot be part of the prompt."""


class Attachment(ABC):
    """Something beside text that goes into a prompt."""

    @abstractmethod
    def add_to_composed_prompt(self, composed_prompt):
        """Adds itself to a prompt of the library."""


class ImageAttachment(Attachment):
    """An image file, with a name by which the text can speak of it."""

    def __init__(self, path, label=None):
        path = Path(path)
        if not path.is_file():
            raise ImagePromptError(f"There is no image file '{path}'.")
        self._path = path
        self._label = label

    def add_to_composed_prompt(self, composed_prompt):
        label = _c_string(self._label, "label of the image") if self._label else None
        problem = ctypes.c_int()
        path = _c_string(str(self._path), "path of the image")
        if lib.FMComposedPromptAddAttachment(composed_prompt, path, label, ctypes.byref(problem)):
            return
        if problem.value == lib.FMComposedPromptAddImageErrorUnsupportedOS:
            raise ImagePromptError("The model of this machine does not read images.")
        raise ImagePromptError(f"The image '{self._path}' cannot be read.")


PromptComponent = Union[str, Attachment]
"""A piece of a prompt."""

Prompt = Union[PromptComponent, List[PromptComponent]]
"""What a session is asked."""


def _composed_prompt_from_prompt(prompt):
    """Makes a prompt of the library, which the caller releases."""
    components = [prompt] if isinstance(prompt, (str, Attachment)) else prompt
    try:
        components = list(components)
    except TypeError:
        raise PromptError(f"A prompt is text, an attachment or a list of both, not {type(prompt).__name__}.") from None
    composed = lib.FMComposedPromptInitialize()
    try:
        for component in components:
            if isinstance(component, str):
                lib.FMComposedPromptAddText(composed, _c_string(component, "prompt"))
            elif isinstance(component, Attachment):
                component.add_to_composed_prompt(composed)
            else:
                raise PromptError(f"A piece of a prompt is text or an attachment, not {type(component).__name__}.")
    except BaseException:
        lib.FMRelease(composed)
        raise
    return composed
