"""What can go wrong, as exceptions."""

from enum import IntEnum


class FoundationModelsError(Exception):
    """The base of all errors of this package."""


class GenerationError(FoundationModelsError):
    """A request failed."""


class ExceededContextWindowSizeError(GenerationError):
    """The conversation has more tokens than the model can read at once. Begin a new session, or a shorter one."""


class AssetsUnavailableError(GenerationError):
    """The model is not there. `SystemLanguageModel.is_available` says why, `fm pull` fetches one."""


class GuardrailViolationError(GenerationError):
    """A safety check stopped the request."""


class UnsupportedGuideError(GenerationError):
    """A guide does not fit the type of its field, or cannot be enforced."""


class UnsupportedLanguageOrLocaleError(GenerationError):
    """The model does not support the language."""


class DecodingFailureError(GenerationError):
    """The text cannot be read as what was asked for."""


class RateLimitedError(GenerationError):
    """The model takes no requests at the moment."""


class ConcurrentRequestsError(GenerationError):
    """The session is already responding."""


class RefusalError(GenerationError):
    """The model declined to answer."""

    def __init__(self, message, debug_description=None, explanation_entries=None):
        super().__init__(message, *([] if debug_description is None else [debug_description]))
        self.explanation_entries = explanation_entries or []


class InvalidGenerationSchemaError(FoundationModelsError):
    """A schema cannot be put together from its parts."""


class ToolCallError(FoundationModelsError):
    """A tool failed."""

    def __init__(self, tool_name, underlying_error):
        super().__init__(f"The tool '{tool_name}' failed: {underlying_error}")
        self.tool_name = tool_name
        self.underlying_error = underlying_error


class GenerationErrorCode(IntEnum):
    """The numbers by which the library tells outcomes apart."""

    SUCCESS = 0
    EXCEEDED_CONTEXT_WINDOW_SIZE = 1
    ASSETS_UNAVAILABLE = 2
    GUARDRAIL_VIOLATION = 3
    UNSUPPORTED_GUIDE = 4
    UNSUPPORTED_LANGUAGE_OR_LOCALE = 5
    DECODING_FAILURE = 6
    RATE_LIMITED = 7
    CONCURRENT_REQUESTS = 8
    REFUSAL = 9
    INVALID_SCHEMA = 10
    INVALID_ARGUMENT = 11
    UNKNOWN_ERROR = 255


# The exception of a status, and what it says before the library's own words.
_KINDS = {
    GenerationErrorCode.EXCEEDED_CONTEXT_WINDOW_SIZE: (ExceededContextWindowSizeError, "The context window is exceeded"),
    GenerationErrorCode.ASSETS_UNAVAILABLE: (AssetsUnavailableError, "There is no model to use"),
    GenerationErrorCode.GUARDRAIL_VIOLATION: (GuardrailViolationError, "A guardrail was violated"),
    GenerationErrorCode.UNSUPPORTED_GUIDE: (UnsupportedGuideError, "A guide is not supported"),
    GenerationErrorCode.UNSUPPORTED_LANGUAGE_OR_LOCALE: (
        UnsupportedLanguageOrLocaleError,
        "The language or locale is not supported",
    ),
    GenerationErrorCode.DECODING_FAILURE: (DecodingFailureError, "The text could not be decoded"),
    GenerationErrorCode.RATE_LIMITED: (RateLimitedError, "The rate of requests is limited"),
    GenerationErrorCode.CONCURRENT_REQUESTS: (ConcurrentRequestsError, "The session is already responding"),
    GenerationErrorCode.REFUSAL: (RefusalError, "The model declined to answer"),
    GenerationErrorCode.INVALID_SCHEMA: (InvalidGenerationSchemaError, "The generation schema is invalid"),
    GenerationErrorCode.INVALID_ARGUMENT: (GenerationError, "An argument is not valid"),
}


def _status_code_to_exception(status_code, debug_description=None):
    """The exception for a status of the library, with what the library said."""
    kind, text = _KINDS.get(status_code, (GenerationError, f"The request failed (status {status_code})"))
    return kind(f"{text}: {debug_description}" if debug_description else f"{text}.")
