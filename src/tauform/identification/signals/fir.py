"""Filters without phase as finite sums, evaluated only where a value is wanted.

A symmetric kernel delays nothing, and its result at a sample depends on a known number of neighbours: a long recording
is filtered piece by piece, in any pieces, with the same result. Products with banded matrices do the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tauform.arrays import Array, read_only

FILTER_ORDER = 4
# What the end of a kernel has faded to, relative to its beginning.
MAX_TAIL = 1e-7
# Attenuation of what would be folded into the band that is kept by decimation [dB].
ALIAS_ATTENUATION = 120.0
# Samples of a block that is filtered by one product, relative to the length of the kernel: shorter ones read their
# margins more often, longer ones multiply more zeros.
MARGIN_SHARE_OF_BLOCK = 0.5
# Derivatives for a step of one. Central differences lose (2 pi f / rate)^2 / 6 of a motion at f: 1 % at f = rate / 25,
# more than noise does; five points are of fourth order.
CENTRAL = (-0.5, 0.0, 0.5)
FIVE_POINTS = (1 / 12, -8 / 12, 0.0, 8 / 12, -1 / 12)


@cache
def butterworth(cutoff: float) -> Array:
    """Kernel of a Butterworth low-pass run forwards and backwards; the cut-off is relative to half the rate."""
    from scipy import signal  # where it is needed: it brings scipy.stats along, half a second

    zeros, poles, gain = signal.butter(FILTER_ORDER, cutoff, output="zpk")
    half = int(np.ceil(np.log(MAX_TAIL) / np.log(np.abs(poles).max())))
    impulse = np.zeros(2 * half + 1)
    impulse[0] = 1.0
    response = signal.sosfilt(signal.zpk2sos(zeros, poles, gain), impulse)
    both = np.convolve(response, response[::-1])[half : 3 * half + 1]
    return read_only(both / both.sum())


@cache
def decimation(stride: int) -> Array:
    """Kernel to keep every stride-th sample: flat up to a quarter of the new rate, nothing beyond three quarters."""
    from scipy import signal

    length, beta = signal.kaiserord(ALIAS_ATTENUATION, 1.0 / stride)
    return read_only(signal.firwin(length | 1, 1.0 / stride, window=("kaiser", beta)))


def with_derivatives(kernel: Array, rate: float, slope: Sequence[float] = FIVE_POINTS) -> Array:
    """(3, longer) kernels of the filtered values, of their first and of their second derivative."""
    first = np.convolve(kernel, slope) * rate
    wider = len(slope) // 2
    return np.array([np.pad(kernel, 2 * wider), np.pad(first, wider), np.convolve(first, slope) * rate])


@cache
def interpolation(stride: int) -> Array:
    """(stride, L) kernels of the values at each place from one sample to the next, the sample's own first."""
    if stride == 1:
        return read_only(np.ones((1, 1)))
    kernel = decimation(stride)
    half = len(kernel) // 2
    reach = -(-half // stride)
    # Between two samples, each place is a filter of its own: every stride-th tap, from another start.
    place = half + np.arange(stride)[:, None] - stride * np.arange(-reach, reach + 1)
    taps = np.where((place >= 0) & (place < len(kernel)), kernel[np.clip(place, 0, len(kernel) - 1)], 0.0)
    return read_only(taps / taps.sum(axis=1, keepdims=True))


def refined(values: Array, stride: int) -> Array:
    """(N stride, ...) values between the (N, ...) given ones, which hold nothing beyond a quarter of their rate."""
    between = filtered(values, interpolation(stride))
    return between.reshape(stride * len(values), *values.shape[1:])


def filtered(values: Array, kernels: Array, stride: int = 1) -> Array:
    """(ceil(N / stride), K, ...) every stride-th sample of (N, ...) values after each of the (K, L) kernels.

    The ends are continued by reflection about the last value, as `scipy.signal.filtfilt` does.
    """
    flat = values.reshape(len(values), -1)
    n, half = len(flat), kernels.shape[1] // 2
    out = np.empty((-(-n // stride), len(kernels), flat.shape[1]))
    # Windows of the first and the last results reach beyond the values; only there anything is copied.
    head, tail = -(-half // stride), (n - 1 - half) // stride + 1
    if tail <= head:
        _multiply(_continued(flat, half, half + stride), kernels, stride, out)
    else:
        _multiply(flat[head * stride - half :], kernels, stride, out[head:tail])
        _multiply(_continued(flat[: head * stride + half], half, 0), kernels, stride, out[:head])
        _multiply(_continued(flat[tail * stride - half :], 0, half + stride), kernels, stride, out[tail:])
    return out.reshape(len(out), len(kernels), *values.shape[1:])


def _multiply(values: Array, kernels: Array, stride: int, out: Array) -> None:
    """Fill out (N, K, m) with the kernels at windows of values, the first at the first value."""
    count, (n_kernels, length) = len(out), kernels.shape
    per_block = max(1, min(count, round(MARGIN_SHARE_OF_BLOCK * length / stride)))
    window = (per_block - 1) * stride + length
    band = np.zeros((per_block, n_kernels, window))
    for row in range(per_block):
        band[row, :, row * stride : row * stride + length] = kernels
    flat_band, n_blocks = band.reshape(-1, window), count // per_block
    if n_blocks:
        step, across = values.strides
        blocks = np.lib.stride_tricks.as_strided(
            values, (n_blocks, window, values.shape[1]), (per_block * stride * step, step, across), writeable=False
        )
        np.matmul(flat_band, blocks, out=out[: n_blocks * per_block].reshape(n_blocks, len(flat_band), -1))
    rest = count - n_blocks * per_block
    if rest:
        first, width = n_blocks * per_block * stride, (rest - 1) * stride + length
        part = flat_band[: rest * n_kernels, :width] @ values[first : first + width]
        out[n_blocks * per_block :] = part.reshape(rest, n_kernels, -1)


def _continued(values: Array, before: int, after: int) -> Array:
    """Reflected about the first and the last value, as often as it takes."""
    if len(values) == 1:
        return np.repeat(values, 1 + before + after, axis=0)
    if max(before, after) >= len(values):
        return np.pad(values, ((before, after), (0, 0)), mode="reflect", reflect_type="odd")
    head, tail = values[before:0:-1], values[-2 : -2 - after : -1]
    return np.concatenate([2 * values[0] - head, values, 2 * values[-1] - tail])
