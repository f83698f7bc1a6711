"""Chat templates as `transformers` renders them, to compare with."""

import copy
import datetime
import json

import _frame

# Both sides take this for now.
NOW = datetime.datetime(2025, 3, 9, 14, 5, 7)


def reference(template, context):
    """('text', result), ('raised', message) or ('other', message)."""
    import jinja2
    from transformers.utils.chat_template_utils import _compile_jinja_template

    try:
        compiled = _compile_jinja_template(template)
        compiled.environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
        # A copy: `indent` changes a list in place.
        return "text", compiled.render(**copy.deepcopy(context))
    except RecursionError:
        return "other", "RecursionError"
    except Exception as error:
        raised = type(error) is jinja2.exceptions.TemplateError
        return "raised" if raised else "other", str(error)


def render(requests, program=None):
    """What our module makes of (template, context) pairs, in the form of `reference`."""
    answers = answer(requests, program)
    return [("text", one["text"]) if "text" in one else (one["error"], one["message"]) for one in answers]


def answer(requests, program=None):
    """What `measure chat-templates` answers to (template, context) pairs."""
    now = NOW.replace(tzinfo=datetime.timezone.utc).timestamp()
    lines = "".join(
        json.dumps({"template": template, "context": context, "now": now}) + "\n" for template, context in requests
    )
    command = [program or _frame.build("measure"), "chat-templates"]
    # Not `splitlines`, which takes other characters for line ends, too.
    output = _frame.run(command, input=lines, env={"TZ": "UTC"}).split("\n")
    answers = [json.loads(line) for line in output if line]
    if len(answers) != len(requests):
        raise _frame.Unmeasured(f"{len(answers)} answers to {len(requests)} requests")
    return answers


def agree(ours, theirs):
    """Equal texts, equal messages of raise_exception, or any other error on both sides."""
    if ours[0] != theirs[0]:
        return False
    return ours[0] == "other" or ours[1] == theirs[1]
