"""Embeddings of nomic-bert against a plain float32 implementation and llama.cpp's server: least cosine, bar 0.9999.

A small model with random weights and the catalogue's `nomic-embed-text-v1.5`, each computed by the engine and by numpy as
the model's paper has it (https://arxiv.org/abs/2402.01613): tokens, types and norm, blocks whose norms come after attention
and feed-forward, rotary positions, the mean of the states. On the real weights llama.cpp's server gives vectors of the same
texts too, from its own tokens.

`--fixture FILE` writes the small model and its vectors in a form that the tests of the package read; its weights come from
the same generator as those of the families.
"""

import json
import math
import pathlib
import tempfile

import _frame
from _weights import weights

MODEL = "nomic-embed-text-v1.5"
TEXTS = [
    "search_query: What is a transformer?",
    "search_document: The Eiffel Tower stands in Paris; it was built in 1889.",
    "search_document: Бесы — роман Фёдора Достоевского.",
    "clustering: naïve café, Straße, 你好，世界",
    "a",
    "search_document: " + "The quick brown fox jumps over the lazy dog. " * 40,
]
SMALL = dict(layers=3, width=64, inner=96, heads=4, vocabulary=96, context=256, base=1000.0, epsilon=1e-12)


def options(parser):
    parser.add_argument("--fixture", type=pathlib.Path, help="write the tests' fixture instead of measuring")
    parser.add_argument("--model", default=MODEL, help="a name or path (default: %(default)s)")
    parser.add_argument("--without-peer", action="store_true", help="leave llama.cpp's server out")


given = _frame.arguments(__doc__, extra=options)
_frame.need("gguf", "numpy")

import gguf  # noqa: E402
import numpy as np  # noqa: E402


def small():
    """Metadata and tensors {name: (numbers, scale, offset)} of the small model."""
    s = SMALL
    pairs = [("general.architecture", "nomic-bert")] + [
        (f"nomic-bert.{key}", value)
        for key, value in [
            ("block_count", s["layers"]),
            ("context_length", s["context"]),
            ("embedding_length", s["width"]),
            ("feed_forward_length", s["inner"]),
            ("attention.head_count", s["heads"]),
            ("attention.layer_norm_epsilon", s["epsilon"]),
            ("pooling_type", 1),
            ("rope.freq_base", s["base"]),
        ]
    ]
    tensors = {}

    def add(name, shape, scale, offset=0.0):
        tensors[name] = (weights(name, shape, scale, offset), scale, offset)

    def norm(name):
        add(f"{name}.weight", (s["width"],), 0.5, 1.0)
        add(f"{name}.bias", (s["width"],), 0.25)

    def matrix(name, rows, columns):
        # The standard deviation of a uniform number is its scale over sqrt(3).
        add(f"{name}.weight", (rows, columns), 2.0 ** round(math.log2((3 / columns) ** 0.5)))

    add("token_embd.weight", (s["vocabulary"], s["width"]), 2.0)
    add("token_types.weight", (2, s["width"]), 0.5)
    norm("token_embd_norm")
    for layer in range(s["layers"]):
        block = f"blk.{layer}"
        matrix(f"{block}.attn_qkv", 3 * s["width"], s["width"])
        matrix(f"{block}.attn_output", s["width"], s["width"])
        norm(f"{block}.attn_output_norm")
        matrix(f"{block}.ffn_gate", s["inner"], s["width"])
        matrix(f"{block}.ffn_up", s["inner"], s["width"])
        matrix(f"{block}.ffn_down", s["width"], s["inner"])
        norm(f"{block}.layer_output_norm")
    return pairs, tensors


def layer_norm(x, weight, bias, epsilon):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight + bias


def rotate(x, base):
    """Rotary positions of [tokens, heads, head width], pairs half a head apart."""
    half = x.shape[-1] // 2
    angles = np.arange(len(x))[:, None] * base ** (-np.arange(half) / half)[None, :]
    cosine, sine = (f(angles).astype(np.float32)[:, None, :] for f in (np.cos, np.sin))
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosine - second * sine, first * sine + second * cosine], -1)


