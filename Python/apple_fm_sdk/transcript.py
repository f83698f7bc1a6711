"""What was said in a session."""

import json

from . import _ctypes_bindings as lib
from .c_helpers import _c_string, _ErrorReport, _take_string


class Transcript:
    """The transcript of a session, read when it is asked for. It stays when the session's object goes."""

    session_ptr = None

    def __init__(self, _ptr):
        lib.FMRetain(_ptr)
        self.session_ptr = _ptr

    async def to_dict(self):
        """The transcript in the format of `FoundationModels.Transcript`."""
        report = _ErrorReport()
        text = _take_string(lib.FMLanguageModelSessionGetTranscriptJSONString(self.session_ptr, *report.arguments))
        if text is None:
            raise report.exception("the transcript cannot be written")
        return json.loads(text)

    @classmethod
    async def from_dict(cls, dict):
        """A transcript from what `to_dict` gave, or from a file of that format."""
        report = _ErrorReport()
        text = _c_string(json.dumps(dict), "transcript")
        session = lib.FMTranscriptCreateFromJSONString(text, *report.arguments)
        if not session:
            raise report.exception("the transcript cannot be read")
        try:
            return cls(session)
        finally:
            lib.FMRelease(session)

    def _update_session_ptr(self, session):
        """Goes on as the transcript of another session."""
        lib.FMRetain(session)
        self._release()
        self.session_ptr = session

    def _release(self):
        session, self.session_ptr = self.session_ptr, None
        if session and lib is not None:
            lib.FMRelease(session)

    def __del__(self):
        self._release()
