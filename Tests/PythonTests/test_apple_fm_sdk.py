"""The Python module over the library, with the model of the tests. Run by ./test, after the build made both."""

import asyncio
import gc
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
from dataclasses import field
from typing import List, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("FM_MODEL", "smollm2-135m")
os.environ.setdefault("FM_PREFIXES_DIR", "0")
sys.path.insert(0, str(ROOT / "Python"))

import apple_fm_sdk as fm  # noqa: E402
from apple_fm_sdk import _ctypes_bindings as lib  # noqa: E402
from apple_fm_sdk.tool import _BridgedTool, _ToolCalls  # noqa: E402

GREEDY = fm.GenerationOptions(sampling=fm.SamplingMode.greedy(), maximum_response_tokens=16)


@fm.generable("A cat")
class Cat:
    name: str = fm.guide("Its name", regex="[A-Z][a-z]{2,8}")
    age: int = fm.guide("In years", range=(1, 20))
    colors: List[str] = fm.guide(count=2, anyOf=["black", "white", "red"])


@fm.generable
class Shelter:
    city: str = fm.guide(constant="Paris")
    cats: list[Cat] = fm.guide(max_items=1)
    manager: Optional[str] = None
    phone: "int | None" = None
    notes: list[str] = field(default_factory=list)


@fm.generable
class Node:
    label: str
    children: List["Node"]


class Upper(fm.Tool):
    name = "upper"
    description = "Writes a word in capitals."

    def __init__(self):
        super().__init__()
        self.loops = []

    @fm.generable
    class Arguments:
        word: str = fm.guide("The word", regex="[a-z]{1,12}")

    @property
    def arguments_schema(self):
        return self.Arguments.generation_schema()

    async def call(self, args):
        self.loops.append(asyncio.get_running_loop())
        word = args.value(str, for_property="word")
        if word == "never":
            await asyncio.Event().wait()
        if word == "wrong":
            raise ValueError("no such word")
        return word.upper()


