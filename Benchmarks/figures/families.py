"""Logits of random models of each family against transformers in float32: greatest relative error, bar 1e-3.

Every model is small and has random weights; `transformers` computes it in float32, this script writes it as a GGUF file
of F32 tensors, and the engine computes the file: once as a prompt, once token by token. The error of a position is the
greatest difference of its logits over the greatest absolute logit. The engine's cache holds keys and values in half
precision; what remains when the reference rounds its own in the same way is printed too.
"""

import json
import pathlib
import tempfile

import _frame

VOCABULARY = 320
TOKENS = 80


def options(parser):
    parser.add_argument("--only", help="one family alone")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder in which the GGUF files stay")


given = _frame.arguments(__doc__, extra=options)
_frame.need("torch", "transformers", "gguf", "numpy")

import gguf  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

BASE = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    rms_norm_eps=1e-5,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    attn_implementation="eager",
    tie_word_embeddings=False,
)
LLAMA3 = dict(
    rope_type="llama3",
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=32,
    rope_theta=10000.0,
)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=64, rope_theta=10000.0)
LINEAR = dict(rope_type="linear", factor=4.0, rope_theta=10000.0)


def longrope(original):
    pairs = 8
    return dict(
        rope_type="longrope",
        rope_theta=10000.0,
        short_factor=[1.0 + 0.05 * i for i in range(pairs)],
        long_factor=[1.0 + 0.7 * i for i in range(pairs)],
        original_max_position_embeddings=original,
    )


# Name: (architecture of the file, transformers' configuration class, what differs from BASE).
FAMILIES = {
    "llama": ("llama", "Llama", {}),
    "llama-tied": ("llama", "Llama", dict(tie_word_embeddings=True)),
    "llama-rope-llama3": ("llama", "Llama", dict(rope_parameters=LLAMA3)),
    "llama-rope-linear": ("llama", "Llama", dict(rope_parameters=LINEAR)),
    "llama-rope-yarn": ("llama", "Llama", dict(rope_parameters=YARN)),
    "llama-biases": ("llama", "Llama", dict(attention_bias=True)),
    "mistral": ("llama", "Mistral", dict(head_dim=16)),
    "mistral-window": ("llama", "Mistral", dict(head_dim=24, sliding_window=24)),
    "qwen2": ("qwen2", "Qwen2", {}),
    "qwen2-rope-yarn": ("qwen2", "Qwen2", dict(rope_parameters=YARN)),
    "qwen3": ("qwen3", "Qwen3", dict(head_dim=32)),
    "gemma2": (
        "gemma2",
        "Gemma2",
        dict(
            head_dim=32,
            sliding_window=24,
            query_pre_attn_scalar=32,
            attn_logit_softcapping=20.0,
            final_logit_softcapping=15.0,
            tie_word_embeddings=True,
        ),
    ),
    "gemma3": (
        "gemma3",
        "Gemma3Text",
        dict(
            head_dim=32,
            sliding_window=24,
            query_pre_attn_scalar=32,
            num_hidden_layers=7,
            tie_word_embeddings=True,
            rope_parameters={
                "full_attention": dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
                "sliding_attention": dict(rope_type="default", rope_theta=10000.0),
            },
        ),
    ),
    "phi3": ("phi3", "Phi3", {}),
    "phi3-window": ("phi3", "Phi3", dict(sliding_window=24)),
    "phi3-longrope": (
        "phi3",
        "Phi3",
        dict(rope_parameters=longrope(32), original_max_position_embeddings=32),
    ),
    "granite": (
        "granite",
        "Granite",
        dict(embedding_multiplier=6.0, attention_multiplier=0.2, residual_multiplier=0.5, logits_scaling=4.0),
    ),
    "smollm3": ("smollm3", "SmolLM3", dict(num_hidden_layers=5, no_rope_layers=[1, 1, 1, 0, 1])),
}


def make(kind, changes, seed):
    """A model of transformers with random weights that make the logits differ and the attention choose."""
    configuration = getattr(transformers, f"{kind}Config")(**{**BASE, **changes})
    torch.manual_seed(seed)
    model = getattr(transformers, f"{kind.removesuffix('Text')}ForCausalLM")(configuration).to(torch.float32).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight"):
                middle = 0.0 if kind.startswith("Gemma") else 1.0
                parameter.copy_(middle + 0.2 * torch.randn_like(parameter))
            elif name.endswith("bias"):
                parameter.copy_(0.2 * torch.randn_like(parameter))
            elif "embed" in name:
                parameter.copy_(torch.randn_like(parameter))
            else:
                # As trained models have it, each layer changes the stream a little: gain 1 inside a branch, and on its
                # way out 1 / sqrt(branches), as GPT-2 is initialised.
                gain = 1.0
                if name.endswith(("o_proj.weight", "down_proj.weight")):
                    gain = (2 * configuration.num_hidden_layers) ** -0.5
                parameter.copy_(gain * torch.randn_like(parameter) / parameter.shape[1] ** 0.5)
    return model, configuration


NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def tensor_name(name, has_post_norms):
    part, _, kind = name.rpartition(".")
    part = part.removeprefix("model.")
    if part == "embed_tokens":
        return "token_embd.weight"
    if part == "norm":
        return "output_norm.weight"
    if part == "lm_head":
        return "output.weight"
    _, layer, rest = part.split(".", 2)
    if has_post_norms and rest == "post_attention_layernorm":
        return f"blk.{layer}.post_attention_norm.{kind}"
    return f"blk.{layer}.{NAMES[rest]}.{kind}"


