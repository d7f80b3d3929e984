"""Writes bessel.csv: I_{nu+1}(k)/I_nu(k), its complement and ln J(k) - k to 17 digits.

J(k) = Gamma(nu+1) (2/k)^nu I_nu(k). Recipe: python3 bessel.py (needs mpmath). Every value comes from the power series or
from the asymptotic series of I_nu, chosen by mpmath, at a precision far above what is written; arguments are exact doubles.
"""

import csv
from mpmath import mp, mpf, besseli, gamma, log, hyp0f1

ORDERS = [0, 0.5, 1, 1.5, 2, 3, 4, 4.5, 7, 10, 15.5, 20, 29, 29.5, 30, 31, 49, 49.5, 75, 100, 150, 249.5, 499.5, 500]
ARGUMENTS = [1e-300, 1e-30, 1e-12, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99, 1, 1.01, 2, 3.5, 5, 8, 12, 17, 22, 25, 28, 29.5, 29.9, 30,
             30.5, 33, 40, 60, 100, 200, 350, 500, 700, 999, 1e3, 2e3, 5e3, 1e4, 3e4, 1e5, 1e6, 1e7, 1e9, 1e12, 1e15]


def bessel(nu, k):
    """e^{-k} I_nu(k), by the asymptotic series where it reaches full precision (its terms fall until m ~ 2k)."""
    if k > 1e5 and nu * nu < k / 4 or k >= 1e7:
        total = term = mpf(1)
        m = 0
        while abs(term) > mp.eps * abs(total) / 16:
            m += 1
            term *= -(4 * nu * nu - (2 * m - 1) ** 2) / (m * 8 * k)
            total += term
            assert m < 5000
        return total / mp.sqrt(2 * mp.pi * k)
    return besseli(nu, k) * mp.exp(-k)


def row(nu, k):
    nu, k = mpf(nu), mpf(k)
    lower, upper = bessel(nu, k), bessel(nu + 1, k)
    ratio = upper / lower
    log_mean = log(gamma(nu + 1)) + nu * log(2 / k) + log(lower)
    return ratio, 1 - ratio, log_mean


def main():
    mp.dps = 400
    with open("bessel.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["order", "argument", "ratio", "complement", "ln_mean_exp_scaled"])
        for nu in ORDERS:
            for k in ARGUMENTS:
                out.writerow([nu, repr(float(k))] + [mp.nstr(v, 20, min_fixed=0, max_fixed=0) for v in row(nu, k)])


if __name__ == "__main__":
    main()
