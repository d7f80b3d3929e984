"""Writes the files of this folder as PyTorch would, with Python's own pickle and stand-ins for the classes of torch.

    python3 make.py
"""

import collections, io, os, pickle, struct, sys, types, zipfile

torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
sys.modules.update({"torch": torch, "torch._utils": utils})


def _rebuild_tensor_v2(*_):
    pass


_rebuild_tensor_v2.__module__ = "torch._utils"
utils._rebuild_tensor_v2 = _rebuild_tensor_v2


class Storage:
    def __init__(self, key, code, numbers):
        self.key, self.code, self.numbers = key, code, numbers

    def raw(self):
        return struct.pack("<%d%s" % (len(self.numbers), self.code), *self.numbers)


for name, code in [("FloatStorage", "f"), ("DoubleStorage", "d"), ("HalfStorage", "e"), ("LongStorage", "q")]:
    setattr(torch, name, type(name, (), {"__module__": "torch", "code": code}))
BY_CODE = {c.code: c for c in [torch.FloatStorage, torch.DoubleStorage, torch.HalfStorage, torch.LongStorage]}


class Tensor:
    def __init__(self, storage, offset, shape, strides):
        self.view = (storage, offset, shape, strides, False, collections.OrderedDict())

    def __reduce__(self):
        return _rebuild_tensor_v2, self.view


class Pickler(pickle.Pickler):
    legacy = False

    def persistent_id(self, value):
        if isinstance(value, Storage):
            found = ("storage", BY_CODE[value.code], value.key, "cpu", len(value.numbers))
            return found + (None,) if self.legacy else found


def dump(value, protocol=2, legacy=False):
    out = io.BytesIO()
    pickler = Pickler(out, protocol)
    pickler.legacy = legacy
    pickler.dump(value)
    return out.getvalue()


storages = [
    Storage("0", "f", [i / 4 for i in range(12)]),
    Storage("1", "q", [7]),
    Storage("2", "e", [0.5, -2.0]),
    Storage("3", "d", [1e-3, 2.0, 3.0]),
]
state = collections.OrderedDict()
state["plain"] = Tensor(storages[0], 0, (2, 3, 2), (6, 2, 1))
state["turned"] = Tensor(storages[0], 1, (2, 3), (1, 4))
state["bn1.num_batches_tracked"] = Tensor(storages[1], 0, (), ())
state["half"] = Tensor(storages[2], 0, (2,), (1,))
state["double"] = Tensor(storages[3], 1, (2,), (1,))
state._metadata = collections.OrderedDict({"": {"version": 1}})


def archive(path, value, protocol=2, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as out:

        def write(name, data):
            out.writestr(zipfile.ZipInfo(name), data, compression)

        write("tiny/data.pkl", dump(value, protocol))
        write("tiny/byteorder", b"little")
        for storage in storages:
            write("tiny/data/" + storage.key, storage.raw())
        write("tiny/version", b"3\n")


archive("archive.pth", state)
archive("archive-protocol4.pth", {"epoch": 3, "loss": 0.5, "state_dict": state}, 4, zipfile.ZIP_DEFLATED)
with open("legacy.pth", "wb") as out:
    out.write(dump(0x1950A86A20F9469CFC6C) + dump(1001))
    out.write(dump({"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}))
    out.write(dump(state, legacy=True) + dump([s.key for s in storages]))
    for storage in storages:
        out.write(struct.pack("<q", len(storage.numbers)) + storage.raw())


class Evil:
    def __reduce__(self):
        return os.system, ("false",)


archive("evil.pth", {"conv1.weight": Evil()})
archive("beyond.pth", {"conv1.weight": Tensor(storages[0], 1, (2, 3, 2), (6, 2, 1))})
