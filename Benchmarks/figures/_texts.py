"""Lines that are hard to tokenize: scripts, emoji, white space, numbers, punctuation, code. The same at every run."""

import random
import unicodedata

WORDS = (
    "the quick brown fox jumps over a lazy dog I'm you're they'VE WE'LL don't o'clock it's IT'S 'tis isn't rock'n'roll "
    "Hello World camelCase PascalCase snake_case kebab-case SCREAMING_CASE HTTPServer iPhone eBay e.g. i.e. U.S.A. "
    "naïve café Straße ŒUVRE Ärger Ñandú İstanbul ıssız Ελληνικά ΣΊΣΥΦΟΣ ὀδός Привет мир ЁЖ Україна ქართული Հայերեն "
    "שלום עולם שָׁלוֹם مرحبا بالعالم السَّلَامُ فارسی اردو हिन्दी नमस्ते दुनिया বাংলা ಕನ್ನಡ தமிழ் తెలుగు മലയാളം සිංහල ไทย "
    "สวัสดีชาวโลก ລາວ မြန်မာ ភាសាខ្មែរ བོད་ཡིག አማርኛ 한국어 안녕하세요 日本語 こんにちは カタカナ ｶﾀｶﾅ 漢字かな交じり 中文 你好世界 繁體字 𠮷野家 "
    "ꦧꦱꦗꦮ ᏣᎳᎩ ᠮᠣᠩᠭᠣᠯ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒻𝒶𝓃𝒸𝓎 ①②③ ⅧⅨ ½ ¾ x² H₂O ٣٤٥ १२३ ๑๒๓ ﬁne ﬀ ǅungla ʰa ªº"
).split()
EMOJI = (
    "😀 😂 🥲 👍 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 🇩🇪 🇺🇸🇫🇷 ❤️ ☎️ ✈ 1️⃣ #️⃣ 🧑🏿‍🚀 🫠 🐻‍❄️ ♥︎ ™️ ©"
).split()
PUNCTUATION = (
    ". , ; : ! ? ... … — – - -- --- ' '' \" ` `` ``` ( ) [ ] { } < > << >> => -> != == === ++ += && || | / // \\ # ## ### "
    "$ % ^ ~ ~~~ @ * ** _ __ « » „ “ ” ‘ ’ 。 、 ！ ？ 「 」 ・ ， ： । ۔ ، ¿ ¡ § ° • € £ ¥ ₹ ± × ÷ √ ∑ ∞ ≈ ← ⇒ ─ █ ▁ ▁▁ \ufffd"
).split()
SPACES = [
    " ", " ", " ", "  ", "   ", "    ", "        ", "\t", "\t\t", " \t ", "\u00a0", "\u3000", "\u2003", "\u200b", "\u2028", "\u0085",
    "\n", "\n\n", "\r\n", "\r\n\r\n", "\n \n", " \n", "\n  ", "   \n\n\n   ", "\v", "\f", " " * 17, " " * 40, "\n" * 33, "\t" * 9,
]
CODE = [
    "def main(args: list[str]) -> int:\n    for i in range(10):\n        print(f\"{i:>3} {args!r}\")\n    return 0\n",
    "fn main() {\n\tlet x: Vec<u8> = vec![0xFF; 1_000];\n\tprintln!(\"{:?}\", x);\n}\n",
    "#include <stdio.h>\r\nint main(void) {\r\n  return printf(\"%d\\n\", 1 << 3 & ~0x7f);\r\n}\r\n",
    "SELECT a.id, COUNT(*) AS n FROM t AS a WHERE a.x >= 3.14e-10 AND b LIKE '%x''y%' GROUP BY 1;",
    "<div class=\"a-b\" id='x'>\n  <p>Text &amp; more</p>\n\n</div><!-- note --></s><s> <|endoftext|> <|im_start|>",
    "{\"a\": [1, 2.5, -3e+7, true, null], \"b\\n\": \"\\u00e9\"}",
    "git commit -m 'Fix #123' && cd ../src/ && ls -la | grep -E '^d.*\\.swift$' > /dev/null 2>&1",
    "func f<T: Sendable>(_ x: inout T?, y: @escaping () async throws -> Void) rethrows { x = nil; _ = y }",
    "https://user:pw@example.com:8080/a/b%20c?q=1&r=%E4%BD%A0#frag  me@mail.example.org  127.0.0.1  ::1",
    "| a | b |\n|---|:-:|\n| 1 | `x` |\n\n- [ ] todo\n* **bold** _it_ ~~no~~\n\n> quote\n\n```swift\nlet a = 1\n```\n",
    "x = [\n  1,\n\n\n  2,   # two\n]\n\tif (a!=b){a=-b;}",
]


def scalars():
    """Characters that have had their categories for long, so that every Unicode version agrees on them."""
    for value in range(0x20, 0x2FA1E):
        if unicodedata.ucd_3_2_0.category(chr(value)) in ("Cn", "Cs", "Co"):
            continue
        # A few characters changed their category since.
        if unicodedata.category(chr(value)) == unicodedata.ucd_3_2_0.category(chr(value)):
            yield chr(value)


def lines(count, seed=1):
    """`count` texts; a text may hold line breaks."""
    rng = random.Random(seed)
    everything = list(scalars())

    def number():
        return rng.choice([
            str(rng.randrange(10 ** rng.randrange(1, 14))), f"{rng.random():.5f}", f"{rng.randrange(10**9):,}",
            f"0x{rng.randrange(2**32):X}", "0" * rng.randrange(1, 9), f"{rng.randrange(24):02}:{rng.randrange(60):02}",
        ])

    def piece():
        kind = rng.random()
        if kind < 0.45:
            return rng.choice(WORDS)
        if kind < 0.55:
            return number()
        if kind < 0.68:
            return rng.choice(PUNCTUATION)
        if kind < 0.75:
            return rng.choice(EMOJI)
        if kind < 0.82:
            word = rng.choice(WORDS)
            return "".join(rng.choice([c.upper(), c.lower(), c]) for c in word)
        if kind < 0.88:
            return "".join(rng.choice(everything) for _ in range(rng.randrange(1, 8)))
        if kind < 0.92:
            return rng.choice("aeiouxyz") * rng.randrange(1, 40)
        if kind < 0.95:
            # Letters with marks that do not compose, and marks alone.
            return "".join(rng.choice("aeonsक") + rng.choice("\u0301\u0323\u20dd\u093f\u200d\ufe0f") for _ in range(3))
        return rng.choice(CODE)[: rng.randrange(1, 60)]

    result = ["", " ", "\n", "a", "▁", *CODE, *WORDS, *EMOJI, *PUNCTUATION, *SPACES]
    result += [left + "x" + right for left in SPACES for right in SPACES]
    result += ["bell \x07 null \x00 \x04\x06 escape \x1b[0m delete \x7f", "'ſ 'K it'ſ", "a" * 3000, "ab" * 2000, "漢字" * 1000, " " * 2000, "\n" * 500, "x " * 1000, "👩‍💻" * 300, "9" * 999]
    while len(result) < count:
        text = ""
        for _ in range(rng.randrange(1, 30)):
            text += piece()
            if rng.random() < 0.75:
                text += rng.choice(SPACES) if rng.random() < 0.3 else " "
        result.append(text)
    return result[:count]
