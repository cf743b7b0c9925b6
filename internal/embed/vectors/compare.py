"""Holds the built-in model against onnxruntime: cosines and throughput, in one run.

Usage: python compare.py MODEL_DIR TEXTS.jsonl [--threads 1] [--speed]

MODEL_DIR is the fp32 model in the Hugging Face layout; TEXTS.jsonl has one JSON
string a line, or BEIR rows with "text". Needs the PyPI packages numpy, onnx,
onnxruntime, safetensors, tokenizers. The ONNX graph is built here from the
weights, once of standard operators, once with onnxruntime's fused attention;
the faster of the two counts. Cosines are against the fp32 graph.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file
from tokenizers import Tokenizer


def graph(dir, fused):
    """BERT as ONNX: ids, mask [batch, tokens] -> sentence vectors, mean pooled."""
    cfg = json.load(open(f"{dir}/config.json"))
    w = load_file(f"{dir}/model.safetensors")
    heads, hidden, eps = cfg["num_attention_heads"], cfg["hidden_size"], cfg["layer_norm_eps"]
    dim = hidden // heads
    nodes, inits, names = [], [], set()

    def const(name, value):
        if name not in names:
            names.add(name)
            inits.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(kind, inputs, out, domain="", **attrs):
        nodes.append(helper.make_node(kind, inputs, [out], name=out + "_" + kind, domain=domain, **attrs))
        return out

    def linear(x, name, out):
        y = op("MatMul", [x, const(name + ".w", w[name + ".weight"].T)], out + "_mm")
        return op("Add", [y, const(name + ".b", w[name + ".bias"])], out)

    def norm(x, name, out):
        return op("LayerNormalization", [x, const(name + ".w", w[name + ".weight"]), const(name + ".b", w[name + ".bias"])], out,
                  epsilon=eps, axis=-1)

    op("Gather", [const("words", w["embeddings.word_embeddings.weight"]), "ids"], "we")
    op("Shape", ["ids"], "shape", start=1, end=2)
    table = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    op("Slice", [const("positions", table), const("zero", np.array([0], np.int64)), "shape"], "pe")
    op("Add", ["we", "pe"], "e")
    x = norm("e", "embeddings.LayerNorm", "x0")
    op("Cast", ["mask"], "maskf", to=TensorProto.FLOAT)
    op("Unsqueeze", ["maskf", const("ax12", np.array([1, 2], np.int64))], "mask4")
    op("Sub", [const("one", np.float32(1)), "mask4"], "inv4")
    op("Mul", ["inv4", const("big", np.float32(-10000))], "bias4")
    op("Cast", ["mask"], "mask32", to=TensorProto.INT32)
    split = const("split", np.array([0, 0, heads, dim], np.int64))
    merge = const("merge", np.array([0, 0, hidden], np.int64))
    for i in range(cfg["num_hidden_layers"]):
        p, o = f"encoder.layer.{i}.", f"l{i}_"
        a = p + "attention.self."
        if fused:
            qkv = np.concatenate([w[a + n + ".weight"].T for n in ("query", "key", "value")], 1)
            bias = np.concatenate([w[a + n + ".bias"] for n in ("query", "key", "value")])
            op("Attention", [x, const(a + "w", qkv), const(a + "b", bias), "mask32"], o + "ctx", "com.microsoft", num_heads=heads)
        else:
            for n, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
                y = linear(x, a + n, o + n)
                op("Transpose", [op("Reshape", [y, split], o + n + "_r")], o + n + "_t", perm=perm)
            op("MatMul", [o + "query_t", o + "key_t"], o + "qk")
            op("Mul", [o + "qk", const("scale", np.float32(dim ** -0.5))], o + "qks")
            op("Add", [o + "qks", "bias4"], o + "qkm")
            op("Softmax", [o + "qkm"], o + "p", axis=-1)
            op("MatMul", [o + "p", o + "value_t"], o + "pv")
            op("Transpose", [o + "pv"], o + "pvt", perm=[0, 2, 1, 3])
            op("Reshape", [o + "pvt", merge], o + "ctx")
        y = linear(o + "ctx", p + "attention.output.dense", o + "ao")
        if fused:
            ln = p + "attention.output.LayerNorm"
            nodes.append(helper.make_node("SkipLayerNormalization", [y, x, const(ln + ".w", w[ln + ".weight"]), const(ln + ".b", w[ln + ".bias"])],
                                          [o + "x1"], domain="com.microsoft", epsilon=eps, name=o + "sln1"))
        else:
            norm(op("Add", [y, x], o + "res1"), p + "attention.output.LayerNorm", o + "x1")
        h = linear(o + "x1", p + "intermediate.dense", o + "up")
        op("Gelu", [h], o + "act", "com.microsoft")
        y = linear(o + "act", p + "output.dense", o + "down")
        x = norm(op("Add", [y, o + "x1"], o + "res2"), p + "output.LayerNorm", o + "x2")
    op("Unsqueeze", ["maskf", const("ax2", np.array([2], np.int64))], "mask3")
    op("ReduceSum", [op("Mul", [x, "mask3"], "masked"), const("ax1", np.array([1], np.int64))], "sum", keepdims=0)
    op("ReduceSum", ["maskf", const("ax1", np.array([1], np.int64))], "count", keepdims=1)
    op("Div", ["sum", "count"], "out")
    ids, mask = (helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in ("ids", "mask"))
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", hidden])
    g = helper.make_graph(nodes, "bert", [ids, mask], [out], inits)
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


class Reference:
    def __init__(self, path, threads):
        so = ort.SessionOptions()
        so.intra_op_num_threads, so.inter_op_num_threads = threads, 1
        so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        so.log_severity_level = 3
        self.session = ort.InferenceSession(path, so, providers=["CPUExecutionProvider"])

    def embed(self, ids):
        """Embeds lists of ids of one length as a batch, or one list alone."""
        a = np.array(ids, np.int64)
        v = self.session.run(["out"], {"ids": a, "mask": np.ones_like(a)})[0]
        return v / np.linalg.norm(v, axis=1, keepdims=True)


def ours(binary, texts, *flags):
    p = subprocess.run([binary, *flags], input="\n".join(json.dumps(t) for t in texts).encode(), capture_output=True, check=True)
    return np.frombuffer(p.stdout, np.float32).reshape(len(texts), -1), json.loads(p.stderr.decode().strip().splitlines()[-1])


def cosines(a, b):
    c = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return f"mean {c.mean():.6f}  1% {np.quantile(c, .01):.6f}  min {c.min():.6f}"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("model")
    ap.add_argument("texts")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--speed", action="store_true")
    ap.add_argument("--paths", default="avx512-vnni,avx2,portable")
    args = ap.parse_args()
    here, tmp = Path(__file__).parent, tempfile.mkdtemp()
    binary = f"{tmp}/vectors"
    subprocess.run(["go", "build", "-o", binary, "."], check=True, cwd=here)
    tok = Tokenizer.from_file(f"{args.model}/tokenizer.json")
    tok.no_padding()
    tok.no_truncation()
    rows = [json.loads(line) for line in open(args.texts)]
    texts = [r if isinstance(r, str) else (r.get("title") or "") + " " + r["text"] for r in rows]
    step = max(1, len(texts) // args.count)
    short = []
    for t in texts[::step][:args.count]:
        e = tok.encode(t, add_special_tokens=False)
        if len(e.ids) > 254:
            t = t.encode()[:len(t[:e.offsets[253][1]].encode())].decode(errors="ignore")
        if t.strip():
            short.append(t)
    short = [t for t in short if 0 < len(tok.encode(t, add_special_tokens=False).ids) <= 254]

    refs = {}
    for fused in (False, True):
        onnx.save(graph(args.model, fused), f"{tmp}/f{fused}.onnx")
        quantize_dynamic(f"{tmp}/f{fused}.onnx", f"{tmp}/q{fused}.onnx", weight_type=QuantType.QInt8,
                         extra_options={"DefaultTensorType": TensorProto.FLOAT})
        refs["fp32", fused] = Reference(f"{tmp}/f{fused}.onnx", args.threads)
        refs["int8", fused] = Reference(f"{tmp}/q{fused}.onnx", args.threads)
    paths = args.paths.split(",")
    if not args.speed:
        ids = [tok.encode(t).ids for t in short]
        ref = np.concatenate([refs["fp32", False].embed([i]) for i in ids])
        q = np.concatenate([refs["int8", True].embed([i]) for i in ids])
        print(f"{len(short)} texts, {sum(map(len, ids))} tokens; cosine with onnxruntime fp32")
        print(f"  {'onnxruntime int8':28} {cosines(ref, q)}")
        vectors = {}
        for path in paths:
            vectors[path], _ = ours(binary, short, "-path", path)
            print(f"  {path + ' int8':28} {cosines(ref, vectors[path])}")
        v, _ = ours(binary, short, "-float", "-dir", args.model)
        print(f"  {'float, fp32 weights':28} {cosines(ref, v)}")
        for path in paths[1:]:
            print(f"  {paths[0] + ' with ' + path:28} {cosines(vectors[paths[0]], vectors[path])}")
        return
    long = " ".join(short)
    for length in (128, 256):
        enc = tok.encode(long, add_special_tokens=False)
        cut = []
        at = 0
        while len(cut) < 24 and at + length < len(enc.ids):
            piece = long[enc.offsets[at][0]:enc.offsets[at + length - 3][1]]
            at += length
            if len(tok.encode(piece).ids) == length:
                cut.append(piece)
        ids = [tok.encode(t).ids for t in cut]
        tokens = sum(map(len, ids))
        speed = {}
        for kind in ("fp32", "int8"):
            best = 0
            for fused in (False, True):
                for batch in (1, 8):
                    parts = [ids[i:i + batch] for i in range(0, len(ids), batch)]
                    for _ in range(3):
                        t0 = time.perf_counter()
                        for p in parts:
                            refs[kind, fused].embed(p)
                        best = max(best, tokens / (time.perf_counter() - t0))
            speed[kind] = best
        print(f"{length} tokens, {len(cut)} texts, {args.threads} thread(s): onnxruntime fp32 {speed['fp32']:.0f} tokens/s, int8 {speed['int8']:.0f}")
        for path in paths:
            _, info = ours(binary, cut, "-path", path, "-rounds", "12", "-threads", str(args.threads))
            got = info["tokens"] / info["seconds"]
            print(f"  {path:14} {got:8.0f} tokens/s = {got / speed['fp32']:.2f} x fp32, {got / speed['int8']:.2f} x int8")
    query = ["how do I rotate the keys of the backup server"]
    ids = tok.encode(query[0]).ids
    line = [f"query of {len(ids)} tokens:"]
    for kind in ("fp32", "int8"):
        times = []
        for _ in range(50):
            t0 = time.perf_counter()
            refs[kind, True].embed([ids])
            times.append(time.perf_counter() - t0)
        line.append(f"onnxruntime {kind} {np.median(times) * 1e3:.2f} ms,")
    for path in paths:
        _, info = ours(binary, query, "-path", path, "-rounds", "50", "-query")
        line.append(f"{path} {info['seconds'] * 1e3:.2f} ms,")
    print(" ".join(line).rstrip(","))


main()
