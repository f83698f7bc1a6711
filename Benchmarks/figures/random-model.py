"""Values of 40 types that use every guide, made by a random model at temperature 2: 1,000 runs, all valid, every choice seen.

The model has the default model's vocabulary and two small layers of random weights, so that nothing but the decoder keeps a
value valid. A run counts when its text is strict JSON, reads as the type and keeps every guide; and over all runs each enum
case, each allowed text, each length and each presence that a type can show must have been seen.
"""

import tempfile

import _frame as frame

frame.need("gguf", "numpy")

import gguf  # noqa: E402
import numpy  # noqa: E402


def write_random_model(path, source):
    """A Llama of two layers with random weights and the tokenizer of another file."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(path, "llama")
    for name, field in reader.fields.items():
        if name.startswith("tokenizer.") and name != "tokenizer.chat_template":
            kind = field.types[0]
            if kind == gguf.GGUFValueType.ARRAY:
                writer.add_key_value(name, field.contents(), kind, sub_type=field.types[-1])
            else:
                writer.add_key_value(name, field.contents(), kind)
    width, heads, layers, hidden = 64, 4, 2, 128
    vocabulary = len(reader.fields["tokenizer.ggml.tokens"].data)
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
    random = numpy.random.default_rng(1)

    def add(name, *shape):
        writer.add_tensor(name, random.standard_normal(shape, dtype=numpy.float32) / numpy.float32(shape[-1] ** 0.5))

    def add_ones(name, size):
        writer.add_tensor(name, numpy.ones(size, dtype=numpy.float32))

    add("token_embd.weight", vocabulary, width)
    add("output.weight", vocabulary, width)
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
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        write_random_model(file.name, frame.model(options.model))
        result = frame.measure_json("random-model", file.name, options.runs)
    for fault in result["faults"]:
        print(f"fault: {fault}")
    for choice in result["unseen"]:
        print(f"never seen: {choice}")
    print(f"{result['runs']} runs over {result['types']} types, {result['tokens']} tokens, {result['valid']} valid")
    good = result["valid"] - len(result["unseen"])
    frame.verdict("random-model", good, at_least=options.runs)


if __name__ == "__main__":
    main()
