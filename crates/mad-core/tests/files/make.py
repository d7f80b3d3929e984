"""Makes the small files in this folder as the programs that users have would write them.

Needs numpy, scipy and pyarrow. The tests know the values: point i is at latitude 10 i - 40, longitude 35 i - 170, with the
name `s{i % 3}`; rotation i is scipy's `Rotation.from_euler("zyx", [20 i, 5 i, -10 i], degrees=True)`.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.spatial.transform import Rotation

n = 9
i = np.arange(n)
lat, lon = 10.0 * i - 40, 35.0 * i - 170
name = [f"s{k % 3}" for k in i]
table = pa.table({"lat": lat, "lon": pa.array(lon, pa.float32()), "name": name, "count": pa.array(i, pa.uint8())})
pq.write_table(table, "plain.parquet", compression="snappy")
pq.write_table(table.set_column(2, "name", pa.array(name).dictionary_encode()), "dictionary.parquet", compression="zstd")
pq.write_table(table, "small_groups.parquet", compression="gzip", row_group_size=2, data_page_version="2.0")
pq.write_table(table, "lz4.parquet", compression="lz4")
holes = table.set_column(0, "lat", pa.array([None if k in (2, 5) else float(v) for k, v in enumerate(lat)]))
pq.write_table(holes, "nulls.parquet")
place = pa.array([{"lat": a, "lon": b} for a, b in zip(lat, lon)])
tags = pa.array([["a", "b"]] * n)
pq.write_table(table.append_column("place", place).append_column("tags", tags), "nested_beside.parquet")
pq.write_table(pa.table({"place": place, "tags": tags}), "nested_only.parquet")
types = pa.table({
    "half": pa.array(lat.astype(np.float16)),
    "truth": pa.array(i % 2 == 0),
    "money": pa.array([f"{k}.25" for k in i]).cast(pa.decimal128(7, 2)),
    "negative": pa.array(-i, pa.int64()),
})
pq.write_table(types, "types.parquet", store_decimal_as_integer=True)

q = Rotation.from_euler("zyx", np.stack([20 * i, 5 * i, -10 * i], 1), degrees=True).as_quat()
np.savez("one.npz", rotations=q)
np.savez_compressed("several.npz", rotations=q, places=np.stack([lat, lon], 1))
np.save("matrices.npy", Rotation.from_quat(q).as_matrix())
np.save("fortran.npy", np.asfortranarray(q.astype(">f4")))
np.save("flags.npy", np.array([[True, False], [False, True]]))
np.save("objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
rows = "\n".join(",".join(repr(float(v)) for v in row) for row in q)
open("scipy.csv", "w").write("x,y,z,w\n" + rows + "\n")
open("ros.csv", "w").write(
    "%time,field.pose.position.x,field.pose.position.y,field.pose.position.z,field.pose.orientation.x,"
    "field.pose.orientation.y,field.pose.orientation.z,field.pose.orientation.w\n"
    + "\n".join(f"{k},{k}.5,0.25,-1," + ",".join(repr(float(v)) for v in row) for k, row in enumerate(q)) + "\n"
)
open("mujoco.csv", "w").write("qw,qx,qy,qz\n" + "\n".join(",".join(repr(float(v)) for v in row[[3, 0, 1, 2]]) for row in q) + "\n")
np.savetxt("savetxt.txt", q)
for seq, file in (("zyx", "euler_fixed.csv"), ("ZYX", "euler_turning.csv")):
    angles = Rotation.from_quat(q).as_euler(seq, degrees=True)
    rows = "\n".join(",".join(repr(float(v)) for v in row) for row in angles)
    open(file, "w").write("yaw_deg,pitch_deg,roll_deg\n" + rows + "\n")
