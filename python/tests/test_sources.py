"""Python code in a pipeline: sources, and functions that are not traced."""
import gc
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np

import penstock as ps


def count_to(n):
    def walk():
        for i in range(n):
            yield i
    return walk


class Generators(unittest.TestCase):
    def test_each_pass_begins_anew(self):
        ds = ps.from_generator(count_to(3))
        self.assertEqual(list(ds.repeat(2)), [0, 1, 2, 0, 1, 2])
        self.assertEqual(list(ds), [0, 1, 2])
        self.assertEqual(list(ps.from_generator([5, 6]).repeat(2)), [5, 6, 5, 6])
        with self.assertRaisesRegex(ps.InvalidArgument, "walked over once only"):
            ps.from_generator(iter([1, 2]))

    def test_structures(self):
        Point = __import__("collections").namedtuple("Point", "x y")
        for given, got in [((1, 2.5), (1, 2.5)), ({"a": 1, "b": "text"}, {"a": 1, "b": b"text"}), (Point(1, 2), {"x": 1, "y": 2}),
                           ((1, {"a": (2, True)}), (1, {"a": (2, True)})), ({"one": 1}, {"one": 1}), ((7,), (7,)),
                           ([1, [2.5, b"x"]], (1, (2.5, b"x")))]:
            with self.subTest(given):
                self.assertEqual(list(ps.from_generator([given, given])), [got, got])

    def test_dtypes(self):
        self.assertEqual(ps.from_generator([1.5]).spec.dtype, ps.float32)  # as in text
        self.assertEqual(ps.from_generator([np.float64(1.5)]).spec.dtype, ps.float64)
        self.assertEqual(ps.from_generator([[1.5]]).spec, ps.TensorSpec(ps.float32, (None,)))
        self.assertEqual(ps.from_generator([np.zeros((2, 3), np.uint8)]).spec, ps.TensorSpec(ps.uint8, (None, None)))
        self.assertEqual(list(ps.from_generator([1, 255], spec=ps.uint8)), [1, 255])
        self.assertEqual(list(ps.from_generator([np.float32(1), 2], spec=np.float64)), [1.0, 2.0])
        [x] = ps.from_generator([np.arange(6).reshape(2, 3).T], spec=ps.TensorSpec(ps.int64, (3, 2)))
        self.assertEqual(x.tolist(), [[0, 3], [1, 4], [2, 5]])

    def test_what_is_not_as_declared(self):
        def said(items, spec):
            with self.assertRaises(ps.InvalidArgument) as caught:
                list(ps.from_generator(items, spec=spec))
            return str(caught.exception)
        self.assertIn("expected int64: float64 2.5", said([2.5], ps.int64))
        self.assertIn("expected uint8: int64 300", said([300], ps.uint8))
        self.assertIn("int64[3], declared int64[2]", said([np.arange(3)], ps.TensorSpec(ps.int64, (2,))))
        self.assertIn("expected a dict with 'a', 'b': a dict with 'a'", said([{"a": 1}], {"a": ps.int64, "b": ps.int64}))
        self.assertIn("expected a tuple of 2: a tuple of 3", said([(1, 2, 3)], (ps.int64, ps.int64)))
        self.assertIn("a spec is made of ps.TensorSpec and dtypes: 'no'", said([1], "no"))
        with self.assertRaisesRegex(ps.InvalidArgument, "no first element"):
            ps.from_generator([])

    def test_a_buffer_that_is_used_again(self):
        def walk():
            buffer = np.zeros(4, np.int64)
            for i in range(3):
                buffer[:] = i
                yield buffer
                yield {"x": buffer}["x"][1:3]
        self.assertEqual([x.tolist() for x in ps.from_generator(walk)],
                         [[0] * 4, [0] * 2, [1] * 4, [1] * 2, [2] * 4, [2] * 2])

    def test_an_array_that_nobody_holds_is_not_copied(self):
        places = []

        def fresh():
            array = np.zeros(100_000)
            places.append(array.__array_interface__["data"][0])
            return array
        spec = ps.TensorSpec(ps.float64, (None,))
        got = [x.__array_interface__["data"][0] for x in ps.from_generator(lambda: (fresh() for _ in range(3)), spec=spec)]
        self.assertEqual(got, places)

    def test_errors(self):
        def walk():
            yield 1
            raise ValueError("two")
        it = iter(ps.from_generator(walk))
        self.assertEqual(next(it), 1)
        with self.assertRaises(ps.InvalidArgument) as caught:
            next(it)
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        self.assertRegex(str(caught.exception), r"^generator: ValueError: two \(.*test_sources.py:\d+, in walk\)$")
        self.assertEqual(list(it), [])

    def test_states(self):
        ds = ps.from_generator(count_to(10)).map(lambda x: x * x)
        it = ds.iterate()
        for _ in range(4):
            next(it)
        state = it.save_state()
        self.assertEqual(list(ds.restore(state)), [16, 25, 36, 49, 64, 81])
        program = """if True:
            import sys, penstock as ps
            ds = ps.from_generator(lambda: iter(range(10)), spec=ps.int64, identity=%r)
            if len(sys.argv) == 1:
                it = ds.iterate(); next(it); next(it)
                sys.stdout.buffer.write(it.save_state())
            else:
                try:
                    print(*ds.restore(open(sys.argv[1], "rb").read()))
                except ps.FailedPrecondition as e:
                    print(e)
        """
        for identity, expected in [("ten", "2 3 4 5 6 7 8 9"), ("", "has no identity")]:
            with self.subTest(identity), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "state")
                path.write_bytes(run(program % identity).stdout)
                self.assertIn(expected, run(program % identity, str(path)).stdout.decode())

    def test_text_and_pickle(self):
        ds = ps.from_generator([1])
        self.assertEqual(str(ds), "generator()")
        with self.assertRaisesRegex(ps.Error, "Python code"):
            pickle.dumps(ds)
        with self.assertRaises(ps.Error):
            ps.parse(str(ps.range(3).map(ps.py_map(abs))))


