"""PyTorch's DataLoader: no worker for small elements, which costs least, two for images, decoded by torchvision."""
import glob

import torch
import torchvision
from torchvision.transforms import v2

WORKERS = 2
torch.set_num_threads(1)


class Numbers(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return i


def one_by_one(count):
    return torch.utils.data.DataLoader(Numbers(count), batch_size=None)


def batches(count):
    return torch.utils.data.DataLoader(Numbers(count), batch_size=256)


class Images(torch.utils.data.Dataset):
    def __init__(self, paths, transform):
        self.paths, self.transform = sorted(paths), transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.transform(torchvision.io.read_image(self.paths[i], torchvision.io.ImageReadMode.RGB))


def images_u8(folder, epochs):
    augment = v2.Compose([v2.RandomResizedCrop(224, antialias=False), v2.RandomHorizontalFlip()])
    images = Images(glob.glob(f"{folder}/files/*/*.jpg") * epochs, augment)
    return torch.utils.data.DataLoader(images, batch_size=128, shuffle=True, drop_last=True, num_workers=WORKERS)


def first(folder):
    return torch.utils.data.DataLoader(Images(glob.glob(f"{folder}/small/*"), lambda x: x), batch_size=32, num_workers=WORKERS)
