"""Complex numbers and Fourier transforms."""
import numpy as np

SHAPES = [(), (0,), (1,), (7,), (16,), (33,), (3, 5), (2, 0, 3), (2, 3, 4)]
ROWS = [(1,), (2,), (3,), (5,), (8,), (15,), (17,), (64,), (101,), (360,), (1024,), (3, 6),
        (2, 3, 10), (0,), (4, 0), (0, 4)]


def transforms(cases):
    for shape in ROWS:
        x = cases.values(shape, "complex64")
        for name, function in (("FFT", np.fft.fft), ("IFFT", np.fft.ifft)):
            if x.size == 0:
                cases.add(name, [x], x)
                continue
            expected = function(x.astype(np.complex128)).astype(np.complex64)
            cases.add(name, [x], expected, tolerance=(1e-6, 3e-6 * np.abs(expected).max()))
    spike = np.array([1, np.nan, 0, 0], np.complex64)
    cases.add("FFT", [spike], np.full(4, np.nan + 1j * np.nan, np.complex64), note="NaN spreads")


def add_cases(cases):
    for shape in SHAPES:
        z = cases.values(shape, "complex64")
        real, imaginary = np.array(z.real), np.array(z.imag)
        cases.add("Complex", [real, imaginary], z)
        cases.add("Real", [z], real)
        cases.add("Imag", [z], imaginary)
    whole = cases.values((5,), "int32")
    cases.add("Complex", [whole, np.zeros(5, np.bool_)], whole.astype(np.complex64), note="integers")
    odd = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    z = np.empty(4, np.complex64)
    z.real, z.imag = odd, odd[::-1]
    cases.add("Complex", [odd, odd[::-1]], z, note="NaN and infinities")
    transforms(cases)
