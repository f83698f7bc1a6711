"""Logits with LoRA adapters that `peft` made against those of the merged models: greatest relative error, bar 1e-3.

For each family a small model of transformers gets random weights, and `peft` makes an adapter with random weights for all of
its projections, saves it, and merges it into the model, whose logits are the reference. The engine computes the base file
with the saved adapter beside it: as a prompt and token by token, from peft's own files and from the GGUF file that
llama.cpp's converter would make of them. What the adapter changes is printed too: an adapter that does nothing would be
no test. The error is counted as in `families`.
"""

import pathlib
import tempfile

import _frame

_frame.arguments(__doc__)
_frame.need("torch", "transformers", "gguf", "numpy", "peft")

import _random_models as models  # noqa: E402
import gguf  # noqa: E402
import numpy as np  # noqa: E402
import peft  # noqa: E402
import torch  # noqa: E402

VOCABULARY, TOKENS = 320, 60
FAMILIES = ["llama", "qwen2", "qwen3", "gemma3", "phi3", "granite"]
# What peft can be asked for: plain, with the scale of rank-stabilised LoRA, with ranks and alphas of their own.
VARIANTS = {
    "plain": dict(r=4, lora_alpha=10),
    "rslora": dict(r=3, lora_alpha=2, use_rslora=True),
    "patterns": dict(r=8, lora_alpha=4, rank_pattern={"q_proj": 5, "qkv_proj": 5}, alpha_pattern={"down_proj": 7}),
}


def adapt(model, options, seed):
    """The model with an adapter of random weights for every linear layer, the head of untied models too."""
    linear = [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    targets = sorted({name.rpartition(".")[2] for name in linear})
    if model.config.tie_word_embeddings:
        targets.remove("lm_head")
    adapted = peft.get_peft_model(model, peft.LoraConfig(target_modules=targets, **options))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.08)
    return adapted


def write_gguf(path, adapted, architecture, configuration, alpha):
    """The adapter in llama.cpp's form."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(alpha))
    gemma = architecture.startswith("gemma")
    for name, tensor in peft.get_peft_model_state_dict(adapted).items():
        name = name.removeprefix("base_model.model.")
        for ours, theirs in (("lora_a", ".lora_A.weight"), ("lora_b", ".lora_B.weight")):
            if not name.endswith(theirs):
                continue
            values = tensor.numpy()
            if ours == "lora_b" and architecture in ("llama", "granite", "smollm3"):
                if ".q_proj." in name:
                    values = models.interleave(values, configuration.num_attention_heads)
                if ".k_proj." in name:
                    values = models.interleave(values, configuration.num_key_value_heads)
            there = models.tensor_name(name.removesuffix(theirs) + ".weight", gemma)
            writer.add_tensor(f"{there}.{ours}", np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def logits(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0].numpy()


def error(values, against):
    return float((np.abs(values - against).max(axis=1) / np.abs(against).max(axis=1)).max())


def main():
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for number, name in enumerate(FAMILIES):
            architecture, kind, changes = models.FAMILIES[name]
            for variant, options in VARIANTS.items():
                model, configuration = models.make(kind, {**changes, "vocab_size": VOCABULARY})
                tensors = models.fill(model, architecture, configuration)
                base = folder / f"{name}.gguf"
                models.write(
                    base,
                    models.metadata(architecture, configuration),
                    {**models.factors(model, configuration), **{key: values for key, (values, _, _) in tensors.items()}},
                )
                tokens = [(7 * i * i + 11 * i + len(name)) % (VOCABULARY - 3) + 3 for i in range(TOKENS)]
                plain = logits(model, tokens)
                adapted = adapt(model, options, number)
                saved = folder / f"{name}-{variant}"
                adapted.save_pretrained(saved, save_embedding_layers=False)
                files = [saved / "adapter_model.safetensors"]
                if variant == "plain":
                    files.append(folder / f"{name}-{variant}.gguf")
                    write_gguf(files[1], adapted, architecture, configuration, options["lora_alpha"])
                count = sum("lora_" in name for name in peft.get_peft_model_state_dict(adapted))
                merged = logits(adapted.merge_and_unload(), tokens)
                errors = [
                    error(models.ours(base, tokens, folder, chunk, "--adapter", file), merged)
                    for file in files
                    for chunk in (TOKENS, 1)
                ]
                change = error(plain, merged)
                worst = max(worst, *errors)
                print(
                    f"{name:8} {variant:9} {count} tensors change logits by {change:.2f}; errors "
                    + ", ".join(f"{value:.1e}" for value in errors),
                    flush=True,
                )
                if change < 0.05:
                    raise _frame.Unmeasured(f"the adapter of {name} changes next to nothing")
    _frame.verdict("adapter", worst, at_most=1e-3)


main()
