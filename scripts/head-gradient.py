#!/usr/bin/env python3
"""Measures the rounding errors of the gradient of the GPU's FP32 head against float64 (docs/explanation/numerics.md). Needs numpy.

    python3 scripts/head-gradient.py [vocabulary] [width] [rows] [entropy bonus]

Activations and weights are random, targets are drawn from the softmax, slopes a are normal. For each spread of the logits
it prints the relative Euclidean distance of dh and dw from the float64 gradient at the same bf16 activations: with each
single rounding of csrc/kernels/cuda/lm_head_grad.cu, and with all of them. The first line is the effect of rounding the
activations to bf16.
"""
import sys

import numpy as np


def bf16(x):
    """Returns x rounded to the nearest bf16 (ties to even), as float64."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + ((bits >> 16) & 1) + 0x7FFF) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def same(x):
    return x


def gradient(h, w, targets, a, b, w_z=None, w_dh=None, round_dz=same, round_dh=same):
    """Returns dh [T, C] and dw [V, C] of sum a log p(target) + b H. w_z, w_dh: weights for the products z and dh in place of w."""
    z = h @ (w if w_z is None else w_z).T
    z -= z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    p = np.exp(log_p)
    entropy = -(p * log_p).sum(axis=1, keepdims=True)
    dz = -p * (a[:, None] + b * (log_p + entropy))
    dz[np.arange(len(targets)), targets] += a
    dz = round_dz(dz)
    return round_dh(dz @ (w if w_dh is None else w_dh)), dz.T @ h


def distance(got, exact):
    return tuple(np.linalg.norm(x - y) / np.linalg.norm(y) for x, y in zip(got, exact))


def main(vocabulary=131072, width=128, rows=64, bonus=0.0):
    random = np.random.default_rng(1)
    for spread in (1.0, 2.0, 4.0, 8.0):
        exact_h = random.standard_normal((rows, width))
        w = (random.standard_normal((vocabulary, width)) * spread / np.sqrt(width)).astype(np.float32).astype(np.float64)
        h, first = bf16(exact_h), bf16(w)
        two = first + bf16(w - first)
        p = np.exp(h @ w.T)
        p /= p.sum(axis=1, keepdims=True)
        targets = np.array([random.choice(vocabulary, p=row) for row in p])
        a = random.standard_normal(rows)
        exact = gradient(h, w, targets, a, bonus)
        cases = {
            "activations in bf16": gradient(exact_h, w, targets, a, bonus),
            "two parts of w in z": gradient(h, w, targets, a, bonus, w_z=two),
            "dz in bf16": gradient(h, w, targets, a, bonus, round_dz=bf16),
            "w in bf16 for dh": gradient(h, w, targets, a, bonus, w_dh=first),
            "dh stored in bf16": gradient(h, w, targets, a, bonus, round_dh=bf16),
            "all of the last four": gradient(h, w, targets, a, bonus, two, first, bf16, bf16),
        }
        print(f"logits spread by {spread:g}, median p(target) {np.median(p[np.arange(rows), targets]):.1e}")
        for name, got in cases.items():
            print("  {:22s} dh {:.1e}  dw {:.1e}".format(name, *distance(got, exact)))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*(int(x) for x in given[:3]), *(float(x) for x in given[3:4]))