def interleave(tensor, heads):
    """Rows of queries or keys in the order in which files of the llama family have them: RoPE's pairs side by side."""
    return tensor.reshape(heads, 2, tensor.shape[0] // heads // 2, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)


def write(path, architecture, model, configuration):
    writer = gguf.GGUFWriter(path, architecture)
    head_width = getattr(configuration, "head_dim", None) or configuration.hidden_size // configuration.num_attention_heads
    writer.add_block_count(configuration.num_hidden_layers)
    writer.add_context_length(configuration.max_position_embeddings)
    writer.add_embedding_length(configuration.hidden_size)
    writer.add_feed_forward_length(configuration.intermediate_size)
    writer.add_head_count(configuration.num_attention_heads)
    writer.add_head_count_kv(configuration.num_key_value_heads)
    writer.add_key_length(head_width)
    writer.add_value_length(head_width)
    writer.add_layer_norm_rms_eps(configuration.rms_norm_eps)
    if getattr(configuration, "sliding_window", None):
        writer.add_sliding_window(configuration.sliding_window)
    if getattr(configuration, "attn_logit_softcapping", None):
        writer.add_float32(f"{architecture}.attn_logit_softcapping", configuration.attn_logit_softcapping)
    if getattr(configuration, "final_logit_softcapping", None):
        writer.add_float32(f"{architecture}.final_logit_softcapping", configuration.final_logit_softcapping)
    if architecture == "granite":
        writer.add_float32("granite.attention.scale", configuration.attention_multiplier)
        writer.add_float32("granite.embedding_scale", configuration.embedding_multiplier)
        writer.add_float32("granite.residual_scale", configuration.residual_multiplier)
        writer.add_float32("granite.logit_scale", configuration.logits_scaling)

    rope = configuration.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    kind = rope.get("rope_type", "default")
    if kind in ("linear", "yarn"):
        writer.add_string(f"{architecture}.rope.scaling.type", kind)
        writer.add_float32(f"{architecture}.rope.scaling.factor", rope["factor"])
    if "original_max_position_embeddings" in rope and kind != "llama3":
        writer.add_uint32(
            f"{architecture}.rope.scaling.original_context_length", rope["original_max_position_embeddings"]
        )
    if kind == "llama3":
        frequencies = 1.0 / rope["rope_theta"] ** (np.arange(0, head_width, 2) / head_width)
        scaled = model.model.rotary_emb.inv_freq.numpy()
        writer.add_tensor("rope_freqs.weight", (frequencies / scaled).astype(np.float32))
    if kind == "longrope":
        writer.add_string(f"{architecture}.rope.scaling.type", "longrope")
        for length in ("short", "long"):
            factors = np.array(rope[f"{length}_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{length}.weight", factors)

    names = dict(model.named_parameters())
    has_post_norms = architecture.startswith("gemma")
    for name, parameter in names.items():
        if name == "lm_head.weight" and configuration.tie_word_embeddings:
            continue
        values = parameter.detach().numpy()
        if architecture in ("llama", "granite", "smollm3"):
            if ".q_proj." in name:
                values = interleave(values, configuration.num_attention_heads)
            if ".k_proj." in name:
                values = interleave(values, configuration.num_key_value_heads)
        if has_post_norms and name.endswith("norm.weight"):
            values = values + 1
        writer.add_tensor(tensor_name(name, has_post_norms), np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def reference(model, tokens, rounds_cache):
    """The logits of a text. [tokens, vocabulary]"""
    layer = transformers.cache_utils.DynamicLayer
    update = layer.update

    def rounding(self, key_states, value_states, *rest, **named):
        return update(self, key_states.half().float(), value_states.half().float(), *rest, **named)

    windowed = transformers.cache_utils.DynamicSlidingWindowLayer
    windowed_update = windowed.update

    def rounding_windowed(self, key_states, value_states, *rest, **named):
        return windowed_update(self, key_states.half().float(), value_states.half().float(), *rest, **named)

    if rounds_cache:
        layer.update, windowed.update = rounding, rounding_windowed
    try:
        with torch.no_grad():
            return model(torch.tensor([tokens]), use_cache=True).logits[0].numpy()
    finally:
        layer.update, windowed.update = update, windowed_update


def ours(path, tokens, folder, chunk):
    listed = folder / "tokens.json"
    listed.write_text(json.dumps(tokens))
    output = folder / "logits"
    _frame.measure("logits", path, listed, output, "--chunk", chunk)
    return np.fromfile(output, np.float32).reshape(len(tokens), -1)


def main():
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        kept = given.keep or folder
        kept.mkdir(parents=True, exist_ok=True)
        for seed, (name, (architecture, kind, changes)) in enumerate(FAMILIES.items()):
            if given.only and given.only != name:
                continue
            model, configuration = make(kind, changes, seed)
            tokens = torch.randint(3, VOCABULARY, (TOKENS,), generator=torch.Generator().manual_seed(seed)).tolist()
            path = kept / f"{name}.gguf"
            write(path, architecture, model, configuration)
            exact, rounded = reference(model, tokens, False), reference(model, tokens, True)

            def error(logits, against):
                return float((np.abs(logits - against).max(axis=1) / np.abs(against).max(axis=1)).max())

            prompt, steps = ours(path, tokens, folder, TOKENS), ours(path, tokens, folder, 1)
            worst = max(worst, error(prompt, exact), error(steps, exact))
            print(
                f"{name:20} as a prompt {error(prompt, exact):.1e}, token by token {error(steps, exact):.1e}, "
                f"with the reference's cache rounded {error(prompt, rounded):.1e}",
                flush=True,
            )
    _frame.verdict("families", worst, at_most=1e-3)


main()
