"""Turns data/earthquakes.json of npm's vega-datasets 3.2.1 into earthquakes-week.csv.

    npm pack vega-datasets@3.2.1 && tar xzf vega-datasets-3.2.1.tgz
    python3 make_earthquakes_week.py package/data/earthquakes.json > earthquakes-week.csv

The JSON file is a copy of the USGS feed "All Earthquakes, Past Week". Numbers are written as they are given there.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    feed = json.load(file, parse_float=str, parse_int=str)

print("# All seismic events of one week, 2018-01-31 to 2018-02-07 (UTC), 1707 rows.")
print("# Source: U.S. Geological Survey, https://earthquake.usgs.gov/earthquakes/feed/ (public domain),")
print("# taken from npm vega-datasets 3.2.1, data/earthquakes.json, by make_earthquakes_week.py.")
print("latitude,longitude,magnitude")
for feature in feed["features"]:
    longitude, latitude, _depth = feature["geometry"]["coordinates"]
    print(latitude, longitude, feature["properties"]["mag"], sep=",")
