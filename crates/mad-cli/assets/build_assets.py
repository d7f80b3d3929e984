"""Makes land-110m.txt and DejaVuSans-subset.ttf from their sources. Run once; the results are committed.

    npm pack world-atlas@2.0.2        -> land-110m.json (Natural Earth 1:110m land, public domain)
    DejaVu fonts 2.37                 -> DejaVuSans.ttf
    pip install fonttools
    python build_assets.py land-110m.json DejaVuSans.ttf

land-110m.txt: one closed ring per line, numbers in hundredths of a degree: longitude and latitude of the first point,
then the steps to each further point. Steps take the short way round, so a ring may run past ±180. The closing point is
left out. Lines that begin with # are comments.
"""

import json
import subprocess
import sys

land_json, font = sys.argv[1:3]
topology = json.load(open(land_json))
(sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]

arcs = []
for arc in topology["arcs"]:
    x = y = 0
    points = []
    for dx, dy in arc:
        x, y = x + dx, y + dy
        points.append((round(100 * (x * sx + tx)), round(100 * (y * sy + ty))))
    arcs.append(points)

lines = ["# Natural Earth 1:110m land (public domain) by way of npm world-atlas 2.0.2; see build_assets.py"]
for polygon in topology["objects"]["land"]["geometries"][0]["arcs"]:
    for ring in polygon:
        points = []
        for i in ring:
            piece = arcs[i] if i >= 0 else arcs[~i][::-1]
            points += piece[1:] if points else piece
        steps = [points[0]]
        for (x0, y0), (x1, y1) in zip(points, points[1:-1]):
            dx = (x1 - x0 + 18000) % 36000 - 18000
            if (dx, y1 - y0) != (0, 0):
                steps.append((dx, y1 - y0))
        lines.append(" ".join(f"{x} {y}" for x, y in steps))
with open("land-110m.txt", "w") as out:
    out.write("\n".join(lines) + "\n")

# Latin-1, Greek, general punctuation that labels use, superscripts and subscripts, arrows, common maths signs.
unicodes = "U+0020-007E,U+00A0-00FF,U+0391-03A9,U+03B1-03C9,U+2010-2015,U+2018-201E,U+2020-2022,U+2026,U+2030,U+2032,U+2033,"
unicodes += "U+2070-208E,U+211D,U+2190-2194,U+2202,U+2205-2209,U+2211,U+2212,U+221A,U+221D,U+221E,U+2225-222B,U+2248,"
unicodes += "U+2260-2265,U+2295,U+2297,U+22C5"
subprocess.check_call([
    "pyftsubset", font, f"--unicodes={unicodes}", "--output-file=DejaVuSans-subset.ttf", "--no-hinting",
    "--layout-features=kern", "--name-IDs=0,1,2,3,4,5,6,13,14", "--drop-tables+=FFTM,GDEF",
])
