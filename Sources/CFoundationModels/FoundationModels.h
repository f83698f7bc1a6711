// The framework for C: sessions, prompts, typed answers, tools and transcripts of the model on this machine.
//
// The names and signatures are those of the C interface in Apple's open Python package, so that programs for the one can be
// linked with the other. They are implemented by libFoundationModelsC.so (Sources/FoundationModelsC).
//
// Handles
//   A `...Ref` is a handle, not an address: nothing lies behind it for C to read. A function that returns one gives one
//   reference, which FMRelease gives back. A handle that is NULL, was released or is of another kind is an error like any
//   other, never a crash. Handles are not used again after their last release.
// Text
//   Text is UTF-8 and ends with a zero byte. What is not UTF-8 is an error. Strings that are returned as `char *` are the
//   caller's, to be freed with FMFreeString.
// Errors
//   Functions without a place for an error note what was wrong with a prompt, a property or a schema, and the request that uses
//   it fails with that. Functions that return a handle and have no place for an error return NULL.
// Callbacks
//   They come from threads of the library's own, one at a time for each request, and may call any function of this file.

#ifndef FoundationModels_h
#define FoundationModels_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __clang__
#define _Nullable
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef const void *_Nullable FMTaskRef;
typedef const void *_Nullable FMSystemLanguageModelRef;
typedef const void *_Nullable FMLanguageModelSessionRef;
typedef const void *_Nullable FMLanguageModelSessionResponseStreamRef;
typedef const void *_Nullable FMGenerationSchemaRef;
typedef const void *_Nullable FMGeneratedContentRef;
typedef const void *_Nullable FMGenerationSchemaPropertyRef;
typedef const void *_Nullable FMBridgedToolRef;
typedef const void *_Nullable FMComposedPrompt;

// MARK: - Status

// What callbacks and `outErrorCode` tell.
//   0  success
//   1  the conversation exceeds the context window        7  the model takes no requests at the moment
//   2  the model is not available                          8  the session is already responding
//   3  a safety check stopped the request                  9  the model declined to answer
//   4  a guide cannot be enforced                         10  the schema is not valid
//   5  the language is not supported                      11  an argument is not valid
//   6  text cannot be read as what was asked for         255  anything else, a cancelled request among it

// MARK: - Callbacks

// `content` is the answer, or what went wrong when `status` is not 0; `length` is its bytes, without the zero at its end. It
// belongs to the library and lasts as long as the call.
typedef void (*_Nullable FMLanguageModelSessionResponseCallback)(
    int status, const char *_Nullable content, size_t length, void *_Nullable userInfo);

// `content` is the answer, or a string that says what went wrong when `status` is not 0. It is the receiver's, to be
// released with FMRelease.
typedef void (*_Nullable FMLanguageModelSessionStructuredResponseCallback)(
    int status, FMGeneratedContentRef content, void *_Nullable userInfo);

typedef void (*_Nullable FMSystemLanguageModelTokenCountCallback)(
    int status, int tokenCount, const char *_Nullable errorDescription, void *_Nullable userInfo);

// `arguments` is the receiver's, to be released with FMRelease. Each call is to be ended with FMBridgedToolFinishCall, from any
// thread, also before the callback returns.
typedef void (*_Nullable FMBridgedToolCallback)(FMGeneratedContentRef arguments, unsigned int callId);

// MARK: - Models

typedef enum {
    FMSystemLanguageModelUnavailableReasonAppleIntelligenceNotEnabled = 0,
    FMSystemLanguageModelUnavailableReasonDeviceNotEligible = 1,
    FMSystemLanguageModelUnavailableReasonModelNotReady = 2,
    FMSystemLanguageModelUnavailableReasonUnknown = 0xFF
} FMSystemLanguageModelUnavailableReason;

typedef enum {
    FMSystemLanguageModelUseCaseGeneral = 0,
    FMSystemLanguageModelUseCaseContentTagging = 1
} FMSystemLanguageModelUseCase;

typedef enum {
    FMSystemLanguageModelGuardrailsDefault = 0,
    FMSystemLanguageModelGuardrailsPermissiveContentTransformations = 1
} FMSystemLanguageModelGuardrails;

FMSystemLanguageModelRef FMSystemLanguageModelGetDefault(void);

// A use case or guardrails that are none of the above are taken for the first, with a warning on standard error.
FMSystemLanguageModelRef FMSystemLanguageModelCreate(
    FMSystemLanguageModelUseCase useCase, FMSystemLanguageModelGuardrails guardrails);

// Whether the model can be used; if not, `unavailableReason` is why.
bool FMSystemLanguageModelIsAvailable(
    FMSystemLanguageModelRef model, FMSystemLanguageModelUnavailableReason *_Nullable unavailableReason);

// The tokens that the model can read at once, its answer included; 0 when `model` is no model.
int FMSystemLanguageModelGetContextSize(FMSystemLanguageModelRef model);

