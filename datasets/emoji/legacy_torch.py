"""Reads a state dictionary of the legacy (before zip) torch format, without torch.

Such a file is five pickles one after another (magic number, protocol, system, the object, the storage keys) and then, for
every key in that order, an int64 element count and the raw little-endian elements.  Only the few names that a plain state
dictionary needs are resolved: anything else in the pickle is refused, so that the file cannot run code.
"""

import collections
import pickle
import struct

import numpy

MAGIC = 0x1950A86A20F9469CFC6C
ELEMENT = {"FloatStorage": numpy.float32, "LongStorage": numpy.int64}


class _Storage:
    """What a tensor points at: a key and an element type; the numbers come after all pickles."""

    def __init__(self, kind, key, count):
        self.kind, self.key, self.count = kind, key, count


class _Tensor:
    def __init__(self, storage, offset, shape, stride):
        self.storage, self.offset, self.shape, self.stride = storage, offset, shape, stride


def _rebuild(storage, offset, shape, stride, *_):
    return _Tensor(storage, offset, shape, stride)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) in (("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_tensor")):
            return _rebuild
        if module == "torch" and name in ELEMENT:
            return name
        raise pickle.UnpicklingError(f"refusing `{module}.{name}`: a state dictionary does not need it")

    def persistent_load(self, identity):
        tag, kind, key, _device, count, view = identity
        if tag != "storage" or view is not None:
            raise pickle.UnpicklingError(f"unknown persistent object {tag!r}")
        return _Storage(kind, key, count)


def load(path):
    """The tensors of the state dictionary in file order: name -> array."""
    with open(path, "rb") as file:
        if pickle.load(file) != MAGIC:
            raise ValueError(f"{path}: not a legacy torch file")
        pickle.load(file)
        pickle.load(file)
        state = _Unpickler(file).load()
        keys = pickle.load(file)
        kinds = {tensor.storage.key: tensor.storage.kind for tensor in state.values()}
        storages = {}
        for key in keys:
            (count,) = struct.unpack("<q", file.read(8))
            element = numpy.dtype(ELEMENT[kinds[key]]).newbyteorder("<")
            storages[key] = numpy.frombuffer(file.read(count * element.itemsize), dtype=element)
        if file.read(1):
            raise ValueError(f"{path}: bytes after the last storage")
    arrays = {}
    for name, tensor in state.items():
        data = storages[tensor.storage.key][tensor.offset :]
        strides = [step * data.itemsize for step in tensor.stride]
        arrays[name] = numpy.lib.stride_tricks.as_strided(data, tensor.shape, strides).copy()
    return arrays
