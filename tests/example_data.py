"""The pipelines in examples/: which data each takes, and how little does for a test.

A pipeline says in its comment which data it reads: `# Data: penstock synth coco coco`.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples"
DATA = re.compile(r"^# Data: penstock (synth .*)$", re.M)
# Elements of each kind for a test.
SMALL = {"imagenet": 12, "images": 12, "coco": 8, "clicks": 400, "translation": 900, "documents": 40, "speech": 24}
# Params for so little data; batches of one kind of pipeline are not of another's.
SMALL_PARAMS = {
    "asr": ["batch_divisor=12"], "dlrm": ["batch_size=64"], "dlrm_csv": ["batch_size=64"],
    "gnmt_records": ["batch_size=16"], "gnmt_text": ["batch_size=8"], "lm_memmap": ["batch_size=2", "steps=4"],
    "lm_text": ["batch_size=2", "length=64"], "maskrcnn_train": ["batch_size=4", "replicas=1"],
    "mixture": ["batch_size=2", "length=128"], "resnet_eval": ["batch_size=4", "images=16"],
    "resnet_train": ["batch_size=4"], "resnet_unfused": ["batch_size=4"], "simclr": ["batch_size=2", "edge=64"],
    "ssd_train": ["batch_size=2"], "augment_train": ["batch_size=4", "edge=64"], "transformer_small_flax": ["batch_size=8"],
    "transformer_small_loop": ["batch_size=8"], "transformer_wmt": ["batch_size=4"]}


def pipelines():
    """The names of those that run; the others are imported."""
    return sorted(p.stem for p in FOLDER.glob("*.pipe") if DATA.search(p.read_text(encoding="utf-8")))


def text_of(name):
    return (FOLDER / f"{name}.pipe").read_text(encoding="utf-8")


def synth_calls(name):
    return [m.split() for m in DATA.findall(text_of(name))]


def params(values):
    return [word for value in values for word in ("--set", value)]


def make_data(program, names, folder, elements, env=None):
    """Makes what these pipelines read below `folder`; `elements` by kind, or the kind's own number."""
    for call in sorted({tuple(c) for name in names for c in synth_calls(name)}):
        count = elements.get(call[1])
        words = [program, *call, *(["--elements", str(count)] if count else [])]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=600, env=env)
