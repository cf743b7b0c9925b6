"""Writes activations.json: how large each input channel of the quantised maps gets.

Usage: python calibrate.py MODEL_DIR TEXT_FILE...   (needs numpy, scipy, safetensors, tokenizers)

Runs the fp32 model over the paragraphs of the files and keeps, for each layer
and both inputs "qkv" and "up", the largest absolute value of
every channel, to two digits. The quantise tool turns these into input scales.
"""
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer


def main(model, *files):
    cfg = json.load(open(f"{model}/config.json"))
    w = load_file(f"{model}/model.safetensors")
    tok = Tokenizer.from_file(f"{model}/tokenizer.json")
    tok.no_padding()
    tok.enable_truncation(128)
    heads = cfg["num_attention_heads"]
    top = {}

    def seen(layer, site, x):
        key = f"{layer}.{site}"
        top[key] = np.maximum(top.get(key, 0), np.abs(x).max(0))

    def norm(x, name):
        x = x - x.mean(1, keepdims=True)
        return x / np.sqrt((x * x).mean(1, keepdims=True) + cfg["layer_norm_eps"]) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    texts = [p for f in files for p in Path(f).read_text().split("\n\n") if len(p) > 80]
    for text in texts:
        ids = tok.encode(text).ids
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
        x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for i in range(cfg["num_hidden_layers"]):
            p = f"encoder.layer.{i}."
            seen(i, "qkv", x)
            q, k, v = (linear(x, p + "attention.self." + n).reshape(len(ids), heads, -1).transpose(1, 0, 2) for n in ("query", "key", "value"))
            s = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
            s = np.exp(s - s.max(-1, keepdims=True))
            c = (s / s.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
            x = norm(linear(c, p + "attention.output.dense") + x, p + "attention.output.LayerNorm")
            seen(i, "up", x)
            h = linear(x, p + "intermediate.dense")
            h = (h * 0.5 * (1 + erf(h / np.sqrt(2)))).astype(np.float32)
            x = norm(linear(h, p + "output.dense") + x, p + "output.LayerNorm")
    out = {k: [float(f"{max(x, 0.05):.2g}") for x in v] for k, v in sorted(top.items())}
    lines = ",\n".join(f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in out.items())
    (Path(__file__).parent / "activations.json").write_text("{\n" + lines + "\n}\n")
    print(f"{len(texts)} texts")


main(*sys.argv[1:])
