"""Random numbers: the generator's known answers, and TensorFlow's streams made of it in our language."""
import numpy as np
from functions_case import Plan, literal


def words(values, dtype="uint32"):
    return f"{dtype}([{', '.join(str(int(v)) for v in values)}])"


def halves(value):
    """A 64-bit number as its low and its high word."""
    return [int(value) & 0xffffffff, int(value) >> 32 & 0xffffffff]


def equal(case, results):
    """Judges plain lists of numbers: all equal."""
    if len(results) != 1 or "element" not in results[0]:
        return f"expected one element, got {str(results)[:300]}"
    got = next(iter(results[0]["element"].values())).tolist()
    want = [float(v) if isinstance(v, float) else int(v) for v in case.record["out"]]
    return None if got == want else f"expected {want}, got {got}"


def philox(rounds):
    return lambda case: Plan(f"philox(counter_, key_, rounds={rounds})"
                             .replace("counter_", words(case.inputs["counter"]))
                             .replace("key_", words(case.inputs["key"])), judge=equal)


def counter_order(case):
    """Block 1 of a counter is block 0 of the next one."""
    given, key = words(case.inputs["counter"]), words([1, 2])
    following = words(case.record["out"])

    def judge(_, results):
        first, second = results[0]["element"].values()
        return None if (first == second).all() else f"{first} is not {second}"
    return Plan(f"(philox({given}, {key}, blocks=2)[4:], philox({following}, {key}))", judge=judge)


def stream(key, counter, n, dtype):
    """n numbers of all bits: 32-bit words one by one, 64-bit ones of two, the lower one first."""
    size = 2 if dtype in ("int64", "uint64", "float64") else 1
    text = f"philox({words(counter)}, {words(key)}, blocks={-(-n * size // 4)})[:{n * size}]"
    wide = f"bitcast(reshape({text}, [{n}, 2]), uint64)" if size == 2 else text
    return f"bitcast({wide}, {dtype})" if dtype.startswith("int") else wide


def full_int(case):
    counter = [w for v in case.inputs["counter"] for w in halves(v)]
    return Plan(stream(halves(case.inputs["key"]), counter, case.attrs["n"], case.attrs["dtype"]), judge=equal)


SCRAMBLE = [0x3ec8f720, 0x02461e29]  # TensorFlow's key for making a key and a counter of a seed


def mixed(seed):
    """Four words: the key, and the counter's upper half."""
    return f"philox({words([w for v in seed for w in halves(v)])}, {words(SCRAMBLE)})"


def seed_to_key(case):
    def judge(_, results):
        got = [int(v) for v in results[0]["element"][""]]
        want = [int(case.record["out"]["key"]), int(case.record["out"]["counter"][1])]
        return None if got == want else f"expected {want}, got {got}"
    return Plan(f"bitcast(reshape({mixed(case.inputs['seed'])}, [2, 2]), uint64)", judge=judge)


def seeded(case, n, dtype):
    """n numbers of all bits from a seed; `m` names the mixed words."""
    seed = case.attrs["seed"]
    text = stream([0, 0], [0, 0, 0, 0], n, dtype)
    text = text.replace(words([0, 0, 0, 0]), "concat(uint32([0, 0]), m[2:])").replace(words([0, 0]), "m[:2]", 1)
    return f"let m = {mixed(seed)}; ", text


def shape(case):
    return case.record["out"]["shape"][0] if "out" in case.record else 6


def uniform_full_int(case):
    head, text = seeded(case, shape(case), case.attrs["dtype"])
    return head + text


