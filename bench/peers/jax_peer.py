"""The same work in JAX: one jitted step. Reads jobs from standard input, one per line, and replies with seconds."""

import math
import os

os.environ["JAX_PLATFORMS"] = "cpu"
# JAX takes as many threads as it may use processors. With as many threads as processors this changes nothing.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["MAD_THREADS"])])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from protocol import ADAM, BATCH, DEPTH, EMA, PAPER_LEVELS, POINTS, SIGMA, WIDTH, serve  # noqa: E402


def initialise(key, dim):
    widths = [dim + 1] + [WIDTH] * DEPTH + [dim]
    keys = jax.random.split(key, len(widths) - 1)
    return [
        (jax.random.uniform(k, (a, b), minval=-1, maxval=1) * math.sqrt(3 / a), jnp.zeros(b))
        for k, a, b in zip(keys, widths, widths[1:])
    ]


def chain(weights, h, activation):
    for weight, bias in weights[:-1]:
        h = activation(h @ weight + bias)
    weight, bias = weights[-1]
    return h @ weight + bias


def network(weights, x, sigma, activation, antisymmetric):
    scaled, level = x / jnp.sqrt(1 + sigma**2), jnp.log(sigma) / 4
    if not antisymmetric:
        return chain(weights, jnp.concatenate([scaled, level], 1), activation)
    both = jnp.concatenate([jnp.concatenate([scaled, level], 1), jnp.concatenate([-scaled, level], 1)])
    plus, minus = jnp.split(chain(weights, both, activation), 2)
    return (plus - minus) / 2


def base_mean(x, sigma):
    """Posterior mean of the uniform measure on the sphere in 3 or 4 ambient coordinates."""
    norm = jnp.linalg.norm(x, axis=1, keepdims=True)
    kappa = jnp.maximum(norm / sigma**2, 1e-3)
    if x.shape[1] == 3:
        ratio = 1 / jnp.tanh(kappa) - 1 / kappa
    else:
        ratio = jax.scipy.special.i0e(kappa) / jax.scipy.special.i1e(kappa) - 2 / kappa
    return ratio * x / norm


def uniform(key, n, dim):
    x = jax.random.normal(key, (n, dim))
    return x / jnp.linalg.norm(x, axis=1, keepdims=True)


class Training:
    """Noising, anchor, loss, gradient, clipping, Adam and the moving average in one jitted function."""

    def __init__(self, dim, activation, antisymmetric):
        data = uniform(jax.random.key(1), POINTS, dim)
        weights = initialise(jax.random.key(0), dim)
        zeros = jax.tree.map(jnp.zeros_like, weights)
        copy = jax.tree.map(jnp.array, weights)
        self.state = (weights, copy, zeros, jax.tree.map(jnp.zeros_like, weights), 0, jax.random.key(2))
        rate, beta1, beta2, epsilon = ADAM
        low, high = math.log(SIGMA[0]), math.log(SIGMA[1])

        def loss(weights, key):
            rows, level, noise = jax.random.split(key, 3)
            x0 = data[jax.random.randint(rows, (BATCH,), 0, POINTS)]
            sigma = jnp.exp(jax.random.uniform(level, (BATCH, 1), minval=low, maxval=high))
            x = x0 + sigma * jax.random.normal(noise, x0.shape)
            target = (x0 - base_mean(x, sigma)) / sigma
            error = network(weights, x, sigma, activation, antisymmetric) - target
            return jnp.mean(jnp.sum(error**2, axis=1))

        def step(state):
            weights, average, first, second, n, key = state
            key, now = jax.random.split(key)
            gradient = jax.grad(loss)(weights, now)
            norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
            scale = jnp.minimum(1.0, 10.0 / norm)
            n = n + 1
            first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * scale * g, first, gradient)
            second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * (scale * g) ** 2, second, gradient)
            one, two = 1 - beta1**n, 1 - beta2**n
            weights = jax.tree.map(
                lambda w, m, v: w - rate * (m / one) / (jnp.sqrt(v / two) + epsilon), weights, first, second
            )
            average = jax.tree.map(lambda a, w: EMA * a + (1 - EMA) * w, average, weights)
            return weights, average, first, second, n, key

        self.jitted = jax.jit(step, donate_argnums=0)

    def step(self):
        self.state = jax.block_until_ready(self.jitted(self.state))


class PaperSampling:
    """Euler-Maruyama over the paper's geometric scales as one jitted loop."""

    def __init__(self, dim, activation, antisymmetric, n):
        weights = initialise(jax.random.key(0), dim)
        levels = jnp.geomspace(SIGMA[1], SIGMA[0], PAPER_LEVELS)

        def denoise(x, level):
            sigma = jnp.full((n, 1), level)
            return base_mean(x, sigma) + sigma * network(weights, x, sigma, activation, antisymmetric)

        def walk(x, inputs):
            level, following, key = inputs
            gap = level**2 - following**2
            drift = gap * (denoise(x, level) - x) / level**2
            return x + drift + jnp.sqrt(gap) * jax.random.normal(key, x.shape), None

        def sample(key):
            start, noise, steps = jax.random.split(key, 3)
            x = uniform(start, n, dim) + levels[0] * jax.random.normal(noise, (n, dim))
            x, _ = jax.lax.scan(walk, x, (levels[:-1], levels[1:], jax.random.split(steps, PAPER_LEVELS - 1)))
            x = denoise(x, levels[-1])
            return x / jnp.linalg.norm(x, axis=1, keepdims=True)

        self.jitted = jax.jit(sample)
        self.key = jax.random.key(3)

    def step(self):
        self.key, now = jax.random.split(self.key)
        jax.block_until_ready(self.jitted(now))


serve(
    f"JAX {jax.__version__}",
    {
        "train-sphere": {"jit": lambda: Training(3, jnp.sin, False)},
        "train-so3": {"antisymmetrised-jit": lambda: Training(4, jax.nn.silu, True)},
        "sample-sphere": {"paper-100-steps-jit": lambda: PaperSampling(3, jnp.sin, False, 1000)},
        "sample-so3": {"paper-100-steps-so3-jit": lambda: PaperSampling(4, jax.nn.silu, True, 1000)},
    },
)
