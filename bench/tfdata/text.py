"""Text and click logs in tf.data: as users write it (`*_plain`), and in blocks as an expert would (`*_blocks`).

The same work as the pipelines that `bench/peers.py` runs beside them, on the same files in the working directory. In
blocks, a filter is a mask, words are looked up for a whole block, and rows are rebatched if possible.
"""
import tensorflow as tf

Dataset, strings = tf.data.Dataset, tf.strings
lines = tf.data.TextLineDataset
BLOCK = 1024


def table(path):
    file = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                         tf.lookup.TextFileIndex.LINE_NUMBER)
    return tf.lookup.StaticHashTable(file, 0)


def unbatched(ds):
    """Makes rows of ragged blocks dense: they are ragged tensors of rank 0, which buckets refuse, until a map."""
    return ds.unbatch().map(lambda row: row)


def numbers_plain():
    ds = lines("numbers.txt").map(lambda s: strings.to_number(strings.split(s)))
    return ds.filter(lambda x: tf.size(x) > 2).shuffle(10000, seed=1).padded_batch(64)


def numbers_blocks():
    def of_block(s):
        words = strings.split(s)
        words = tf.ragged.boolean_mask(words, words.row_lengths() > 2)
        return words.with_flat_values(strings.to_number(words.flat_values)).to_tensor()
    return lines("numbers.txt").shuffle(10000, seed=1).batch(64).map(of_block)


def words_plain():
    words = table("words.vocab")
    ds = lines("words.txt").map(lambda s: words.lookup(strings.split(s))).filter(lambda x: tf.size(x) > 2)
    return ds.shuffle(10000, seed=1).bucket_by_sequence_length(tf.size, [10, 20, 30], [64] * 4)


def words_blocks():
    words = table("words.vocab")

    def of_block(s):
        ids = strings.split(s)
        ids = tf.ragged.boolean_mask(ids, ids.row_lengths() > 2)
        return ids.with_flat_values(words.lookup(ids.flat_values))
    ds = unbatched(lines("words.txt").batch(BLOCK).map(of_block))
    return ds.shuffle(10000, seed=1).bucket_by_sequence_length(tf.size, [10, 20, 30], [64] * 4)


def gnmt_tables():
    source, target = table("translation/vocab.en"), table("translation/vocab.de")
    def of(words, word):
        return tf.cast(words.lookup(tf.constant(word)), tf.int32)
    return source, target, of(target, "<s>"), of(target, "</s>"), of(source, "</s>")


