"""Adam's update, each step rounded to float32 as a chain of operations would round it: exact."""
import numpy as np

f32 = np.float32
USUAL = (0.9, 0.999, 0.001, 1e-7)  # beta1, beta2, learning rate, epsilon


def updated(powers, variable, attributes):
    """A variable's value, first and second moment after the step."""
    beta1, beta2, rate, epsilon = attributes
    value, first, second, gradient = variable
    first = first * f32(beta1) + gradient * f32(1 - beta1)
    second = second * f32(beta2) + np.square(gradient) * f32(1 - beta2)
    mean, spread = first / (f32(1) - powers[0]), np.sqrt(second / (f32(1) - powers[1]))
    return [mean / (spread + f32(epsilon)) * f32(-rate) + value, first, second]


def add(cases, variables, attributes=USUAL, step=1, note=""):
    powers = [f32(f32(beta) ** step) for beta in attributes[:2]]
    after = [power * f32(beta) for power, beta in zip(powers, attributes)]
    expected = [*after, *(each for one in variables for each in updated(powers, one, attributes))]
    cases.add("AdamUpdate", [*powers, *(each for one in variables for each in one)],
              [np.asarray(each, f32) for each in expected], attributes, (0, 0), note)


def variable(cases, shape):
    value, first, gradient = (cases.values(shape) for _ in range(3))
    return [value, first, cases.values(shape, low=0), gradient]


def add_cases(cases):
    shapes = [(), (1,), (7,), (3, 5), (2, 3, 4), (64,), (33, 31), (1025,), (2049,), (0,), (3, 0, 2)]
    for shape in shapes:
        add(cases, [variable(cases, shape)])
    add(cases, [variable(cases, shape) for shape in shapes], step=3, note="several variables")
    add(cases, [variable(cases, (0,)), variable(cases, (2, 0))], note="empty ones alone")
    add(cases, [variable(cases, (i % 7,)) for i in range(101)], step=9, note="many variables")
    add(cases, [variable(cases, shape) for shape in ((129, 260), (260,), (260, 7))], note="enough for the team")
    with np.errstate(all="ignore"):
        for attributes in ((0.5, 0.25, 2, 0), (0, 0, 0.1, 1e-8), (0.9, 0.99, -0.5, 1), (1, 1, 0.1, 1e-7)):
            add(cases, [variable(cases, (6, 11))], attributes, step=2)
        special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-42, -3e38, 1e19, 2.5], f32)
        value, gradient = (each.reshape(-1) for each in np.meshgrid(special, special))
        zeros, turned = np.zeros_like(value), np.roll(value, 5)
        add(cases, [[value, zeros, zeros, gradient], [gradient, turned, np.abs(turned), value]], note="special values")
