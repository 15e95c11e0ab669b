"""Explanations, traces and optimizations: as text, HTML and plots."""
import html.parser
import json
import unittest
import unittest.mock

import penstock as ps

try:
    import matplotlib
    matplotlib.use("Agg")
except ImportError:
    matplotlib = None


class Page(html.parser.HTMLParser):
    """The cells of a page's tables; checks that its elements close and that it needs nothing from outside."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        assert not {"src", "href"} & dict(attrs).keys(), attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.rows and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def pipeline():
    return ps.range(2000).map(lambda x: ps.sqrt(ps.float32(x))).filter("x -> x < 30.0").batch(32)


class Reports(unittest.TestCase):
    def test_an_explanation(self):
        e = pipeline().explain(seconds=0.2)
        page = Page(e._repr_html_())
        self.assertEqual([row[0] for row in page.rows[1:5]], [s["label"] for s in e.data["stages"]])
        self.assertEqual([row[0] for row in page.rows[6:]], ["measured", *(c["name"] for c in e.data["ceilings"] if c["rate"])])
        self.assertIn(e.verdict.split(":")[0], e._repr_html_())
        self.assertIn(e.verdict, repr(e))

    def test_a_pipeline_without_elements(self):
        e = ps.range(0).batch(2).explain()
        Page(e._repr_html_())
        self.assertIn("batch", str(e))

    def test_the_machine_that_it_is_explained_for(self):
        self.assertEqual(pipeline().explain(seconds=0.1, cores=7).data["cores"], 7)
        with self.assertRaisesRegex(TypeError, "no option 'core'.*cores, memory_bytes"):
            pipeline().explain(core=7)

    def test_a_trace(self):
        ds = pipeline()
        trace = ds.trace(seconds=0.2)
        self.assertEqual(trace.data, json.loads(trace))
        self.assertEqual(trace.program, str(ds))
        self.assertEqual(len(Page(trace._repr_html_()).rows), 5)
        self.assertRegex(repr(trace), r"^<ps.Trace: 29 elements in .*s: range\(2000\) ")
        e = trace.explain(consumer_seconds=1.0)
        self.assertEqual(e.data["verdict"]["holder"], "consumer")
        self.assertEqual(e.data["program"], trace.data["program"])
        with self.assertRaises(ps.InvalidArgument):
            ps.Trace("{}").explain()
        it = iter(ds)
        next(it)
        self.assertIsInstance(it.trace(), ps.Trace)

    def test_an_optimization(self):
        o = pipeline().optimize(trace_seconds=0.1, epochs=3, cores=4)
        self.assertEqual(list(map(len, o.dataset)), list(map(len, pipeline())))
        low, high = o.interval
        self.assertTrue(low <= o.rate <= high)
        self.assertGreater(o.later_passes_rate, 0)
        self.assertIn(str(o.dataset), str(o))
        self.assertEqual(len([r for r in Page(o._repr_html_()).rows if r]), len(o.changes) + bool(o.changes))
        measured = pipeline().optimize(trace_seconds=0.1, measure_seconds=0.1)
        self.assertIn("before", str(measured))

    def test_a_dataset(self):
        page = ps.from_tensor_slices(["<b>&"])._repr_html_()
        Page(page)
        self.assertIn("&lt;b&gt;&amp;", page)


class Plots(unittest.TestCase):
    @unittest.skipUnless(matplotlib, "matplotlib is not installed")
    def test_ceilings(self):
        e = pipeline().explain(seconds=0.2)
        ax = e.plot()
        self.assertEqual([t.get_text() for t in ax.get_yticklabels()][0], "measured")
        self.assertEqual(ax.patches[0].get_width(), e.data["rate"])
        self.assertIs(e.plot(ax), ax)

    @unittest.skipUnless(matplotlib, "matplotlib is not installed")
    def test_a_prediction(self):
        def point(workers, servers):
            return {"workers": workers, "servers": servers, "steps_per_s": 1.0 * workers, "low": 0.9 * workers, "high": 1.1 * workers,
                    "binds": "worker", "use": {}}
        p = ps.Prediction({"points": [point(w, s) for s in (1, 2) for w in (1, 2, 3)], "best": {"workers": 3, "servers": 1},
                           "advice": [], "notes": []})
        ax = p.plot()
        self.assertEqual([list(line.get_ydata()) for line in ax.lines], [[1, 2, 3]] * 2)
        self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()], ["1 server", "2 servers"])

    def test_without_matplotlib(self):
        with unittest.mock.patch.dict("sys.modules", {"matplotlib": None, "matplotlib.pyplot": None}), \
                self.assertRaisesRegex(ImportError, "plot: matplotlib is not installed: pip install matplotlib"):
            ps.range(10).explain().plot()


if __name__ == "__main__":
    unittest.main()
