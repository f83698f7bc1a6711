"""Token ids against llama.cpp's vocabulary pairs and Hugging Face's `tokenizers`, and texts that decode to themselves: differences, bar 0."""

import json
import pathlib
import tempfile

import _frame

CATALOGUE = ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m", "gemma-3-270m", "nomic-embed-text-v1.5"]
LINES = 5000
# The pairs' own separator of texts.
SEPARATOR = "\n__ggml_vocab_test__\n"
# T5's unigrams.
OTHER_KINDS = ["nomic-bert-moe"]
# Word pieces, which do not give back what they were made of.
LOSSY_KINDS = ["bert-bge"]


def options(parser):
    parser.add_argument("--models", nargs="*", default=CATALOGUE, help="names or paths (default: %(default)s)")
    parser.add_argument("--vocabularies", help="the folder with llama.cpp's ggml-vocab-*.gguf (default: the peers')")


def tokenize(path, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(texts, file)
        file.flush()
        return _frame.measure_json("tokenizer-ids", path, file.name)


def show(path, text, ours, theirs):
    print(f"  {pathlib.Path(path).name}: {text[:80]!r}\n    ours   {ours[:24]}\n    theirs {theirs[:24]}")


def count(path, texts, expected, result, decodable):
    """Prints one line for a vocabulary and returns the number of differences."""
    wrong = [number for number in range(len(texts)) if result["ids"][number] != expected[number]]
    lost = [number for number in result["wrongRoundTrips"] if decodable(number)]
    streams = result["wrongStreams"]
    for number in wrong[:5]:
        show(path, texts[number], result["ids"][number], expected[number])
    for number in (lost + streams)[:5]:
        print(f"  {pathlib.Path(path).name}: not given back: {texts[number][:80]!r}")
    print(
        f"{pathlib.Path(path).name}: {len(texts)} texts, {sum(map(len, expected))} tokens, {len(wrong)} differ, "
        f"{len(lost)} not given back, {len(streams)} wrong streams; made in {result['buildSeconds'] * 1000:.0f} ms, "
        f"{result['megabytesPerSecond']:.1f} MB/s",
        flush=True,
    )
    return len(wrong) + len(lost) + len(streams)


def pairs(folder):
    """The differences to llama.cpp's pairs of texts and ids."""
    differences = 0
    found = 0
    for vocabulary in sorted(folder.glob("ggml-vocab-*.gguf")):
        source = vocabulary.with_name(vocabulary.name + ".inp")
        if not source.exists() or any(vocabulary.stem.endswith(kind) for kind in OTHER_KINDS):
            continue
        with open(source, encoding="utf-8", newline="") as file:
            texts = file.read().split(SEPARATOR)
        # In most files the last text is empty, and so is its line of ids; in the others what follows the last line is.
        lines = pathlib.Path(f"{vocabulary}.out").read_text().split("\n")
        ids = [[int(word) for word in line.split()] for line in lines]
        if len(ids) == len(texts) + 1 and not ids[-1]:
            ids.pop()
        if len(ids) != len(texts):
            raise _frame.Unmeasured(f"{vocabulary}: {len(texts)} texts and {len(ids)} lines of ids")
        is_lossy = any(vocabulary.stem.endswith(kind) for kind in LOSSY_KINDS)
        differences += count(vocabulary, texts, ids, tokenize(vocabulary, texts), lambda number: not is_lossy)
        found += 1
    if not found:
        raise _frame.Unmeasured(f"no vocabularies with texts in {folder}")
    return differences


def catalogue(names):
    """The differences to Hugging Face's `tokenizers` over LINES generated texts, for each model."""
    import _texts
    from _reference_tokenizer import reference

    texts = _texts.lines(LINES)
    differences = 0
    for name in names:
        path = _frame.model(name)
        tokenizer, kind = reference(path)
        expected = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]

        def decodable(number):
            # U+2581 is how SentencePiece writes a space, and some vocabularies lack control characters: such texts
            # are lost in the model's own tokenizer too. BERT's drops case and spaces.
            return kind != "bert" and tokenizer.decode(expected[number], skip_special_tokens=False) == texts[number]

        differences += count(path, texts, expected, tokenize(path, texts), decodable)
        lost = sum(not decodable(number) for number in range(len(texts)))
        print(f"  ({lost} texts that the reference itself does not give back)")
    return differences


given = _frame.arguments(__doc__, extra=options)
_frame.need("gguf", "tokenizers")
folder = pathlib.Path(given.vocabularies) if given.vocabularies else _frame.peer_source() / "models"
_frame.verdict("tokenizer-ids", pairs(folder) + catalogue(given.models), at_most=0)
