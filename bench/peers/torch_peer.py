"""The same work in PyTorch. Reads jobs from standard input, one per line, and replies with seconds, one JSON per line."""

import math
import os

import torch

from protocol import ADAM, BATCH, DEPTH, EMA, PAPER_LEVELS, POINTS, SIGMA, WIDTH, serve

torch.set_num_threads(int(os.environ["MAD_THREADS"]))
torch.manual_seed(0)


class Mlp(torch.nn.Module):
    """Dense layers on the scaled point and the noise level."""

    def __init__(self, dim, activation, antisymmetric):
        super().__init__()
        widths = [dim + 1] + [WIDTH] * DEPTH + [dim]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.activation = activation
        self.antisymmetric = antisymmetric

    def chain(self, h):
        for layer in self.layers[:-1]:
            h = self.activation(layer(h))
        return self.layers[-1](h)

    def forward(self, x, sigma):
        scaled, level = x / torch.sqrt(1 + sigma**2), torch.log(sigma) / 4
        if not self.antisymmetric:
            return self.chain(torch.cat([scaled, level], 1))
        both = torch.cat([torch.cat([scaled, level], 1), torch.cat([-scaled, level], 1)])
        plus, minus = self.chain(both).chunk(2)
        return (plus - minus) / 2


def base_mean(x, sigma):
    """Posterior mean of the uniform measure on the sphere in 3 or 4 ambient coordinates."""
    norm = x.norm(dim=1, keepdim=True)
    kappa = (norm / sigma**2).clamp_min(1e-3)
    if x.shape[1] == 3:
        ratio = 1 / torch.tanh(kappa) - 1 / kappa
    else:
        ratio = torch.special.i0e(kappa) / torch.special.i1e(kappa) - 2 / kappa
    return ratio * x / norm


def uniform(n, dim):
    x = torch.randn(n, dim)
    return x / x.norm(dim=1, keepdim=True)


class Training:
    """Noising, anchor, loss, gradient, clipping, fused Adam and the moving average."""

    def __init__(self, dim, activation, antisymmetric, compiled):
        self.data = uniform(POINTS, dim)
        self.model = Mlp(dim, activation, antisymmetric)
        self.parameters = list(self.model.parameters())
        self.average = [p.detach().clone() for p in self.parameters]
        rate, beta1, beta2, epsilon = ADAM
        self.optimiser = torch.optim.Adam(self.parameters, lr=rate, betas=(beta1, beta2), eps=epsilon, fused=True)
        self.loss = torch.compile(self.plain_loss) if compiled else self.plain_loss

    def plain_loss(self, x0, uniform_numbers, noise):
        low, high = math.log(SIGMA[0]), math.log(SIGMA[1])
        sigma = torch.exp(low + (high - low) * uniform_numbers)
        x = x0 + sigma * noise
        target = (x0 - base_mean(x, sigma)) / sigma
        return (self.model(x, sigma) - target).square().sum(1).mean()

    def step(self):
        x0 = self.data[torch.randint(POINTS, (BATCH,))]
        loss = self.loss(x0, torch.rand(BATCH, 1), torch.randn_like(x0))
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 10.0, foreach=True)
        self.optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.parameters, 1 - EMA)


class Products:
    """The matrix products of a training step and nothing else: x W, z W^T and x^T z of every layer, into memory that is kept."""

    def __init__(self, dim):
        widths = [dim + 1] + [WIDTH] * DEPTH + [dim]
        self.layers = []
        for index, (a, b) in enumerate(zip(widths, widths[1:])):
            x, w, z = torch.rand(BATCH, a) - 0.5, torch.rand(a, b) - 0.5, torch.rand(BATCH, b) - 0.5
            # The gradient of the input is not needed, so the first layer has two products.
            turned = (z, w.t(), torch.empty(BATCH, a)) if index > 0 else None
            self.layers.append(((x, w, torch.empty(BATCH, b)), turned, (x.t(), z, torch.empty(a, b))))

    def step(self):
        with torch.inference_mode():
            for products in self.layers:
                for left, right, out in filter(None, products):
                    torch.mm(left, right, out=out)


class PaperSampling:
    """Euler-Maruyama over the paper's geometric scales, 1000 points at once."""

    def __init__(self, dim, activation, antisymmetric, n):
        self.n, self.dim = n, dim
        self.model = Mlp(dim, activation, antisymmetric)
        self.levels = torch.logspace(math.log10(SIGMA[1]), math.log10(SIGMA[0]), PAPER_LEVELS).tolist()

    def step(self):
        with torch.inference_mode():
            x = uniform(self.n, self.dim) + self.levels[0] * torch.randn(self.n, self.dim)
            for level, following in zip(self.levels, self.levels[1:] + [0.0]):
                sigma = torch.full((self.n, 1), level)
                denoised = base_mean(x, sigma) + sigma * self.model(x, sigma)
                if following == 0.0:
                    x = denoised
                    break
                gap = level**2 - following**2
                x = x + gap * (denoised - x) / level**2 + math.sqrt(gap) * torch.randn_like(x)
            return x / x.norm(dim=1, keepdim=True)


silu = torch.nn.functional.silu
serve(
    f"PyTorch {torch.__version__.split('+')[0]}",
    {
        "products": {"mm": lambda: Products(3)},
        "train-sphere": {
            "eager": lambda: Training(3, torch.sin, False, False),
            "compiled": lambda: Training(3, torch.sin, False, True),
        },
        "train-so3": {
            "antisymmetrised": lambda: Training(4, silu, True, False),
            "antisymmetrised-compiled": lambda: Training(4, silu, True, True),
        },
        "sample-sphere": {"paper-100-steps": lambda: PaperSampling(3, torch.sin, False, 1000)},
        "sample-so3": {"paper-100-steps-so3": lambda: PaperSampling(4, silu, True, 1000)},
    },
)
