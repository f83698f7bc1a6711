"""Hugging Face's `tokenizers` set up from a GGUF file: its own vocabulary with the model's known rules."""

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

CONTROL, USER_DEFINED, UNUSED, NORMAL = 3, 4, 5, 1

# As in the `tokenizer.json` of these models. (Qwen's file also has an NFC normalizer, which llama.cpp leaves out, as we do:
# the text that goes in is the text that comes out.)
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PRE_TOKENIZERS = {
    "qwen2": lambda: [
        pre_tokenizers.Split(Regex(QWEN2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ],
    "smollm": lambda: [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ],
}


def field(reader, key):
    found = reader.fields.get(f"tokenizer.ggml.{key}")
    return None if found is None else found.contents()


def reference(path):
    """The tokenizer of the file and the name of its kind."""
    reader = gguf.GGUFReader(path)
    tokens, types, kind = field(reader, "tokens"), field(reader, "token_type"), field(reader, "model")
    vocabulary = {token: number for number, token in enumerate(tokens)}
    if kind == "gpt2":
        pre = field(reader, "pre")
        merges = [tuple(merge.split(" ")) for merge in field(reader, "merges")]
        tokenizer = Tokenizer(models.BPE(vocabulary, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(PRE_TOKENIZERS[pre]())
        tokenizer.decoder = decoders.ByteLevel()
    elif kind == "llama":
        if field(reader, "add_space_prefix") is not False:
            raise ValueError(f"{path}: the reference is set up for files without the space in front")
        merges = score_merges(vocabulary, types, field(reader, "scores"))
        tokenizer = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    elif kind == "bert":
        # In GGUF files pieces that begin a word have the mark, in BERT's own those that go on with it.
        pieces = {
            token if type_ == CONTROL else token[1:] if token.startswith("▁") else f"##{token}": number
            for number, (token, type_) in enumerate(zip(tokens, types))
        }
        tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
    else:
        raise ValueError(f"{path}: no reference for the tokenizer '{kind}'")
    # Control tokens are text here, as in what a user writes.
    tokenizer.add_tokens(
        [AddedToken(token, normalized=False, special=False) for token, kind in zip(tokens, types) if kind == USER_DEFINED]
    )
    return tokenizer, kind


def score_merges(vocabulary, types, scores):
    """SentencePiece's rule as merges: every way to make a piece of two others, the piece of the highest score first."""
    merges = []
    for piece, number in vocabulary.items():
        if types[number] not in (NORMAL, USER_DEFINED, UNUSED):
            continue
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocabulary and right in vocabulary:
                merges.append((-scores[number], vocabulary[left], vocabulary[right], left, right))
    merges.sort()
    return [(left, right) for *_, left, right in merges]