def gnmt_batches(ds, eos, source_eos, batch_size=128, longest=50, buckets=5):
    width = (longest + buckets - 1) // buckets
    shapes = dict(source=[None], target_input=[None], target_output=[None], source_length=[], target_length=[])
    padding = dict(source=source_eos, target_input=eos, target_output=eos, source_length=0, target_length=0)
    def bucket(x):
        length = tf.maximum(x["source_length"], x["target_length"])
        return tf.cast(tf.minimum(buckets, length // width), tf.int64)
    return ds.group_by_window(bucket, lambda _, rows: rows.padded_batch(batch_size, shapes, padding),
                              window_size=batch_size).prefetch(2)


def gnmt_text_plain(longest=50):
    source, target, bos, eos, source_eos = gnmt_tables()
    ds = Dataset.zip((lines("translation/train.en"), lines("translation/train.de"))).shuffle(128 * 1000, seed=1)
    ds = ds.map(lambda s, t: (strings.split(s), strings.split(t)))
    ds = ds.filter(lambda s, t: tf.logical_and(tf.size(s) > 0, tf.size(t) > 0))
    ds = ds.filter(lambda s, t: tf.logical_and(tf.size(s) < longest, tf.size(t) < longest))
    ds = ds.map(lambda s, t: (s[:longest], t[:longest]))
    ds = ds.map(lambda s, t: (tf.cast(source.lookup(s), tf.int32), tf.cast(target.lookup(t), tf.int32)))
    ds = ds.map(lambda s, t: dict(source=s, target_input=tf.concat(([bos], t), 0), target_output=tf.concat((t, [eos]), 0)))
    ds = ds.map(lambda x: dict(x, source_length=tf.size(x["source"]), target_length=tf.size(x["target_input"])))
    return gnmt_batches(ds, eos, source_eos)


def gnmt_text_blocks(longest=50):
    source, target, bos, eos, source_eos = gnmt_tables()

    def column(value, rows):
        return tf.RaggedTensor.from_uniform_row_length(tf.fill([rows], value), 1)

    def of_block(s, t):
        s, t = strings.split(s), strings.split(t)
        lengths = s.row_lengths(), t.row_lengths()
        keep = tf.reduce_all([(0 < n) & (n < longest) for n in lengths], axis=0)
        s, t = tf.ragged.boolean_mask(s, keep), tf.ragged.boolean_mask(t, keep)
        s = s.with_flat_values(tf.cast(source.lookup(s.flat_values), tf.int32))
        t = t.with_flat_values(tf.cast(target.lookup(t.flat_values), tf.int32))
        inputs = tf.concat([column(bos, t.nrows()), t], 1)
        return dict(source=s, target_input=inputs, target_output=tf.concat([t, column(eos, t.nrows())], 1),
                    source_length=tf.cast(s.row_lengths(), tf.int32), target_length=tf.cast(inputs.row_lengths(), tf.int32))
    ds = Dataset.zip((lines("translation/train.en").batch(BLOCK), lines("translation/train.de").batch(BLOCK)))
    return gnmt_batches(unbatched(ds.map(of_block)).shuffle(128 * 1000, seed=1), eos, source_eos)


def clicks(fields):
    counts = fields[..., 1:14]
    numbers = strings.to_number(tf.where(counts == "", "0", counts))
    return dict(dense=tf.math.log(tf.maximum(numbers, 0) + 1), label=strings.to_number(fields[..., 0]),
                sparse=strings.to_hash_bucket_fast(fields[..., 14:40], 40_000_000))


def click_lines():
    return Dataset.list_files("clicks/day_*.gz", shuffle=True).interleave(
        lambda f: lines(f, compression_type="GZIP"), cycle_length=8, block_length=4096)


def click_fields(line):
    return tf.compat.v1.string_split(line, "\t", skip_empty=False).values


def dlrm_plain(batch_size=8192):
    ds = click_lines().map(lambda line: clicks(click_fields([line])))
    return ds.shuffle(1_000_000).batch(batch_size, drop_remainder=True).prefetch(2)


def dlrm_blocks(batch_size=8192):
    ds = click_lines().shuffle(1_000_000).batch(batch_size, drop_remainder=True)
    return ds.map(lambda rows: clicks(tf.reshape(click_fields(rows), [batch_size, 40]))).prefetch(2)


COLUMNS = [tf.constant([0], tf.int32)] + [0.0] * 13 + [""] * 26


def click_columns(*row):
    return dict(label=row[0], dense=tf.math.log1p(tf.maximum(tf.stack(row[1:14], -1), 0)),
                sparse=strings.to_hash_bucket_fast(tf.stack(row[14:40], -1), 1_000_000))


def click_tables():
    return Dataset.list_files("clicks/day_*.tsv", shuffle=False)


def dlrm_csv_plain(batch_size=8192):
    ds = click_tables().flat_map(lines).map(lambda line: tf.io.decode_csv(line, COLUMNS, field_delim="\t"))
    return ds.batch(batch_size, drop_remainder=True).map(click_columns).prefetch(2)


def dlrm_csv_dataset(batch_size=8192):
    """tf.data's own solution: a source that parses."""
    ds = tf.data.experimental.CsvDataset(sorted(tf.io.gfile.glob("clicks/day_*.tsv")), COLUMNS, field_delim="\t")
    return ds.batch(batch_size, drop_remainder=True).map(click_columns).prefetch(2)


def dlrm_csv_blocks(batch_size=8192):
    ds = click_tables().flat_map(lines).batch(batch_size, drop_remainder=True)
    return ds.map(lambda rows: tf.io.decode_csv(rows, COLUMNS, field_delim="\t")).map(click_columns).prefetch(2)
