#!/usr/bin/env python3
"""Makes the SavedModels of test/saved_models, with TensorFlow (pip install tensorflow-cpu; made with 2.21.0).

    scripts/make_saved_models.py test/saved_models

Each folder has the model, and expected.json with inputs and what TensorFlow makes of them.
"""
import json
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

OUT = Path(sys.argv[1])
tf.random.set_seed(7)
rng = np.random.default_rng(7)


def listed(value):
    value = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    if value.dtype == object or value.dtype.kind == "S":
        return [each.decode() for each in value.reshape(-1).tolist()]
    return value.reshape(-1).tolist()


def save(name, module, signatures, calls):
    """calls: signature -> inputs by name."""
    folder = OUT / name
    if signatures:
        tf.saved_model.save(module, str(folder), signatures=signatures)
    else:
        module.export(str(folder), verbose=False)
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    loaded = tf.saved_model.load(str(folder))
    expected = {}
    for signature, inputs in calls.items():
        names = loaded.signatures[signature].structured_input_signature[1]
        inputs = dict(zip(names, inputs.values()))
        outputs = loaded.signatures[signature](**{key: tf.constant(value) for key, value in inputs.items()})
        expected[signature] = {
            "inputs": {key: {"shape": list(np.shape(value)), "dtype": str(tf.constant(value).dtype.name),
                             "values": listed(tf.constant(value))} for key, value in inputs.items()},
            "outputs": {key: {"shape": value.shape.as_list(), "values": listed(value)}
                        for key, value in outputs.items()},
        }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def keras(name, model, *shape):
    model(np.zeros(shape, np.float32))
    save(name, model, None, {"serving_default": {"x": floats(*shape)}})


def keras_by_hand(name, model, *shape):
    model(np.zeros(shape, np.float32))
    run = tf.function(lambda x: {"y": model(x)}, input_signature=[tf.TensorSpec([None, *shape[1:]], tf.float32, name="x")])
    save(name, model, {"serving_default": run}, {"serving_default": {"x": floats(*shape)}})


L = tf.keras.layers
keras_by_hand("mlp", tf.keras.Sequential([L.Dense(8, activation="relu"), L.Dense(3, activation="softmax")]), 4, 5)
keras("conv", tf.keras.Sequential([
    L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.DepthwiseConv2D(3, padding="same"),
    L.MaxPooling2D(), L.Flatten(), L.Dense(2)]), 2, 8, 8, 3)
keras("lstm", tf.keras.Sequential([L.LSTM(6, return_sequences=True), L.GRU(4), L.Dense(1)]), 3, 7, 5)


class Text(tf.Module):
    """Words to numbers by a table in the graph, another out of a file; an embedding; a branch."""

    def __init__(self):
        words = ["the", "quick", "brown", "fox"]
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(words, tf.range(1, 5, dtype=tf.int64)), 0)
        vocabulary = OUT / "names.txt"
        OUT.mkdir(parents=True, exist_ok=True)
        vocabulary.write_text("zero\none\ntwo\nthree\nfour\n")
        self.names = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            str(vocabulary), tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE), "?")
        self.embedding = tf.Variable(floats(5, 3), name="embedding")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def serve(self, words):
        ids = self.table.lookup(words)
        rows = tf.gather(self.embedding, ids)
        total = tf.reduce_sum(rows)
        return {"ids": ids, "names": self.names.lookup(ids), "rows": rows,
                "sign": tf.cond(total > 0, lambda: total, lambda: -total)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n")])
    def count(self, n):
        i, total = tf.constant(0), tf.constant(0.0)
        while i < n:
            total += tf.cast(i, tf.float32) * self.embedding[0, 0]
            i += 1
        return {"total": total}


text = Text()
save("text", text, {"serving_default": text.serve, "count": text.count},
     {"serving_default": {"words": np.array(["fox", "the", "cat", "brown"])}, "count": {"n": np.int32(5)}})
(OUT / "names.txt").unlink()
