"""Writes base.csv: posterior means, first score coordinate and log-densities of base measures under noise sigma.

Recipe: python3 base.py (needs mpmath and bessel.py beside it). Everything is computed from its definition at 150 digits:
sums over the points of a finite set, and E exp(eta.x0) = J(|eta|) on spheres. Inputs are exact doubles; trailing zeros of
vectors are left out.
"""

import csv
from mpmath import mp, mpf, log, exp, sqrt, gamma
from bessel import bessel

SIGMAS = [1e-6, 1e-4, 1e-2, 0.3, 1.0, 10.0, 1e3]
RADII = [0.0, 1e-9, 0.5, 1.0, None, 3.0]  # None: two noise levels outside the sphere
DIRECTION = [0.48, -0.6, 0.64]

POINTS = [[1.0, 0.0], [0.25, 1.5], [-1.0, 0.125], [0.0, -0.75], [0.5, 0.375]]
WEIGHTS = [1.0, 4.0, 0.5, 2.0, 0.03125]
COMPONENTS = [  # weight, mean direction, concentration; the test holds the same numbers
    (0.5, [0.0, 0.6, 0.8], 10.0),
    (0.25, [1.0, 0.0, 0.0], 0.0),
    (0.2, [0.6, 0.0, -0.8], 3e4),
    (0.05, [0.48, -0.6, 0.64], 1e8),
]


def norm(x):
    return sqrt(sum(v * v for v in x))


def log_mean(dim, k):
    """ln(e^{-k} J(k))."""
    nu = mpf(dim) / 2 - 1
    return mpf(0) if k == 0 else log(gamma(nu + 1)) + nu * log(2 / k) + log(bessel(nu, k))


def ratio(dim, k):
    nu = mpf(dim) / 2 - 1
    return mpf(0) if k == 0 else bessel(nu + 1, k) / bessel(nu, k)


def gaussian(dim, sigma):
    return -mpf(dim) / 2 * log(2 * mp.pi * sigma**2)


def mixture(x, sigma, components):
    dim, shares, means = len(x), [], []
    for weight, mu, kappa in components:
        mu = [mpf(v) for v in mu]
        mu = [v / norm(mu) for v in mu] + [mpf(0)] * (dim - len(mu))
        kappa = mpf(kappa)
        eta = [kappa * m + v / sigma**2 for m, v in zip(mu, x)]
        size = norm(eta)
        shares.append(log(mpf(weight)) + size + log_mean(dim, size) - kappa - log_mean(dim, kappa))
        means.append([ratio(dim, size) * e / size if size else mpf(0) for e in eta])
    top = max(shares)
    parts = [exp(s - top) for s in shares]
    mean = [sum(p * m[i] for p, m in zip(parts, means)) / sum(parts) for i in range(dim)]
    density = gaussian(dim, sigma) - (norm(x) ** 2 + 1) / (2 * sigma**2) + top + log(sum(parts))
    return mean, density


def sphere(x, sigma):
    return mixture(x, sigma, [(1.0, [1.0], 0.0)])


def finite(x, sigma, weights):
    logs = [log(mpf(w) / sum(map(mpf, weights))) - sum((a - mpf(b)) ** 2 for a, b in zip(x, u)) / (2 * sigma**2)
            for w, u in zip(weights, POINTS)]
    top = max(logs)
    parts = [exp(v - top) for v in logs]
    mean = [sum(p * mpf(u[i]) for p, u in zip(parts, POINTS)) / sum(parts) for i in range(len(x))]
    return mean, gaussian(len(x), sigma) + top + log(sum(parts))


def torus(x, sigma):
    blocks = [sphere(x[:2], sigma), sphere(x[2:], sigma)]
    return blocks[0][0] + blocks[1][0], blocks[0][1] + blocks[1][1]


def antipodal(x, sigma):
    return mixture(x, sigma, [(w / 2, [s * v for v in mu], kappa) for w, mu, kappa in COMPONENTS[:3] for s in (1, -1)])


MEASURES = {
    "sphere:1": (2, sphere), "sphere:2": (3, sphere), "sphere:3": (4, sphere), "sphere:9": (10, sphere),
    "sphere:99": (100, sphere), "torus:2": (4, torus),
    "finite": (2, lambda x, s: finite(x, s, [1.0] * 5)), "weighted": (2, lambda x, s: finite(x, s, WEIGHTS)),
    "mixture": (3, lambda x, s: mixture(x, s, COMPONENTS)), "antipodal": (4, antipodal),
}


def text(values):
    values = list(values)
    while len(values) > 1 and values[-1] == 0:
        values.pop()
    return " ".join(mp.nstr(v, 17, min_fixed=0, max_fixed=0) if v else "0" for v in values)


def main():
    mp.dps = 150
    with open("base.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["measure", "sigma", "x", "mean", "score0", "log_density"])
        for name, (dim, measure) in MEASURES.items():
            for sigma in SIGMAS:
                for radius in RADII:
                    radius = 1.0 + 2.0 * sigma if radius is None else radius
                    x = [radius * v for v in (DIRECTION + [0.0] * 97)[:dim]]
                    if name == "torus:2":
                        x[3] = 0.5
                    exact = [mpf(v) for v in x]
                    mean, density = measure(exact, mpf(sigma))
                    score = (mean[0] - exact[0]) / mpf(sigma) ** 2
                    while len(x) > 1 and x[-1] == 0.0:
                        x.pop()
                    out.writerow([name, repr(sigma), " ".join(map(repr, x)), text(mean), text([score]), text([density])])


if __name__ == "__main__":
    main()