// MARK: - Prompts

FMComposedPrompt FMComposedPromptInitialize(void);

typedef enum {
    FMComposedPromptAddImageErrorNone,
    // No model of this machine reads images.
    FMComposedPromptAddImageErrorUnsupportedOS,
    FMComposedPromptAddImageErrorUnsupportedSDK,
    // The file cannot be read, or an argument is not valid.
    FMComposedPromptAddImageErrorUnknown
} FMComposedPromptAddImageError;

void FMComposedPromptAddText(FMComposedPrompt prompt, const char *_Nullable text);

// Each of the three adds an image; the second and third also a name by which the text can speak of it.
bool FMComposedPromptAddImage(
    FMComposedPrompt prompt, const char *_Nullable imagePath, FMComposedPromptAddImageError *_Nullable error);
bool FMComposedPromptAddIdentifiedImage(
    FMComposedPrompt prompt, const char *_Nullable imagePath, const char *_Nullable imageIdentifier,
    FMComposedPromptAddImageError *_Nullable error);
bool FMComposedPromptAddAttachment(
    FMComposedPrompt prompt, const char *_Nullable imagePath, const char *_Nullable label,
    FMComposedPromptAddImageError *_Nullable error);

// MARK: - Counting tokens

// The callback comes exactly once. NULL is returned only when there is no callback.
FMTaskRef FMSystemLanguageModelTokenCountForPrompt(
    FMSystemLanguageModelRef model, FMComposedPrompt prompt, void *_Nullable userInfo,
    FMSystemLanguageModelTokenCountCallback callback);
FMTaskRef FMSystemLanguageModelTokenCountForInstructions(
    FMSystemLanguageModelRef model, const char *_Nullable instructions, void *_Nullable userInfo,
    FMSystemLanguageModelTokenCountCallback callback);
FMTaskRef FMSystemLanguageModelTokenCountForTools(
    FMSystemLanguageModelRef model, const FMBridgedToolRef *_Nullable tools, int toolCount, void *_Nullable userInfo,
    FMSystemLanguageModelTokenCountCallback callback);
FMTaskRef FMSystemLanguageModelTokenCountForSchema(
    FMSystemLanguageModelRef model, FMGenerationSchemaRef schema, void *_Nullable userInfo,
    FMSystemLanguageModelTokenCountCallback callback);
FMTaskRef FMSystemLanguageModelTokenCountForTranscript(
    FMSystemLanguageModelRef model, FMLanguageModelSessionRef transcriptSession, void *_Nullable userInfo,
    FMSystemLanguageModelTokenCountCallback callback);

// MARK: - Sessions

// `model` may be NULL for the default one, `instructions` and `tools` may be NULL for none. The session keeps its tools.
FMLanguageModelSessionRef FMLanguageModelSessionCreateDefault(void);
FMLanguageModelSessionRef FMLanguageModelSessionCreateFromSystemLanguageModel(
    FMSystemLanguageModelRef model, const char *_Nullable instructions, const FMBridgedToolRef *_Nullable tools,
    int toolCount);
FMLanguageModelSessionRef FMLanguageModelSessionCreateFromTranscript(
    FMLanguageModelSessionRef transcriptSession, FMSystemLanguageModelRef model,
    const FMBridgedToolRef *_Nullable tools, int toolCount);

bool FMLanguageModelSessionIsResponding(FMLanguageModelSessionRef session);

// Waits until requests of the session that were cancelled have ended, at most a second. The transcript stays as it is.
void FMLanguageModelSessionReset(FMLanguageModelSessionRef session);

// A transcript is held by a session, which can be asked for it and gone on from.
FMLanguageModelSessionRef FMTranscriptCreateFromJSONString(
    const char *_Nullable json, int *_Nullable outErrorCode, char *_Nullable *_Nullable outErrorDescription);
char *_Nullable FMLanguageModelSessionGetTranscriptJSONString(
    FMLanguageModelSessionRef session, int *_Nullable outErrorCode, char *_Nullable *_Nullable outErrorDescription);

// MARK: - Requests

// `optionsJSON` is an object with any of the members "temperature", "maximum_response_tokens" and "sampling": {"mode": "greedy"} or
// {"mode": "random"} with "top_k" or "top_p", and "seed". NULL is all defaults. Members that there are not are refused.
//
// The request begins at once, and the callback comes exactly once. NULL is returned only when there is no callback.
FMTaskRef FMLanguageModelSessionRespond(
    FMLanguageModelSessionRef session, FMComposedPrompt prompt, const char *_Nullable optionsJSON,
    void *_Nullable userInfo, FMLanguageModelSessionResponseCallback callback);
FMTaskRef FMLanguageModelSessionRespondWithSchema(
    FMLanguageModelSessionRef session, FMComposedPrompt prompt, FMGenerationSchemaRef schema,
    const char *_Nullable optionsJSON, void *_Nullable userInfo,
    FMLanguageModelSessionStructuredResponseCallback callback);
