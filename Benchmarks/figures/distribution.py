"""Next-token distributions against float32 of the same dequantised weights, per catalogue model: mean KL, bar 2e-3, and top-1 >= 99 %.

The positions are the second half of the first 512 tokens of a mixed text, as llama.cpp's `llama-perplexity` takes them, so
that its own distributions, computed beside ours, are compared with the same reference. The reference is a plain float32
forward pass, written here, over the weights that gguf-py dequantises.
"""

import json
import pathlib
import struct
import subprocess
import tempfile

import _frame

CONTEXT = 512
MODELS = ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m", "gemma-3-270m"]
TEXT = pathlib.Path(__file__).parent / "data" / "mixed.txt"


def options(parser):
    parser.add_argument("--model", action="append", help="a model's name or path; default: each of the catalogue")
    parser.add_argument("--cache-type", choices=["f16", "q8_0"], default="f16", help="of our engine (default: %(default)s)")


given = _frame.arguments(__doc__, data=TEXT, extra=options)
_frame.need("torch", "gguf", "numpy")

import gguf  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(_frame.THREADS)


class Reference:
    """Llama, Qwen2 and Gemma 3 in float32, one layer's weights in memory at a time."""

    def __init__(self, path):
        self.reader = gguf.GGUFReader(path)
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}
        self.kind = self.field("general.architecture")
        if self.kind not in ("llama", "qwen2", "gemma3"):
            raise _frame.Unmeasured(f"no reference for the architecture {self.kind}")
        self.heads = self.number("attention.head_count")
        self.kv_heads = self.number("attention.head_count_kv", self.heads)
        self.width = self.number("embedding_length")
        self.head_width = self.number("attention.key_length", self.width // self.heads)
        self.epsilon = self.number("attention.layer_norm_rms_epsilon")
        self.base = self.number("rope.freq_base", 10000.0)

    def field(self, key, default=None):
        field = self.reader.get_field(key)
        return default if field is None else field.contents()

    def number(self, key, default=None):
        return self.field(f"{self.kind}.{key}", default)

    def weight(self, name):
        tensor = self.tensors[name]
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        return torch.from_numpy(np.ascontiguousarray(values, np.float32).reshape(tuple(reversed(tensor.shape.tolist()))))

    def linear(self, x, name):
        y = x @ self.weight(f"{name}.weight").T
        return y + self.weight(f"{name}.bias") if f"{name}.bias" in self.tensors else y

    def norm(self, x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight(f"{name}.weight")

    def rope(self, x, base):
        """x: [heads, tokens, head width]"""
        half = self.head_width // 2
        frequencies = base ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * frequencies
        cosine, sine = angles.cos().float(), angles.sin().float()
        if self.kind == "llama":
            even, odd = x[..., 0::2], x[..., 1::2]
            turned = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1)
            return turned.flatten(-2)
        first, second = x[..., :half], x[..., half:]
        return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1)

    @torch.no_grad()
    def log_probabilities(self, tokens, positions):
        """[positions, vocabulary]"""
        gemma = self.kind == "gemma3"
        embedding = self.weight("token_embd.weight")
        x = embedding[torch.tensor(tokens)] * (self.width**0.5 if gemma else 1.0)
        count = len(tokens)
        distance = torch.arange(count)[:, None] - torch.arange(count)[None, :]
        for layer in range(self.number("block_count")):
            block = f"blk.{layer}"
            sliding = gemma and (layer + 1) % 6 != 0
            visible = (distance >= 0) & (distance < self.number("attention.sliding_window")) if sliding else distance >= 0
            y = self.norm(x, f"{block}.attn_norm")

            def split(part, heads):
                return self.linear(y, f"{block}.attn_{part}").reshape(count, heads, self.head_width).transpose(0, 1)

            query, key, value = split("q", self.heads), split("k", self.kv_heads), split("v", self.kv_heads)
            if gemma:
                query, key = self.norm(query, f"{block}.attn_q_norm"), self.norm(key, f"{block}.attn_k_norm")
            base = 10000.0 if sliding else self.base
            query, key = self.rope(query, base), self.rope(key, base)
            group = self.heads // self.kv_heads
            key, value = key.repeat_interleave(group, 0), value.repeat_interleave(group, 0)
            scores = query @ key.transpose(1, 2) / self.head_width**0.5
            mixed = scores.masked_fill(~visible, -torch.inf).softmax(-1) @ value
            y = self.linear(mixed.transpose(0, 1).reshape(count, -1), f"{block}.attn_output")
            x = x + (self.norm(y, f"{block}.post_attention_norm") if gemma else y)
            y = self.norm(x, f"{block}.ffn_norm")
            gate, up = self.linear(y, f"{block}.ffn_gate"), self.linear(y, f"{block}.ffn_up")
            gate = torch.nn.functional.gelu(gate, approximate="tanh") if gemma else torch.nn.functional.silu(gate)
            y = self.linear(gate * up, f"{block}.ffn_down")
            x = x + (self.norm(y, f"{block}.post_ffw_norm") if gemma else y)
        x = self.norm(x[positions], "output_norm")
        head = self.weight("output.weight") if "output.weight" in self.tensors else embedding
        return (x @ head.T).log_softmax(-1)


