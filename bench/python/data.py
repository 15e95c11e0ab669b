"""Makes the files that peers read, from the records that `penstock synth imagenet` made: data.py FOLDER SMALL_FILES."""
import pathlib
import sys

import numpy as np
import penstock as ps


def main():
    folder, small = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    (folder / "files/0").mkdir(parents=True)
    (folder / "small").mkdir()
    records = ps.files(f"{folder}/records/train-*").flat_map(ps.tfrecord)
    for i, jpeg in enumerate(records.map(lambda r: ps.parse_example(r, {"image/encoded": ps.bytes})["image/encoded"])):
        (folder / f"files/0/{i:06d}.jpg").write_bytes(jpeg)
    pixels = np.add.outer(np.arange(64), np.arange(64 * 3)).reshape(64, 64, 3).astype(np.uint8)
    [jpeg] = ps.from_tensor_slices(pixels[None]).map(ps.image.encode_jpeg)
    for i in range(small):
        (folder / f"small/{i:04d}.jpg").write_bytes(jpeg)


if __name__ == "__main__":
    main()