FMTaskRef FMLanguageModelSessionRespondWithSchemaFromJSON(
    FMLanguageModelSessionRef session, FMComposedPrompt prompt, const char *_Nullable schemaJSON,
    const char *_Nullable optionsJSON, void *_Nullable userInfo,
    FMLanguageModelSessionStructuredResponseCallback callback);

// The request begins at once. Errors, those of the arguments too, are told by the iteration.
FMLanguageModelSessionResponseStreamRef FMLanguageModelSessionStreamResponse(
    FMLanguageModelSessionRef session, FMComposedPrompt prompt, const char *_Nullable optionsJSON);

// Returns at once. Each call of the callback has all of the answer so far; a last one has no content, and status 0 when the answer is
// complete. An error is the last one too, with the text of the error. Releasing the stream cancels the request.
void FMLanguageModelSessionResponseStreamIterate(
    FMLanguageModelSessionResponseStreamRef stream, void *_Nullable userInfo,
    FMLanguageModelSessionResponseCallback callback);

// The callback of a cancelled request comes all the same.
void FMTaskCancel(FMTaskRef task);

// MARK: - Schemas

FMGenerationSchemaRef FMGenerationSchemaCreate(const char *_Nullable name, const char *_Nullable description);

// `typeName` is "string", "integer", "number", "boolean", "array<TYPE>" or the name of a schema.
FMGenerationSchemaPropertyRef FMGenerationSchemaPropertyCreate(
    const char *_Nullable name, const char *_Nullable description, const char *_Nullable typeName, bool isOptional);

// Guides. With `wrapped` a guide is for the elements of an array.
void FMGenerationSchemaPropertyAddAnyOfGuide(
    FMGenerationSchemaPropertyRef property, const char *_Nullable const *_Nullable anyOf, int choiceCount,
    bool wrapped);
void FMGenerationSchemaPropertyAddCountGuide(FMGenerationSchemaPropertyRef property, int count, bool wrapped);
void FMGenerationSchemaPropertyAddMaximumGuide(FMGenerationSchemaPropertyRef property, double maximum, bool wrapped);
void FMGenerationSchemaPropertyAddMinimumGuide(FMGenerationSchemaPropertyRef property, double minimum, bool wrapped);
void FMGenerationSchemaPropertyAddMinItemsGuide(FMGenerationSchemaPropertyRef property, int minItems);
void FMGenerationSchemaPropertyAddMaxItemsGuide(FMGenerationSchemaPropertyRef property, int maxItems);
void FMGenerationSchemaPropertyAddRangeGuide(
    FMGenerationSchemaPropertyRef property, double minValue, double maxValue, bool wrapped);
void FMGenerationSchemaPropertyAddRegex(
    FMGenerationSchemaPropertyRef property, const char *_Nullable pattern, bool wrapped);

void FMGenerationSchemaAddProperty(FMGenerationSchemaRef schema, FMGenerationSchemaPropertyRef property);

// Makes the type of `referenceSchema` known to `schema`; types that that one refers to are to be added too.
void FMGenerationSchemaAddReferenceSchema(FMGenerationSchemaRef schema, FMGenerationSchemaRef referenceSchema);
char *_Nullable FMGenerationSchemaGetJSONString(
    FMGenerationSchemaRef schema, int *_Nullable outErrorCode, char *_Nullable *_Nullable outErrorDescription);

// MARK: - Content

// JSON text that breaks off is content that is not complete.
FMGeneratedContentRef FMGeneratedContentCreateFromJSON(
    const char *_Nullable json, int *_Nullable outErrorCode, char *_Nullable *_Nullable outErrorDescription);
char *_Nullable FMGeneratedContentGetJSONString(FMGeneratedContentRef content);

// A string as it is, any other value as JSON.
char *_Nullable FMGeneratedContentGetPropertyValue(
    FMGeneratedContentRef content, const char *_Nullable propertyName, int *_Nullable outErrorCode,
    char *_Nullable *_Nullable outErrorDescription);
bool FMGeneratedContentIsComplete(FMGeneratedContentRef content);

// MARK: - Tools

// A tool whose last handle was released is called no more, also by sessions that have it: keep it as long as the code behind
// `callable` is there.
FMBridgedToolRef FMBridgedToolCreate(
    const char *_Nullable name, const char *_Nullable description, FMGenerationSchemaRef parameters,
    FMBridgedToolCallback callable, int *_Nullable outErrorCode, char *_Nullable *_Nullable outErrorDescription);

// Gives the model what the tool found. A call that has ended, for instance because its request was cancelled, stays as it is.
void FMBridgedToolFinishCall(FMBridgedToolRef tool, unsigned int callId, const char *_Nullable output);

// MARK: - Memory

void FMRetain(const void *_Nullable object);
void FMRelease(const void *_Nullable object);
void FMFreeString(char *_Nullable string);

#ifdef __cplusplus
}
#endif

#endif
