"""What the peers share: the sizes of the work, and the loop that serves requests."""

import json
import sys
import time

POINTS, BATCH, WIDTH, DEPTH = 5000, 512, 512, 5
SIGMA = (3e-3, 5.0)
ADAM = (1e-3, 0.9, 0.999, 1e-8)
EMA = 0.99
PAPER_LEVELS = 100


def serve(peer, jobs):
    """Says which jobs stand for which bench, then replies to `JOB REPEATS` with {"seconds": [...]}, one entry per repeat.

    `jobs` maps a bench to jobs, and a job to what prepares it. A job is warmed up when it is first named.
    """
    print(json.dumps({"peer": peer, "jobs": {bench: list(named) for bench, named in jobs.items()}}), flush=True)
    jobs = {job: prepare for named in jobs.values() for job, prepare in named.items()}
    ready = {}
    for line in sys.stdin:
        name, repeats = line.split()
        try:
            if name not in ready:
                ready[name] = jobs[name]()
                for _ in range(3):
                    ready[name].step()
            seconds = []
            for _ in range(int(repeats)):
                start = time.perf_counter()
                ready[name].step()
                seconds.append(time.perf_counter() - start)
            reply = {"seconds": seconds}
        except Exception as error:  # the caller decides what a missing reply means
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
