"""The library's entry points, which Sources/CFoundationModels/FoundationModels.h declares.

The library is `FM_LIBRARY` when that is set, else the one that was installed with this package, else, in a checkout, the one
that `swift build` made.
"""

import ctypes
import os
import pathlib

_NAME = "libFoundationModelsC.so"


def _find():
    chosen = os.environ.get("FM_LIBRARY")
    if chosen:
        return chosen
    package = pathlib.Path(__file__).resolve().parent
    places = [package / "lib" / _NAME]
    places += [package.parents[1] / ".build" / kind / _NAME for kind in ("release", "debug")]
    for place in places:
        if place.is_file():
            return str(place)
    raise ImportError(
        f"There is no {_NAME}. Install the package with 'pip install .' in a checkout of the Swift package, or set "
        "FM_LIBRARY to the file."
    )


try:
    _library = ctypes.CDLL(_find())
except OSError as error:
    raise ImportError(f"The library cannot be loaded: {error}") from error

_handle = ctypes.c_void_p
_text = ctypes.c_char_p
# Text that is the receiver's: as an address, so that it can be freed.
_owned = ctypes.c_void_p
_user = ctypes.c_void_p
_int = ctypes.c_int
_error_code = ctypes.POINTER(ctypes.c_int)
_error_text = ctypes.POINTER(ctypes.c_void_p)

FMLanguageModelSessionResponseCallback = ctypes.CFUNCTYPE(None, _int, _owned, ctypes.c_size_t, _user)
FMLanguageModelSessionStructuredResponseCallback = ctypes.CFUNCTYPE(None, _int, _handle, _user)
FMSystemLanguageModelTokenCountCallback = ctypes.CFUNCTYPE(None, _int, _int, _text, _user)
FMBridgedToolCallback = ctypes.CFUNCTYPE(None, _handle, ctypes.c_uint)

FMComposedPromptAddImageErrorNone = 0
FMComposedPromptAddImageErrorUnsupportedOS = 1
FMComposedPromptAddImageErrorUnsupportedSDK = 2
FMComposedPromptAddImageErrorUnknown = 3

_tools = ctypes.POINTER(_handle)
_image_error = ctypes.POINTER(_int)
_answer = FMLanguageModelSessionResponseCallback
_content = FMLanguageModelSessionStructuredResponseCallback
_count = FMSystemLanguageModelTokenCountCallback

# What each function gives and takes.
_SIGNATURES = {
    "FMSystemLanguageModelGetDefault": (_handle, []),
    "FMSystemLanguageModelCreate": (_handle, [_int, _int]),
    "FMSystemLanguageModelIsAvailable": (ctypes.c_bool, [_handle, ctypes.POINTER(_int)]),
    "FMSystemLanguageModelGetContextSize": (_int, [_handle]),
    "FMSystemLanguageModelTokenCountForPrompt": (_handle, [_handle, _handle, _user, _count]),
    "FMSystemLanguageModelTokenCountForInstructions": (_handle, [_handle, _text, _user, _count]),
    "FMSystemLanguageModelTokenCountForTools": (_handle, [_handle, _tools, _int, _user, _count]),
    "FMSystemLanguageModelTokenCountForSchema": (_handle, [_handle, _handle, _user, _count]),
    "FMSystemLanguageModelTokenCountForTranscript": (_handle, [_handle, _handle, _user, _count]),
    "FMComposedPromptInitialize": (_handle, []),
    "FMComposedPromptAddText": (None, [_handle, _text]),
    "FMComposedPromptAddImage": (ctypes.c_bool, [_handle, _text, _image_error]),
    "FMComposedPromptAddIdentifiedImage": (ctypes.c_bool, [_handle, _text, _text, _image_error]),
    "FMComposedPromptAddAttachment": (ctypes.c_bool, [_handle, _text, _text, _image_error]),
    "FMLanguageModelSessionCreateDefault": (_handle, []),
    "FMLanguageModelSessionCreateFromSystemLanguageModel": (_handle, [_handle, _text, _tools, _int]),
    "FMLanguageModelSessionCreateFromTranscript": (_handle, [_handle, _handle, _tools, _int]),
    "FMLanguageModelSessionIsResponding": (ctypes.c_bool, [_handle]),
    "FMLanguageModelSessionReset": (None, [_handle]),
    "FMTranscriptCreateFromJSONString": (_handle, [_text, _error_code, _error_text]),
    "FMLanguageModelSessionGetTranscriptJSONString": (_owned, [_handle, _error_code, _error_text]),
    "FMLanguageModelSessionRespond": (_handle, [_handle, _handle, _text, _user, _answer]),
    "FMLanguageModelSessionRespondWithSchema": (_handle, [_handle, _handle, _handle, _text, _user, _content]),
    "FMLanguageModelSessionRespondWithSchemaFromJSON": (_handle, [_handle, _handle, _text, _text, _user, _content]),
    "FMLanguageModelSessionStreamResponse": (_handle, [_handle, _handle, _text]),
    "FMLanguageModelSessionResponseStreamIterate": (None, [_handle, _user, _answer]),
    "FMTaskCancel": (None, [_handle]),
    "FMGenerationSchemaCreate": (_handle, [_text, _text]),
    "FMGenerationSchemaPropertyCreate": (_handle, [_text, _text, _text, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddAnyOfGuide": (None, [_handle, ctypes.POINTER(_text), _int, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddCountGuide": (None, [_handle, _int, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddMaximumGuide": (None, [_handle, ctypes.c_double, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddMinimumGuide": (None, [_handle, ctypes.c_double, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddMinItemsGuide": (None, [_handle, _int]),
    "FMGenerationSchemaPropertyAddMaxItemsGuide": (None, [_handle, _int]),
    "FMGenerationSchemaPropertyAddRangeGuide": (None, [_handle, ctypes.c_double, ctypes.c_double, ctypes.c_bool]),
    "FMGenerationSchemaPropertyAddRegex": (None, [_handle, _text, ctypes.c_bool]),
    "FMGenerationSchemaAddProperty": (None, [_handle, _handle]),
    "FMGenerationSchemaAddReferenceSchema": (None, [_handle, _handle]),
    "FMGenerationSchemaGetJSONString": (_owned, [_handle, _error_code, _error_text]),
    "FMGeneratedContentCreateFromJSON": (_handle, [_text, _error_code, _error_text]),
    "FMGeneratedContentGetJSONString": (_owned, [_handle]),
    "FMGeneratedContentGetPropertyValue": (_owned, [_handle, _text, _error_code, _error_text]),
    "FMGeneratedContentIsComplete": (ctypes.c_bool, [_handle]),
    "FMBridgedToolCreate": (_handle, [_text, _text, _handle, FMBridgedToolCallback, _error_code, _error_text]),
    "FMBridgedToolFinishCall": (None, [_handle, ctypes.c_uint, _text]),
    "FMRetain": (None, [_handle]),
    "FMRelease": (None, [_handle]),
    "FMFreeString": (None, [_owned]),
}

for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_library, _name)
    _function.restype = _result
    _function.argtypes = _arguments
    globals()[_name] = _function