def peer_log_probabilities(path, text, folder):
    """What `llama-perplexity` computes: its tokens, and the log probabilities of the second half of the context.

    Its file holds 16 bits for each token, in steps of 1/65535 of the range of the greatest 16 nats; less is clipped, and
    is None here. Source: `log_softmax` and `kl_divergence` in llama.cpp's tools/perplexity/perplexity.cpp.
    """
    saved = folder / "peer"
    command = [_frame.peer("llama-perplexity"), "-m", path, "-f", text, "-c", CONTEXT, "-b", CONTEXT, "--chunks", 1]
    command += ["-t", _frame.THREADS, "--kl-divergence-base", saved]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode or not saved.exists():
        raise _frame.Unmeasured(f"llama-perplexity ended with status {done.returncode}: {done.stderr[-300:]}")
    data = saved.read_bytes()
    magic, context, vocabulary, chunks = struct.unpack_from("<8siii", data)
    if magic != b"_logits_" or context != CONTEXT or chunks != 1:
        raise _frame.Unmeasured("llama-perplexity wrote a file of another form")
    tokens = np.frombuffer(data, "<i4", CONTEXT, 20)
    start = 20 + 4 * CONTEXT
    width = 2 * ((vocabulary + 1) // 2) + 4
    rows = np.frombuffer(data, "<u2", (CONTEXT - 1 - CONTEXT // 2) * width, start).reshape(-1, width)
    scale, least = rows[:, :4].copy().view("<f4").T
    steps = rows[:, 4 : 4 + vocabulary]
    values = steps * scale[:, None] + least[:, None]
    return tokens.tolist(), np.where(steps == 0, np.nan, values)


def compare(reference, other):
    """Mean KL divergence and share of equal likeliest tokens. What `other` does not know counts as equal."""
    known = np.nan_to_num(other, nan=0.0)
    terms = np.where(np.isnan(other), 0.0, np.exp(reference) * (reference - known))
    equal = np.argmax(reference, 1) == np.argmax(np.nan_to_num(other, nan=-np.inf), 1)
    return float(terms.sum(1).mean()), float(equal.mean()), float(terms.sum(1).max())


def main():
    worst_divergence, worst_agreement = 0.0, 1.0
    for name in given.model or MODELS:
        path = _frame.model(name)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            peer = None
            try:
                tokens, peer = peer_log_probabilities(path, given.data, folder)
            except _frame.Unmeasured as reason:
                print(f"{name}: no figure of the peer: {reason}", flush=True)
                tokens = json.loads(_frame.measure("tokenize", path, given.data))[:CONTEXT]
            positions = list(range(CONTEXT // 2, CONTEXT - 1))
            exact = Reference(path).log_probabilities(tokens, positions).numpy().astype(np.float64)
            listed = folder / "tokens.json"
            listed.write_text(json.dumps(tokens))
            _frame.measure("logits", path, listed, folder / "ours", "--cache-type", given.cache_type)
            logits = np.memmap(folder / "ours", np.float32, mode="r").reshape(len(tokens), -1)
            logits = torch.from_numpy(np.array(logits[positions]))
            ours = logits.log_softmax(-1).numpy().astype(np.float64)
        divergence, agreement, greatest = compare(exact, ours)
        worst_divergence, worst_agreement = max(worst_divergence, divergence), min(worst_agreement, agreement)
        print(f"{name}: {len(positions)} positions, mean KL {divergence:.2e}, greatest {greatest:.2e}, top-1 {agreement:.2%}")
        if peer is not None:
            divergence, agreement, greatest = compare(exact, peer)
            print(f"  llama.cpp: mean KL {divergence:.2e}, greatest {greatest:.2e}, top-1 {agreement:.2%}", flush=True)
    if worst_agreement < 0.99:
        print(f"distribution: top-1 agreement {worst_agreement:.2%} is below 99 %")
        worst_divergence = float("nan")
    _frame.verdict("distribution", worst_divergence, at_most=2e-3)


main()
