"""Sessions with the language model on this machine, typed answers, streams and tools.

The names are those of Apple's package for its own systems, so that programs for the one run with the other::

    import asyncio
    import apple_fm_sdk as fm

    async def main():
        session = fm.LanguageModelSession("Answer briefly.")
        print(await session.respond("What is the capital of France?"))

    asyncio.run(main())
"""

from .core import (
    SystemLanguageModel,
    SystemLanguageModelGuardrails,
    SystemLanguageModelUnavailableReason,
    SystemLanguageModelUseCase,
)
from .errors import (
    AssetsUnavailableError,
    ConcurrentRequestsError,
    DecodingFailureError,
    ExceededContextWindowSizeError,
    FoundationModelsError,
    GenerationError,
    GenerationErrorCode,
    GuardrailViolationError,
    InvalidGenerationSchemaError,
    RateLimitedError,
    RefusalError,
    ToolCallError,
    UnsupportedGuideError,
    UnsupportedLanguageOrLocaleError,
)
from .generable import (
    ConvertibleFromGeneratedContent,
    ConvertibleToGeneratedContent,
    Generable,
    GeneratedContent,
    GenerationID,
)
from .generable_utils import generable
from .generation_guide import GenerationGuide, GuideType, guide
from .generation_options import GenerationOptions, SamplingMode, SamplingModeType
from .generation_schema import GenerationSchema
from .prompt import Attachment, ImageAttachment, ImagePromptError, Prompt, PromptComponent, PromptError
from .session import LanguageModelSession
from .tool import Tool
from .transcript import Transcript
from ._version import __version__

__all__ = [
    "AssetsUnavailableError",
    "Attachment",
    "ConcurrentRequestsError",
    "ConvertibleFromGeneratedContent",
    "ConvertibleToGeneratedContent",
    "DecodingFailureError",
    "ExceededContextWindowSizeError",
    "FoundationModelsError",
    "Generable",
    "GeneratedContent",
    "GenerationError",
    "GenerationErrorCode",
    "GenerationGuide",
    "GenerationID",
    "GenerationOptions",
    "GenerationSchema",
    "GuardrailViolationError",
    "GuideType",
    "ImageAttachment",
    "ImagePromptError",
    "InvalidGenerationSchemaError",
    "LanguageModelSession",
    "Prompt",
    "PromptComponent",
    "PromptError",
    "RateLimitedError",
    "RefusalError",
    "SamplingMode",
    "SamplingModeType",
    "SystemLanguageModel",
    "SystemLanguageModelGuardrails",
    "SystemLanguageModelUnavailableReason",
    "SystemLanguageModelUseCase",
    "Tool",
    "ToolCallError",
    "Transcript",
    "UnsupportedGuideError",
    "UnsupportedLanguageOrLocaleError",
    "generable",
    "guide",
]
