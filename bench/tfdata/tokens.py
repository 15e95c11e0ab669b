"""The libraries of tokenizers on one core, on the files that `bench/peers.py` makes."""
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"


class Work:
    """Drained like a dataset: it has no element, but works when asked for the first."""

    def __init__(self, work):
        self.work = work

    def skip(self, _):
        return self

    def __iter__(self):
        self.work()
        return iter(())


def lines(path="translation/train.en"):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def train_bpe(path="bpe.json"):
    from tokenizers import ByteLevelBPETokenizer
    model = ByteLevelBPETokenizer()
    model.train_from_iterator(lines(), vocab_size=8000, show_progress=False)
    model.save(path)


def bpe_library():
    from tokenizers import Tokenizer
    model, text = Tokenizer.from_file("bpe.json"), lines()
    return Work(lambda: model.encode_batch(text))


def sentencepiece_library():
    import sentencepiece
    model, text = sentencepiece.SentencePieceProcessor(model_file="translation/pieces.model"), lines()
    return Work(lambda: model.encode(text, num_threads=1))
