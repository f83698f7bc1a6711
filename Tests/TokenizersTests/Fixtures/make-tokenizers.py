"""Writes tokenizers.json beside this file: four toy vocabularies with the ids that the reference implementations find, and
how Hugging Face's `tokenizers` cuts texts by the patterns of known pre-tokenizers.

    pip install tokenizers sentencepiece && python3 make-tokenizers.py
"""

import io
import json
import pathlib

import sentencepiece
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

CORPUS = """The quick brown fox jumps over the lazy dog. It's the dog's turn, they'll see. 12345 67, 890!
Der schnelle braune Fuchs springt über den faulen Hund. Straße, Äpfel, naïve cafés.
def main():\n    for i in range(10):\n        print(i, end=' ')\n\treturn None
Привет мир, как дела? 你好，世界。今日はいい天気ですね。 안녕하세요 세계 नमस्ते दुनिया 👍🏽 👩‍💻 🇯🇵
the then there these they them this that those the the the and and of of to to in in is is""".split("\n")

TEXTS = [
    "", " ", "\n", "a", "the dog", " the  dog", "It's the DOG'S turn, THEY'LL see", "don't I'm we've 'tis", "12345 67, 890!",
    "x=1234567;y=12", "x\n\n\ny", "  \n\t x  ", "tab\tand\r\nline", "   ", "a   b", "end   ", "Straße Äpfel naïve", "Привет, мир!",
    "你好，世界。今日は", "안녕하세요 세계", "नमस्ते दुनिया", "👍🏽 👩‍💻 🇯🇵", "CamelCase HTTPServer aB", "e\u0301a\u0323 \u0301", "½ ² ٣٤ Ⅷ", "a_b-c.d/e",
    "print(f\"{x!r}\")  # note\n\n\treturn", "!!! ??? ...\n\n", "<s> </s> <|im_end|>", "\u00a0nbsp\u3000wide", "the the the then", "'ſ 'S", "$5+3<=8^2~|`",
]

CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
    r"|%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {
    "gpt-2": [GPT2],
    "qwen2": [CL100K % r"\p{N}"],
    "llama-bpe": [CL100K % r"\p{N}{1,3}"],
    "qwen35": [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
    "smollm": [r"\p{N}", GPT2],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "tekken": [O200K % ("", "", r"\p{N}")],
    "gpt-4o": [O200K % ("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}")],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"],
    "deepseek-v3": [
        r"\p{N}{1,3}",
        "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ],
    "bailingmoe": [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ],
    "seed-coder": [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
}


def pre_tokenizer(patterns):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns])


def byte_level():
    """A byte-level vocabulary of 320 tokens, trained on CORPUS."""
    splits = [pre_tokenizers.Split(Regex(PATTERNS["qwen2"][0]), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    toy = Tokenizer(models.BPE())
    toy.pre_tokenizer = pre_tokenizers.Sequence(splits)
    toy.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=320, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    )
    model = json.loads(toy.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    return {
        "tokens": tokens,
        "merges": [" ".join(merge) for merge in model["merges"]],
        "ids": [toy.encode(text).ids for text in TEXTS],
    }


def sentence_piece():
    """A SentencePiece vocabulary of 500 pieces with byte fallback, trained on CORPUS."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, model_type="bpe", vocab_size=500, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=True,
        split_by_whitespace=True, user_defined_symbols=["<mark>"], minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    count = pieces.get_piece_size()

    def kind(i):
        if pieces.is_unknown(i):
            return 2
        if pieces.is_control(i):
            return 3
        if pieces.is_byte(i):
            return 6
        return 4 if pieces.id_to_piece(i) == "<mark>" else 1

    return {
        "tokens": [pieces.id_to_piece(i) for i in range(count)],
        "scores": [pieces.get_score(i) for i in range(count)],
        "types": [kind(i) for i in range(count)],
        "ids": [pieces.encode(text) for text in TEXTS],
    }


# What only word pieces care about: accents in both forms, case that changes the length, control characters, long words.
WORD_TEXTS = [
    "Äpfel A\u0308pfel naïve Café", "İstanbul ΣΟΦΟΣ ẞ ǅ", "a\u0000b\u200bc\u00add\ufffde\u0085f\u000bg", "x" * 100, "x" * 101,
    "é" * 100, "the" + "q" * 98, "中文字㐀𠀀﨎", "한국어 テスト ﬁn", "a\u3000b\u2028c", "¿qué? «the» — … ‘dog’ €5 ∑", "[CLS] the [SEP] [UNK]",
    "THE\tDog\r\nturn", "@#$%^&*()_+{}|:<>?~`", "\ue000the\uf8ff", "1,234.5-6/7", "ไทย हिन्दी", "\u1e9b\u0323the",
]


def word_piece(lowercase):
    """A vocabulary of word pieces trained on CORPUS, in the spelling of GGUF files, with and without case."""
    toy = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    toy.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    toy.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    toy.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    tokens = sorted(toy.get_vocab(), key=toy.get_vocab().get)
    # The trainer names the special tokens in the text too; what a user wrote is never one of them.
    plain = Tokenizer(models.WordPiece(toy.get_vocab(), unk_token="[UNK]", max_input_chars_per_word=100))
    plain.normalizer, plain.pre_tokenizer = toy.normalizer, toy.pre_tokenizer
    return {
        "tokens": [t if t in special else t[2:] if t.startswith("##") else "▁" + t for t in tokens],
        "types": [3 if token in special else 1 for token in tokens],
        "ids": [plain.encode(text).ids for text in TEXTS + WORD_TEXTS],
    }


fixture = {
    "texts": TEXTS,
    "byteLevel": byte_level(),
    "sentencePiece": sentence_piece(),
    "wordTexts": WORD_TEXTS,
    "wordPiece": word_piece(True),
    "casedWordPiece": word_piece(False),
    # The lengths of the words in bytes of UTF-8.
    "words": {
        name: [[len(word.encode()) for word, _ in pre_tokenizer(patterns).pre_tokenize_str(text)] for text in TEXTS]
        for name, patterns in PATTERNS.items()
    },
}
path = pathlib.Path(__file__).with_name("tokenizers.json")
path.write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
