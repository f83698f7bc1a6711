"""Small models of transformers with random weights, and the GGUF files that are the same models."""

import json
import math

import _frame
import gguf
import numpy as np
import torch
import transformers
from _weights import weights

BASE = dict(
    vocab_size=320,
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


def make(kind, changes):
    """A model of transformers and its configuration."""
    configuration = getattr(transformers, f"{kind}Config")(**{**BASE, **changes})
    model = getattr(transformers, f"{kind.removesuffix('Text')}ForCausalLM")(configuration)
    return model.to(torch.float32).eval(), configuration


def spread(name, shape, layers):
    """(scale, offset) of a tensor's numbers. As trained models have it, each layer changes the stream a little: gain 1
    inside a branch, and 1 / sqrt(branches) on its way out, as GPT-2 is initialised."""
    if name.endswith("norm.weight"):
        return 0.5, 1.0
    if name.endswith(".bias"):
        return 0.25, 0.0
    if name.startswith("token_embd"):
        return 2.0, 0.0
    gain = (2 * layers) ** -0.5 if "attn_output" in name or "ffn_down" in name else 1.0
    # The standard deviation of a uniform number is its scale over sqrt(3).
    return 2.0 ** round(math.log2(gain * (3 / shape[1]) ** 0.5)), 0.0


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


def separate(tensor, heads):
    """The inverse of `interleave`."""
    return tensor.reshape(heads, tensor.shape[0] // heads // 2, 2, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)


def fill(model, architecture, configuration):
    """Gives the model its weights. Returns {name in the file: (numbers, scale, offset)}."""
    tensors = {}
    gemma = architecture.startswith("gemma")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "lm_head.weight" and configuration.tie_word_embeddings:
                continue
            there = tensor_name(name, gemma)
            shape = tuple(parameter.shape)
            scale, offset = spread(there, shape, configuration.num_hidden_layers)
            values = weights(there, shape, scale, offset)
            tensors[there] = (values, scale, offset)
            if architecture in ("llama", "granite", "smollm3"):
                if ".q_proj." in name:
                    values = separate(values, configuration.num_attention_heads)
                if ".k_proj." in name:
                    values = separate(values, configuration.num_key_value_heads)
            if gemma and name.endswith("norm.weight"):
                values = values - 1
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
    return tensors


def metadata(architecture, configuration):
    """[(key, value)] with strings, integers and floats."""
    head_width = getattr(configuration, "head_dim", None) or configuration.hidden_size // configuration.num_attention_heads
    pairs = [
        ("block_count", configuration.num_hidden_layers),
        ("context_length", configuration.max_position_embeddings),
        ("embedding_length", configuration.hidden_size),
        ("feed_forward_length", configuration.intermediate_size),
        ("attention.head_count", configuration.num_attention_heads),
        ("attention.head_count_kv", configuration.num_key_value_heads),
        ("attention.key_length", head_width),
        ("attention.value_length", head_width),
        ("attention.layer_norm_rms_epsilon", float(configuration.rms_norm_eps)),
    ]

    def add(key, attribute):
        value = getattr(configuration, attribute, None)
        if value:
            pairs.append((key, value))

    add("attention.sliding_window", "sliding_window")
    add("attn_logit_softcapping", "attn_logit_softcapping")
    add("final_logit_softcapping", "final_logit_softcapping")
    if architecture == "granite":
        add("attention.scale", "attention_multiplier")
        add("embedding_scale", "embedding_multiplier")
        add("residual_scale", "residual_multiplier")
        add("logit_scale", "logits_scaling")
    rope = configuration.rope_parameters
    rope = rope.get("full_attention", rope)
    pairs.append(("rope.freq_base", float(rope["rope_theta"])))
    kind = rope.get("rope_type", "default")
    if kind in ("linear", "yarn", "longrope"):
        pairs.append(("rope.scaling.type", kind))
    if kind in ("linear", "yarn"):
        pairs.append(("rope.scaling.factor", float(rope["factor"])))
    if kind in ("yarn", "longrope"):
        pairs.append(("rope.scaling.original_context_length", rope["original_max_position_embeddings"]))
    return [("general.architecture", architecture)] + [(f"{architecture}.{key}", value) for key, value in pairs]


def factors(model, configuration):
    """The tensors of RoPE factors that the file has."""
    rope = configuration.rope_parameters
    kind = rope.get("rope_type", "default")
    if kind == "llama3":
        width = configuration.hidden_size // configuration.num_attention_heads
        frequencies = 1.0 / rope["rope_theta"] ** (np.arange(0, width, 2) / width)
        return {"rope_freqs.weight": (frequencies / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)}
    if kind == "longrope":
        return {f"rope_factors_{name}.weight": np.array(rope[f"{name}_factor"], np.float32) for name in ("short", "long")}
    return {}


def write(path, pairs, tensors):
    writer = gguf.GGUFWriter(path, pairs[0][1])
    for key, value in pairs[1:]:
        add = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}[type(value)]
        add(key, value)
    for name, values in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def ours(path, tokens, folder, chunk, *options):
    """The engine's logits of a text. [tokens, vocabulary]"""
    listed = folder / "tokens.json"
    listed.write_text(json.dumps(tokens))
    output = folder / "logits"
    _frame.measure("logits", path, listed, output, "--chunk", chunk, *options)
    return np.fromfile(output, np.float32).reshape(len(tokens), -1)
