"""Holds the project's tokeniser against the PyPI package tokenizers.

Usage: python compare.py MODEL_DIR [TEXT_FILE ...]

MODEL_DIR has tokenizer.json and vocab.txt. 10,000 texts are made from a fixed
seed (every script of Unicode, mixed words, marks in odd orders, control
characters, special tokens, long words), every code point is tried in a word,
and paragraphs of the given files are added. Exits 1 at the first difference.
With --fixture FILE a small sample is written for the Go test.
"""
import argparse
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

ODD = ["\u200d", "\u200b", "\ufeff", "\x00", "\ufffd", "\u0301", "\u0327", "\u0323", "\u3099", "\u1D165", "\U0001D165",
       "\U0001D16E", "\u302e", "\u1b44", "\u0130", "\u0131", "\u1e9e", "\u037e", "\u2126", "\u212b", "\uac00", "\ud4db", "\u1112",
       "\uf900", "\U0002f800", "\U00020000", "\U0002ceb0", "\u3400", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0",
       "\u3000", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "[cls]", "##ing", "##", "[[SEP]]", "e\u0301", "\u0344",
       "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u00b4", "\u1ffd", "\u1fef", "ﬁ", "ß", "Ǆ", "ΑΣ"]
WORDS = """The quick brown fox jumps over lazy dogs. Retrieval-augmented generation isn't magic; it's I/O! naïve café Ångström
Zürich façade résumé über straße İstanbul Ελληνικά ΣΊΣΥΦΟΣ Москва ёлка Київ עברית שָׁלוֹם العَرَبِيَّة فارسی हिन्दी क़िला বাংলা ไทย ภาษา
日本語 が ガギグ 中文字符 한국어 값 tiếng Việt Đặng ქართული Հայերեն አማርኛ မြန်မာ ខ្មែរ ລາວ བོད foo_bar fooBar::baz() a=b+c x² ½ №5 €100 25°C
http://example.com/a?b=c&d=%20 C:\\Temp\\x.txt <div class="a">""".split()


def blocks():
    """Starts of 128-rune blocks that hold assigned characters."""
    return [b for b in range(0, 0x32000, 128)
            if not 0xD800 <= b < 0xE000 and any(unicodedata.category(chr(c)) != "Cn" for c in range(b, b + 128, 7))]


def texts(count):
    rng = random.Random(20240607)
    starts = blocks()
    for _ in range(count):
        kind = rng.random()
        parts = []
        for _ in range(rng.randint(1, 40)):
            r = rng.random()
            if r < 0.35 or kind < 0.2:
                parts.append(rng.choice(WORDS))
            elif r < 0.45:
                parts.append(rng.choice(ODD))
            elif r < 0.47:
                parts.append(rng.choice("aé字") * rng.randint(95, 105))
            else:
                b = rng.choice(starts)
                parts.append("".join(chr(b + rng.randrange(128)) for _ in range(rng.randint(1, 8))))
        yield rng.choice(["", " ", " ", "\n", "\t"]).join(parts)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("model")
    ap.add_argument("files", nargs="*")
    ap.add_argument("--fixture")
    args = ap.parse_args()
    ref = Tokenizer.from_file(f"{args.model}/tokenizer.json")
    ref.no_truncation()
    ref.no_padding()
    corpus = list(texts(10000))
    corpus += ["a" + "a ".join(chr(c) for c in range(b, min(b + 64, 0x110000))) + "b" for b in range(0, 0x110000, 64)
               if not 0xD800 <= b < 0xE000]
    for name in args.files:
        corpus += [p for p in Path(name).read_text(errors="ignore").split("\n\n") if p.strip()]
    want = [e.ids for e in ref.encode_batch(corpus, add_special_tokens=False)]
    if args.fixture:
        rng = random.Random(7)
        picks = sorted(rng.sample(range(10000), 250), key=lambda i: len(corpus[i]))[:160]
        with open(args.fixture, "w") as f:
            for text, ids in [(corpus[i], want[i]) for i in picks]:
                f.write(json.dumps({"text": text, "ids": ids}) + "\n")
    here = Path(__file__).parent
    got = subprocess.run(["go", "run", str(here), f"{args.model}/vocab.txt"], input="\n".join(json.dumps(t) for t in corpus),
                         capture_output=True, text=True, check=True, cwd=here).stdout.splitlines()
    assert len(got) == len(corpus), (len(got), len(corpus))
    bad = 0
    for text, w, line in zip(corpus, want, got):
        g = json.loads(line)
        if g != w:
            bad += 1
            if bad <= 5:
                at = next((i for i, (a, b) in enumerate(zip(g, w)) if a != b), min(len(g), len(w)))
                print(f"differs at id {at}: {text!r}\n  want {[ref.id_to_token(i) for i in w[at:at + 8]]}\n  got  {[ref.id_to_token(i) for i in g[at:at + 8]]}")
    print(f"{len(corpus)} texts, {sum(map(len, want))} ids, {bad} texts differ")
    sys.exit(bad > 0)


main()