class Functions(unittest.TestCase):
    def test_structures(self):
        pairs = ps.from_tensor_slices((np.arange(3), np.arange(3) * 10))
        self.assertEqual(list(pairs.map(ps.py_map(lambda a, b: int(a + b)))), [0, 11, 22])
        self.assertEqual(list(pairs.map(ps.py_map(lambda t: len(t)))), [2, 2, 2])
        rows = pairs.map(lambda a, b: {"a": a, "in": {"b": b}})
        self.assertEqual(list(rows.map(ps.py_map(lambda e: {"sum": int(e["a"] + e["in"]["b"])}))),
                         [{"sum": 0}, {"sum": 11}, {"sum": 22}])
        self.assertEqual(list(ps.range(6).filter(ps.py_map(lambda x: bool(x % 2)))), [1, 3, 5])

    def test_in_a_traced_function(self):
        name = ps.py_map(lambda n, s: f"{s.decode()}{n}", spec=ps.bytes)
        self.assertEqual(list(ps.range(2).map(lambda n: {"name": name(n, "row"), "n": n + 1})),
                         [{"name": b"row0", "n": 1}, {"name": b"row1", "n": 2}])
        twice = ps.py_map(lambda n: n * 2, spec=ps.int64)
        nested = ps.range(3).flat_map(lambda n: ps.range(n).map(lambda m: twice(m) + n))
        self.assertEqual(list(nested), [1, 2, 4])
        with self.assertRaisesRegex(ps.InvalidArgument, "needs the spec"):
            ps.range(3).map(lambda n: ps.py_map(abs)(n))

    def test_order_with_several_threads(self):
        def slow(x):
            for _ in range(int(x) % 7 * 100):
                pass
            return x
        self.assertEqual(list(ps.range(500).map(ps.py_map(slow), num_parallel_calls=4).configure(threads=4)), list(range(500)))

    def test_processes(self):
        ds = ps.range(20).map(ps.py_map(math.sqrt, spec=ps.float64, processes=2))
        self.assertEqual(list(ds), [math.sqrt(i) for i in range(20)])
        self.assertIn("num_parallel_calls=2", str(ds))
        with self.assertRaises(ps.InvalidArgument) as caught:
            list(ps.from_tensor_slices([-1]).map(ps.py_map(math.sqrt, spec=ps.float64, processes=1)))
        self.assertIsInstance(caught.exception.__cause__, ValueError)

    def test_errors(self):
        class Mine(Exception):
            pass

        def f(x):
            if x == 1:
                raise Mine("one")
            return x
        it = iter(ps.range(3).map(ps.py_map(f, spec=ps.int64)))
        self.assertEqual(next(it), 0)
        with self.assertRaises(ps.Error) as caught:
            next(it)
        self.assertEqual((caught.exception.code, caught.exception.node), ("UNKNOWN", "map"))
        self.assertIsInstance(caught.exception.__cause__, Mine)
        self.assertEqual(list(it), [2])
        self.assertEqual(list(ps.range(3).map(ps.py_map(f, spec=ps.int64)).ignore_errors()), [0, 2])

    def test_ctrl_c(self):
        """Raised by the interpreter within the function itself, in the thread that computes."""
        def f(x):
            if x == 2:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1 << 40):
                    pass
            return x
        it = iter(ps.range(5).map(ps.py_map(f, spec=ps.int64)).configure(threads=1))
        with self.assertRaises(KeyboardInterrupt):
            list(it)


class Lifetimes(unittest.TestCase):
    def test_cycles_are_collected(self):
        class Trainer:
            def __init__(self):
                self.data = ps.from_generator(self.walk).map(ps.py_map(self.f, spec=ps.int64)).batch(2)
                self.iterator = iter(self.data)
                next(self.iterator)

            def walk(self):
                yield from range(8)

            def f(self, x):
                return x
        trainer = Trainer()
        gone = weakref.ref(trainer)
        del trainer
        for _ in range(3):
            gc.collect()
        self.assertIsNone(gone())

    def test_the_iterator_keeps_the_code(self):
        it = iter(ps.from_generator(count_to(3)).map(ps.py_map(lambda x: x + 1)).prefetch(2))
        gc.collect()
        self.assertEqual(list(it), [1, 2, 3])
        [nested] = ps.range(1).map(lambda n: ps.range(2).map(ps.py_map(lambda x: x + 5, spec=ps.int64)))
        gc.collect()
        self.assertEqual(list(nested), [5, 6])

    def test_the_interpreter_ends_while_python_code_runs(self):
        done = run("""if True:
            import itertools, penstock as ps
            def forever():
                for i in itertools.count():
                    yield i
            it = iter(ps.from_generator(forever).map(ps.py_map(lambda x: x + 1), num_parallel_calls=2).prefetch(4))
            print(next(it))
        """)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"1\n", b"", 0))

    def test_threads_of_python_take_part(self):
        ds = ps.from_generator(count_to(2000)).map(ps.py_map(lambda x: x + 1), num_parallel_calls=2)
        it = iter(ds)
        parts = [[] for _ in range(3)]
        threads = [threading.Thread(target=lambda p=p: p.extend(it)) for p in parts]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(x for p in parts for x in p), list(range(1, 2001)))


def run(program, *args):
    return subprocess.run([sys.executable, "-c", program, *args], capture_output=True, timeout=120, check=False)


if __name__ == "__main__":
    unittest.main()