def uniform(case):
    dtype = case.attrs.get("dtype", "float32")
    head, text = seeded(case, shape(case), dtype)
    if dtype == "float32":
        return head + unit(text)
    if dtype in ("float16", "bfloat16"):
        mantissa, one = (1023, 15360) if dtype == "float16" else (127, 16256)
        bits = f"bitwise_or(bitwise_and({text}, uint32({mantissa})), uint32({one}))"
        return f"{head}bitcast(uint16({bits}), {dtype}) - {dtype}(1.0)"
    mantissa = f"bitwise_or(bitwise_and({text}, uint64(4503599627370495)), uint64(4607182418800017408))"
    return f"{head}bitcast({mantissa}, float64) - 1.0"


def unit(text):
    """TensorFlow's float32 in [0, 1): 23 bits of a word behind the one of 1.m."""
    return f"(bitcast(bitwise_or(bitwise_and({text}, uint32(8388607)), uint32(1065353216)), float32) - 1.0)"


def int_range(case):
    a = case.attrs
    if not a["lo"] < a["hi"]:
        return f"random_uniform([6], int32({a['lo']}), int32({a['hi']}), dtype=int32, seed=1)"
    head, text = seeded(case, shape(case), "uint32")
    return f"{head}int32(int64({text} % uint32({a['hi'] - a['lo']})) + {a['lo']})"


def normal(case):
    """Box and Muller's pairs of neighbouring words."""
    n = shape(case)
    even = n + n % 2
    head, text = seeded(case, even, "uint32")
    return (f"{head}let u = reshape({unit(text)}, [{even // 2}, 2]); "
            "let r = sqrt(-2.0 * log(maximum(u[:, 0], 1e-7))); let v = float32(6.283185307179586) * u[:, 1]; "
            f"reshape(stack(sin(v) * r, cos(v) * r, axis=1), [{even}])[:{n}]")


def bounded(check, text):
    """Draws of ours where the recorded ones are facts about the other library: dtype, shape and bounds."""
    def make(case):
        def judge(_, results):
            want = case.record["out"]
            if len(results) != 1 or "element" not in results[0]:
                return f"expected one element, got {str(results)[:300]}"
            got = results[0]["element"][""]
            if str(got.dtype) != want["dtype"] or list(got.shape) != want["shape"]:
                return f"expected {want['dtype']}{want['shape']}, got {got.dtype}{list(got.shape)}"
            return None if check(got) else f"out of bounds: {got}"
        return Plan(text.format(n=shape(case)), judge=judge)
    return make


def unit_float(case):
    given = words(case.inputs["words"])
    if case.record["src"].startswith("TF"):
        return Plan(f"(x -> {unit('x')})({given})", judge=equal)
    return Plan(f"float32(right_shift({given}, uint32(8))) * float32({literal(2.0**-24)})", judge=equal)


def numpy_stream(case):
    """NumPy goes on to the next counter before the first block."""
    key = case.inputs["key"]
    key = key if isinstance(key, list) else [key, 0]
    return Plan(f"philox({words([1, 0, 0, 0], 'uint64')}, {words(key, 'uint64')}, "
                f"blocks={-(-len(case.record['out']) // 4)})[:{len(case.record['out'])}]", judge=equal)


MAP = {
    "philox4x32_10": philox(10), "philox4x32_7": philox(7), "philox_counter_order": counter_order,
    "tf_full_int_stream": full_int, "tf_seed_to_key": seed_to_key, "tf_stateless_uniform_full_int": uniform_full_int,
    "tf_stateless_uniform": uniform, "tf_stateless_uniform_int_range": int_range, "tf_stateless_normal": normal,
    "tf_stateless_shuffle": bounded(lambda a: sorted(a.tolist()) == list(range(len(a))),
                                    "int32(argsort(random_uniform([{n}], seed=1)))"),
    "tf_stateless_truncated_normal": bounded(
        lambda a: (np.abs(a) <= 2).all(),
        "while_loop(random_normal([{n}], seed=1), x -> any(abs(x) > 2.0), "
        "x -> where(abs(x) > 2.0, random_normal([{n}], seed=2), x), 100)"),
    "u32_to_float01": unit_float, "numpy_philox4x64": numpy_stream,
}
OWN = {}