def reference(tensors, numbers, tokens, dimensions=None):
    """The vector of some tokens. `numbers` are layers, heads, base and epsilon."""
    t = tensors
    epsilon = numbers["epsilon"]
    x = t["token_embd.weight"][tokens] + t["token_types.weight"][0]
    x = layer_norm(x, t["token_embd_norm.weight"], t["token_embd_norm.bias"], epsilon)
    for layer in range(numbers["layers"]):
        b = f"blk.{layer}"
        query, key, value = np.split(x @ t[f"{b}.attn_qkv.weight"].T, 3, -1)
        query, key, value = (part.reshape(len(x), numbers["heads"], -1) for part in (query, key, value))
        query, key = rotate(query, numbers["base"]), rotate(key, numbers["base"])
        scores = np.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", scores, value).reshape(len(x), -1)
        x = x + mixed @ t[f"{b}.attn_output.weight"].T
        x = layer_norm(x, t[f"{b}.attn_output_norm.weight"], t[f"{b}.attn_output_norm.bias"], epsilon)
        gate, up = x @ t[f"{b}.ffn_gate.weight"].T, x @ t[f"{b}.ffn_up.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ t[f"{b}.ffn_down.weight"].T
        x = layer_norm(x, t[f"{b}.layer_output_norm.weight"], t[f"{b}.layer_output_norm.bias"], epsilon)
    mean = x.mean(0)
    if dimensions is not None and dimensions < len(mean):
        mean = layer_norm(mean, 1, 0, 1e-5)[:dimensions]
    return mean / np.linalg.norm(mean)


def least_cosine(ours, theirs):
    return min(float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(ours, theirs))


def ours(path, inputs, folder, *dimensions):
    listed = folder / "inputs.json"
    listed.write_text(json.dumps(inputs))
    return [np.array(vector, np.float64) for vector in json.loads(_frame.measure("embed", path, listed, *dimensions))]


def lengths(vocabulary):
    """Token lists of several lengths, around the borders at which the engine works in blocks."""
    return [[(7 * i * i + 11 * i + n) % vocabulary for i in range(n)] for n in (1, 2, 7, 8, 9, 33, 64, 65, 200)]


def write(path, pairs, tensors):
    writer = gguf.GGUFWriter(path, "nomic-bert")
    for key, value in pairs[1:]:
        {int: writer.add_uint32, float: writer.add_float32}[type(value)](key, value)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokens += [f"▁w{i}" for i in range(SMALL["vocabulary"] - len(tokens))]
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 4 + [1] * (len(tokens) - 4))
    writer.add_unk_token_id(1)
    writer.add_uint32("tokenizer.ggml.cls_token_id", 2)
    writer.add_sep_token_id(3)
    for name, (values, _, _) in tensors.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fixture(pairs, tensors):
    inputs = [list_ for list_ in lengths(SMALL["vocabulary"]) if len(list_) in (1, 9, 65)]
    plain = {name: values for name, (values, _, _) in tensors.items()}
    vectors = lambda dimensions: [  # noqa: E731
        [float(f"{value:.6g}") for value in reference(plain, SMALL, tokens, dimensions)] for tokens in inputs
    ]
    given.fixture.write_text(
        json.dumps(
            {
                "metadata": [{"key": key, type(value).__name__: value} for key, value in pairs],
                "tensors": [
                    {"name": key, "shape": list(reversed(values.shape)), "scale": scale, "offset": offset}
                    for key, (values, scale, offset) in tensors.items()
                ],
                "tokens": inputs,
                "vectors": vectors(None),
                "shortVectors": vectors(16),
            }
        )
        + "\n"
    )


def from_file(path):
    """Tensors as float32 and numbers of a GGUF file."""
    reader = gguf.GGUFReader(path)
    tensors = {
        t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32).reshape(tuple(reversed(t.shape.tolist())))
        for t in reader.tensors
    }

    def field(key):
        return reader.fields[f"nomic-bert.{key}"].contents()

    return tensors, dict(
        layers=field("block_count"),
        heads=field("attention.head_count"),
        base=field("rope.freq_base"),
        epsilon=field("attention.layer_norm_epsilon"),
    )


def peer(path):
    """The vectors of TEXTS by llama.cpp's server."""
    from _server import LlamaServer

    with LlamaServer(path, "--embedding", "--pooling", "mean", "-b", "2048", "-ub", "2048", context=2048) as server:
        answer = server.post("/v1/embeddings", {"input": TEXTS, "model": "peer"})
    return [np.array(row["embedding"], np.float64) for row in sorted(answer["data"], key=lambda row: row["index"])]


def main():
    pairs, tensors = small()
    if given.fixture:
        return fixture(pairs, tensors)
    worst = 1.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        path = folder / "small.gguf"
        write(path, pairs, tensors)
        plain = {name: values for name, (values, _, _) in tensors.items()}
        inputs = lengths(SMALL["vocabulary"])
        for dimensions in (None, 16):
            expected = [reference(plain, SMALL, tokens, dimensions) for tokens in inputs]
            cosine = least_cosine(ours(path, inputs, folder, *([dimensions] if dimensions else [])), expected)
            print(f"random weights, {dimensions or 'all'} dimensions: {cosine:.7f}", flush=True)
            worst = min(worst, cosine)

        path = _frame.model(given.model)
        tensors, numbers = from_file(path)
        inputs = [tokens for tokens in lengths(len(tensors["token_embd.weight"]))]
        mine, expected = ours(path, inputs, folder), [reference(tensors, numbers, tokens) for tokens in inputs]
        cosine = least_cosine(mine, expected)
        print(f"{given.model} against float32: {cosine:.7f}", flush=True)
        worst = min(worst, cosine)
        if not given.without_peer:
            cosine = least_cosine(ours(path, TEXTS, folder), peer(path))
            print(f"{given.model} against llama.cpp's server: {cosine:.7f}", flush=True)
            worst = min(worst, cosine)
    _frame.verdict("embeddings", worst, digits=7, at_least=0.9999)


main()