class Names(unittest.TestCase):
    def test_all_names_are_there(self):
        for name in fm.__all__:
            self.assertTrue(hasattr(fm, name), name)
        self.assertEqual(len(fm.__all__), len(set(fm.__all__)))

    def test_the_version_is_the_packages(self):
        program = os.environ.get("FM") or ROOT / ".build/release/fm"
        self.assertEqual(subprocess.check_output([program, "version"], text=True).strip(), f"fm {fm.__version__}")


    def test_the_bindings_are_those_of_the_header(self):
        header = (ROOT / "Sources/CFoundationModels/FoundationModels.h").read_text()
        declared = re.findall(r"^[^/\n]*?\b(FM\w+)\(", header, re.MULTILINE)
        self.assertEqual(sorted(declared), sorted(lib._SIGNATURES))

    def test_a_program_may_end_in_the_middle(self):
        program = (
            "import asyncio, apple_fm_sdk as fm\n"
            "async def main():\n"
            "    streaming = asyncio.create_task(anext(fm.LanguageModelSession().stream_response('Tell a story.')))\n"
            "    answering = asyncio.create_task(fm.LanguageModelSession().respond('Tell a story.'))\n"
            "    await streaming\n"
            "asyncio.run(main())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT / "Python")}, timeout=120,
            capture_output=True, text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Values(unittest.TestCase):
    def test_schemas_keep_the_order_and_the_guides(self):
        schema = Cat.generation_schema().to_dict()
        self.assertEqual(list(schema["properties"]), ["name", "age", "colors"])
        self.assertEqual(schema["properties"]["age"]["maximum"], 20)
        self.assertEqual(schema["properties"]["colors"]["items"]["enum"], ["black", "white", "red"])

    def test_both_spellings_of_optional_are_optional(self):
        self.assertEqual(Shelter.generation_schema().to_dict()["required"], ["city", "cats", "notes"])

    def test_classes_may_refer_to_themselves(self):
        self.assertIn("children", Node.generation_schema().to_dict()["properties"])
        node = Node._from_generated_content(fm.GeneratedContent({"label": "a", "children": [{"label": "b", "children": []}]}))
        self.assertEqual(node, Node("a", [Node("b", [])]))

    def test_values_become_content_and_back(self):
        shelter = Shelter("Paris", [Cat("Mia", 3, ["red", "black"])], None, 12)
        self.assertEqual(Shelter._from_generated_content(shelter.generated_content), shelter)

    def test_content(self):
        content = fm.GeneratedContent({"a": 1, "b": [1.5, None]})
        self.assertEqual(fm.GeneratedContent.from_json(content.to_json()).value(), {"a": 1, "b": [1.5, None]})
        self.assertEqual(content.value(float, for_property="a"), 1.0)
        self.assertIsNone(content.value(int, for_property="missing"))
        self.assertTrue(content.is_complete)

    def test_guides_that_do_not_fit_are_refused(self):
        @fm.generable
        class Wrong:
            name: str = fm.guide(minimum=3)

        with self.assertRaises(fm.UnsupportedGuideError):
            Wrong.generation_schema().to_dict()
        for bad in ({"count": 0}, {"range": (1,)}, {"anyOf": "abc"}, {"regex": 3}, {"minimum": "1"}):
            with self.assertRaises(ValueError):
                fm.guide(**bad)

    def test_classes_that_cannot_be_generated_are_refused(self):
        class Plain:
            pass

        @fm.generable
        class Outer:
            inner: Plain

        with self.assertRaises(fm.InvalidGenerationSchemaError):
            Outer.generation_schema().to_dict()
        with self.assertRaises(fm.InvalidGenerationSchemaError):
            fm.generable(Plain)

    def test_releasing_twice_is_harmless(self):
        content = fm.GeneratedContent({"a": 1})
        content._release()
        content._release()
        other = fm.GeneratedContent({"b": 2})
        del content
        gc.collect()
        self.assertEqual(other.to_json(), '{"b": 2}')


class Requests(unittest.IsolatedAsyncioTestCase):
    async def test_the_model_is_there(self):
        model = fm.SystemLanguageModel()
        self.assertEqual(model.is_available(), (True, None))
        self.assertGreater(model.context_size, 100)
        self.assertGreater(await model.token_count("Hello there"), 1)
        self.assertGreater(await model.token_count(instructions="Be brief."), 1)
        self.assertGreater(await model.token_count(Cat.generation_schema()), 10)
        self.assertGreater(await model.token_count([Upper()]), 10)
        self.assertEqual(await model.token_count([]), await model.token_count(""))

    async def test_text(self):
        session = fm.LanguageModelSession("Answer briefly.")
        answer = await session.respond("What is the capital of France?", options=GREEDY)
        self.assertTrue(answer)
        again = await fm.LanguageModelSession("Answer briefly.").respond("What is the capital of France?", options=GREEDY)
        self.assertEqual(answer, again)
        entries = (await session.transcript.to_dict())["transcript"]["entries"]
        self.assertEqual([entry["role"] for entry in entries], ["instructions", "user", "response"])

    async def test_typed_values_follow_guides_and_options(self):
        options = fm.GenerationOptions(sampling=fm.SamplingMode.random(top=40, seed=7), temperature=1.5)
        cats = [await fm.LanguageModelSession().respond("A cat.", generating=Cat, options=options) for _ in range(2)]
        self.assertEqual(*cats)
        self.assertRegex(cats[0].name, "^[A-Z][a-z]{2,8}$")
        self.assertIn(cats[0].age, range(1, 21))
        self.assertEqual(len(cats[0].colors), 2)
        self.assertLessEqual(set(cats[0].colors), {"black", "white", "red"})

    async def test_json_schemas(self):
        schema = {"type": "object", "title": "Age", "properties": {"years": {"type": "integer", "maximum": 9, "minimum": 0}},
                  "required": ["years"], "additionalProperties": False, "x-order": ["years"]}
        content = await fm.LanguageModelSession().respond("How old?", json_schema=schema)
        self.assertIn(content.value(int, for_property="years"), range(10))
        with self.assertRaisesRegex(fm.GenerationError, "format"):
            await fm.LanguageModelSession().respond("How old?", json_schema="no schema")

    async def test_streams_grow_and_leave_the_loop_free(self):
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        snapshots = [s async for s in fm.LanguageModelSession().stream_response("Count to five.", options=GREEDY)]
        ticking.cancel()
        self.assertTrue(snapshots)
        self.assertTrue(all(later.startswith(earlier) for earlier, later in zip(snapshots, snapshots[1:])))
        self.assertGreater(ticks, 0)

    async def test_leaving_a_stream_cancels_it(self):
        session = fm.LanguageModelSession()
        stream = session.stream_response("Write a very long story.")
        async for _ in stream:
            break
        await stream.aclose()
        self.assertFalse(session.is_responding)
        self.assertTrue(await session.respond("Hello", options=GREEDY))

    async def test_cancelled_requests_end_at_once(self):
        session = fm.LanguageModelSession()
        task = asyncio.create_task(session.respond("Write a very long story."))
        await asyncio.sleep(0.05)
        begin = time.monotonic()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertLess(time.monotonic() - begin, 5)
        self.assertFalse(session.is_responding)

    async def test_requests_of_a_session_wait_for_each_other(self):
        session = fm.LanguageModelSession()
        answers = await asyncio.gather(*(session.respond(f"Say {word}.", options=GREEDY) for word in ("one", "two")))
        self.assertEqual(len(answers), 2)

    async def test_errors(self):
        session = fm.LanguageModelSession()
        with self.assertRaisesRegex(fm.ExceededContextWindowSizeError, "tokens"):
            await session.respond("lots and lots of words " * 20000)
        with self.assertRaisesRegex(fm.GenerationError, "NUL"):
            await session.respond("Hello\0World")
        with self.assertRaises(fm.PromptError):
            await session.respond(3)
        with self.assertRaises(fm.ImagePromptError):
            await session.respond(["Look:", fm.ImageAttachment(pathlib.Path(__file__))])
        with self.assertRaises(fm.ImagePromptError):
            fm.ImageAttachment(pathlib.Path("/no/such/image.png"))
        with self.assertRaises(ValueError):
            await session.respond("Hello", generating=int)
        with self.assertRaises(ValueError):
            await session.respond("Hello", generating=Cat, json_schema={})
        self.assertTrue(await session.respond("Hello", options=GREEDY))

    async def test_transcripts_are_gone_on_from(self):
        session = fm.LanguageModelSession("Answer briefly.")
        await session.respond("My name is Ada.", options=GREEDY)
        saved = await session.transcript.to_dict()
        transcript = await fm.Transcript.from_dict(saved)
        later = fm.LanguageModelSession.from_transcript(transcript)
        await later.respond("What is my name?", options=GREEDY)
        self.assertEqual(len((await transcript.to_dict())["transcript"]["entries"]), 5)
        # A transcript outlives its session.
        kept = session.transcript
        del session
        gc.collect()
        self.assertEqual((await kept.to_dict())["transcript"]["entries"], saved["transcript"]["entries"])
        with self.assertRaises(fm.DecodingFailureError):
            await fm.Transcript.from_dict({"version": 1})


class Tools(unittest.IsolatedAsyncioTestCase):
    """Calls as the library makes them: from a thread of its own, with content that is the receiver's."""

    async def call(self, tool, calls, *words):
        outputs = asyncio.Queue()
        loop = asyncio.get_running_loop()
        finish = lib.FMBridgedToolFinishCall
        lib.FMBridgedToolFinishCall = lambda _, call, text: loop.call_soon_threadsafe(
            outputs.put_nowait, (call, text.decode())
        )
        try:
            bridge = _BridgedTool(tool, calls)
            for number, word in enumerate(words):
                content = fm.GeneratedContent({"word": word})
                pointer, content._ptr = content._ptr, None
                await asyncio.to_thread(bridge._callback, pointer, number)
            if "never" in words:
                await asyncio.sleep(0.01)
                calls.cancel()
            return dict([await asyncio.wait_for(outputs.get(), 10) for _ in words])
        finally:
            lib.FMBridgedToolFinishCall = finish

    async def test_calls_run_on_the_loop_of_the_request(self):
        tool, calls = Upper(), _ToolCalls()
        calls.run_on(asyncio.get_running_loop())
        outputs = await self.call(tool, calls, "one", "wrong", "never")
        self.assertEqual(outputs[0], "ONE")
        self.assertEqual(outputs[1], "Tool error: no such word")
        self.assertIn("cancelled", outputs[2])
        self.assertEqual(set(tool.loops), {asyncio.get_running_loop()})

    async def test_sessions_keep_their_tools(self):
        session = fm.LanguageModelSession("Use the tool.", tools=[Upper(), Upper()])
        gc.collect()
        # The form of the answer bounds it; a limit of tokens might cut the arguments of a call.
        options = fm.GenerationOptions(sampling=fm.SamplingMode.greedy())
        cat = await asyncio.wait_for(session.respond("A cat named Tree.", generating=Cat, options=options), 60)
        self.assertIsInstance(cat, Cat)

    async def test_bad_tools_are_refused(self):
        class Nameless(Upper):
            name = 3

        class Blocking(Upper):
            def call(self, args):
                return ""

        for bad in (Nameless, Blocking):
            with self.assertRaises(TypeError):
                bad()


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
