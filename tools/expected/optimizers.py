"""Updates of optimizers, each step rounded to float32 as a chain of operations would round it: exact."""
import numpy as np

f32 = np.float32


def mixed(old, share, now):
    return old * f32(share) + now * f32(1 - share)


def adam(scalars, attributes, value, first, second, gradient):
    beta1, beta2, rate, epsilon = attributes
    first, second = mixed(first, beta1, gradient), mixed(second, beta2, np.square(gradient))
    mean, spread = first / (f32(1) - scalars[0]), np.sqrt(second / (f32(1) - scalars[1]))
    return [mean / (spread + f32(epsilon)) * f32(-rate) + value, first, second]


def sgd(scalars, attributes, value, gradient):
    return [scalars[0] * gradient + value]


def momentum(scalars, attributes, value, kept, gradient):
    rate, share = scalars
    kept = share * kept + gradient
    return [rate * (gradient + kept * share if attributes[0] else kept) + value, kept]


def adagrad(scalars, attributes, value, squares, gradient):
    rate, epsilon = attributes
    squares = squares + np.square(gradient)
    return [gradient / np.sqrt(squares + f32(epsilon)) * f32(-rate) + value, squares]


def adadelta(scalars, attributes, value, squares, updates, gradient):
    rate, rho, epsilon = attributes
    change = np.sqrt(updates + f32(epsilon)) / np.sqrt(squares + f32(epsilon)) * gradient
    squares, updates = mixed(squares, rho, np.square(gradient)), mixed(updates, rho, np.square(change))
    return [change * f32(-rate) + value, squares, updates]


def adamax(scalars, attributes, value, first, norm, gradient):
    beta1, beta2, rate, epsilon, decay = attributes
    power, iteration = scalars
    first, norm = mixed(first, beta1, gradient), np.maximum(norm * f32(beta2), np.abs(gradient))
    rate = f32(-rate) / (iteration * f32(decay) + f32(1)) / (f32(1) - power)
    return [rate * (first / (norm + f32(epsilon))) + value, first, norm]


def rms_prop(scalars, attributes, value, squares, moment, *rest):
    rate, decay, share, epsilon, centered = attributes
    gradient = rest[-1]
    squares = mixed(squares, decay, np.square(gradient))
    means = [mixed(rest[0], decay, gradient)] if centered else []
    root = np.sqrt(squares - (np.square(means[0]) + f32(epsilon)) if centered else squares + f32(epsilon))
    moment = moment * f32(share) + gradient * f32(rate) / root
    return [value - moment, squares, moment, *means]


def adam_scalars(attributes, step):
    return [f32(f32(beta) ** step) for beta in attributes[:2]]


def after_adam(scalars, attributes):
    return [power * f32(beta) for power, beta in zip(scalars, attributes)]


def adamax_scalars(attributes, step):
    return [f32(f32(attributes[0]) ** step), f32(step - 1)]


def after_adamax(scalars, attributes):
    return [scalars[0] * f32(attributes[0]), scalars[1] + f32(1)]


def none(*_):
    return []


# Name, what is done to a variable, its inputs, scalars of a step and after it, attributes: the usual ones and others.
UPDATES = (
    ("AdamUpdate", adam, 4, adam_scalars, after_adam,
     [(0.9, 0.999, 0.001, 1e-7), (0.5, 0.25, 2, 0), (0, 0, 0.1, 1e-8), (0.9, 0.99, -0.5, 1), (1, 1, 0.1, 1e-7)]),
    ("SgdUpdate", sgd, 2, lambda _, step: [f32(-0.01 * step)], none, [()]),
    ("MomentumUpdate", momentum, 3, lambda _, step: [f32(-0.01 * step), f32(0.9)], none, [(0,), (1,)]),
    ("AdagradUpdate", adagrad, 3, none, none, [(0.01, 1e-7), (-2, 0), (0, 1)]),
    ("AdadeltaUpdate", adadelta, 4, none, none, [(0.001, 0.95, 1e-7), (1, 0, 1e-3), (-0.5, 1, 0)]),
    ("AdamaxUpdate", adamax, 4, adamax_scalars, after_adamax,
     [(0.9, 0.999, 0.002, 1e-7, 0), (0.5, 0.25, 2, 0, 0.1), (0, 0, -0.1, 1e-8, 1), (1, 1, 0.1, 1e-7, 0)]),
    ("RmsPropUpdate", rms_prop, 4, none, none, [(0.01, 0.9, 0, 1e-7, 0), (0.5, 0.5, 0.9, 1e-3, 0), (-1, 1, 1, 0, 0)]),
    ("RmsPropUpdate", rms_prop, 5, none, none, [(0.01, 0.9, 0, 1e-7, 1), (0.5, 0.5, 0.9, 1e-3, 1), (-1, 1, 1, 0, 1)]),
)


def add(cases, update, variables, attributes, step=1, note="", tolerance=(0, 0)):
    name, apply, _, scalars_of, after, _ = update
    with np.errstate(all="ignore"):
        scalars = scalars_of(attributes, step)
        changed = [each for one in variables for each in apply(scalars, attributes, *one)]
        expected = [*after(scalars, attributes), *changed]
    cases.add(name, [*scalars, *(each for one in variables for each in one)],
              [np.asarray(each, f32) for each in expected], attributes, tolerance, note)


def variable(cases, inputs, shape):
    """What is kept is not below zero, as roots are taken of most of it."""
    kept = [cases.values(shape, low=0) for _ in range(inputs - 2)]
    return [cases.values(shape), *kept, cases.values(shape)]


def add_special(cases, update):
    """To the bit, but that what comes of numbers below the smallest normal one may be zero: the CPU takes them as that."""
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-42, -3e38, 1e19, 2.5], f32)
    value, gradient = (each.reshape(-1) for each in np.meshgrid(special, special))
    zeros, turned = np.zeros_like(value), np.roll(value, 5)
    kept = update[2] - 2
    add(cases, update, [[value, *[zeros] * kept, gradient],
                        [gradient, *[np.abs(turned)] * kept, value]], update[-1][0], note="special values",
        tolerance=(0, 1e-30))


def add_cases(cases):
    shapes = [(), (1,), (7,), (3, 5), (2, 3, 4), (64,), (33, 31), (1025,), (2049,), (0,), (3, 0, 2)]
    for update in UPDATES:
        inputs, (usual, *others) = update[2], update[-1]
        of = lambda *given: [variable(cases, inputs, shape) for shape in given]
        for shape in shapes:
            add(cases, update, of(shape), usual)
        add(cases, update, of(*shapes), usual, step=3, note="several variables")
        add(cases, update, of((0,), (2, 0)), usual, note="empty ones alone")
        add(cases, update, of(*((i % 7,) for i in range(101))), usual, step=9, note="many variables")
        add(cases, update, of((129, 260), (260,), (260, 7)), usual, note="enough for the team")
        for attributes in others:
            add(cases, update, of((6, 11)), attributes, step=2)
        add_special(cases, update)
