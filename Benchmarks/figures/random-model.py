"""Values of 40 types that use every guide, made by random models at temperature 2: 1,000 runs, all valid, every choice seen.

The models have the default model's vocabulary and two small layers of random weights, so that nothing but the decoder keeps a
value valid. They differ in their weights and in how much they lean to the tokens that JSON's own marks alone are made of: among
the thousands of tokens that may go on inside a string, a model that leans to nothing finds the few that end it too seldom. A run
counts when its text is strict JSON, reads as the type and keeps every guide; and over all runs each enum case, each allowed
text, each length and each presence that a type can show must have been seen. Every type has ten runs; the others go to the types
that have something left to show.
"""

import pathlib
import tempfile

import _frame as frame

frame.need("gguf", "numpy")

import gguf  # noqa: E402
import numpy  # noqa: E402

# What the logits of JSON's marks get on top: e^(lean / 2) times the weight of any other token at temperature 2.
LEANS = (0, 7, 14)


def write_random_model(path, reader, seed, lean):
    """A Llama of two layers with random weights and the tokenizer of another file. About `lean` is added to the logits of tokens
    that consist of `"`, `,`, `:` and brackets."""
    writer = gguf.GGUFWriter(path, "llama")
    for name, field in reader.fields.items():
        if name.startswith("tokenizer.") and name != "tokenizer.chat_template":
            kind = field.types[0]
            if kind == gguf.GGUFValueType.ARRAY:
                writer.add_key_value(name, field.contents(), kind, sub_type=field.types[-1])
            else:
                writer.add_key_value(name, field.contents(), kind)
    width, heads, layers, hidden = 64, 4, 2, 128
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    vocabulary = len(tokens)
    writer.add_name("random")
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(vocabulary)
    random = numpy.random.default_rng(seed)

    def weights(*shape):
        return random.standard_normal(shape, dtype=numpy.float32) / numpy.float32(shape[-1] ** 0.5)

    def add(name, *shape):
        tensor = weights(*shape)
        if name.endswith(("attn_output.weight", "ffn_down.weight")):
            # Nothing is added to the first dimension, so that it is the same behind every token.
            tensor[0] = 0
        writer.add_tensor(name, tensor)

    def add_ones(name, size):
        writer.add_tensor(name, numpy.ones(size, dtype=numpy.float32))

    # The first dimension of the residual is the same behind every token and as large as the others together, so that the last
    # norm leaves about 4 of it.
    embedding = random.standard_normal((vocabulary, width), dtype=numpy.float32)
    embedding[:, 0] = width**0.5
    writer.add_tensor("token_embd.weight", embedding)
    output = weights(vocabulary, width)
    output[:, 0] = [lean / 4 if token and all(c in '",:[]{}' for c in token) else 0 for token in tokens]
    writer.add_tensor("output.weight", output)
    add_ones("output_norm.weight", width)
    for layer in range(layers):
        add_ones(f"blk.{layer}.attn_norm.weight", width)
        add_ones(f"blk.{layer}.ffn_norm.weight", width)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{name}.weight", width, width)
        add(f"blk.{layer}.ffn_gate.weight", hidden, width)
        add(f"blk.{layer}.ffn_up.weight", hidden, width)
        add(f"blk.{layer}.ffn_down.weight", width, hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    options = frame.arguments(
        __doc__,
        extra=lambda parser: (
            parser.add_argument("--model", default=frame.DEFAULT_MODEL, help="whose vocabulary to use"),
            parser.add_argument("--runs", type=int, default=1000),
        ),
    )
    reader = gguf.GGUFReader(frame.model(options.model))
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"lean-{lean}.gguf" for lean in LEANS]
        for seed, (path, lean) in enumerate(zip(paths, LEANS)):
            write_random_model(path, reader, seed + 1, lean)
        result = frame.measure_json("random-model", options.runs, *paths)
    for fault in result["faults"]:
        print(f"fault: {fault}")
    for choice in result["unseen"]:
        print(f"never seen: {choice}")
    print(
        f"{result['runs']} runs over {result['types']} types, {result['tokens']} tokens, {result['valid']} valid, "
        f"{result['choices'] - len(result['unseen'])} of {result['choices']} choices seen, all of a type's in {result['mostRuns']} "
        "runs of it at most"
    )
    good = result["valid"] - len(result["unseen"])
    frame.verdict("random-model", good, at_least=options.runs)


if __name__ == "__main__":
    main()
