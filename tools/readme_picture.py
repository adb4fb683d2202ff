"""Draw the README's pictures again from docs/images/original.png; needs the extra ``image``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from ascend_col2im import col2im, im2col, overlap_count
from ascend_col2im.cli import main as command_line

IMAGES = Path(__file__).parent.parent / "docs" / "images"
ORIGINAL, RESTORED, STEPS = (
    IMAGES / name for name in ("original.png", "restored.png", "steps.jpg")
)
KERNEL_SIZE, STRIDE = 40, 20
"""Patches large enough to be seen; the README's command uses smaller ones."""

MARGIN, CAPTION = 12, 24
COUNT_COLOURS = {1: (214, 230, 244), 2: (120, 170, 215), 4: (30, 90, 160)}

Pixels = npt.NDArray[Any]


def main() -> None:
    """Write restored.png as the README's command does, and steps.jpg."""
    restore = ["run", "--image", str(ORIGINAL), "--kernel-size", "8", "--stride", "4"]
    command_line([*restore, "-o", str(RESTORED)], standalone_mode=False)
    with Image.open(ORIGINAL) as image:
        picture = np.asarray(image)
    height, width = picture.shape[:2]
    planes = picture.transpose(2, 0, 1).astype(np.float32)
    col = im2col(planes, KERNEL_SIZE, stride=STRIDE)
    added = col2im(col, (height, width), KERNEL_SIZE, stride=STRIDE)
    count = overlap_count((height, width), KERNEL_SIZE, stride=STRIDE)
    panels = {
        "1. cut into overlapping patches": patches(col, height, width),
        "2. added up by col2im, shown at a quarter": added.transpose(1, 2, 0) / count.max(),
        "3. how many patches cover a pixel": counted(count),
        "4. the sum divided by that count": (added / count).transpose(1, 2, 0),
    }
    arranged(panels, height, width).save(STEPS, quality=88)


def patches(col: Pixels, height: int, width: int) -> Pixels:
    """Lay the patches out with gaps, at half their size."""
    rows, columns = (height - KERNEL_SIZE) // STRIDE + 1, (width - KERNEL_SIZE) // STRIDE + 1
    small = KERNEL_SIZE // 2
    pitch_y, pitch_x = (height - small) / (rows - 1), (width - small) / (columns - 1)
    canvas = np.full((height, width, 3), 255, np.float32)
    by_patch = col.reshape(3, small, 2, small, 2, rows, columns).mean(axis=(2, 4))
    for row, column in np.ndindex(rows, columns):
        y, x = round(row * pitch_y), round(column * pitch_x)
        canvas[y : y + small, x : x + small] = by_patch[..., row, column].transpose(1, 2, 0)
    return canvas


def counted(count: Pixels) -> Pixels:
    """Colour every pixel by its count, and write each count once where it stands."""
    coloured = np.zeros((*count.shape, 3), np.uint8)
    for number, colour in COUNT_COLOURS.items():
        coloured[count == number] = colour
    image = Image.fromarray(coloured)
    draw = ImageDraw.Draw(image)
    middle_y, middle_x = count.shape[0] // 2, count.shape[1] // 2
    half = STRIDE // 2
    for y, x in ((half, half), (half, middle_x), (middle_y, half), (middle_y, middle_x)):
        ink = (255, 255, 255) if count[y, x] == 4 else (0, 0, 0)
        draw.text((x, y), str(count[y, x]), ink, ImageFont.load_default(15), anchor="mm")
    return np.asarray(image)


def arranged(panels: dict[str, Pixels], height: int, width: int) -> Image.Image:
    """Put four panels with their captions on one sheet."""
    pitch_x, pitch_y = width + MARGIN, height + CAPTION + MARGIN
    sheet = Image.new("RGB", (2 * pitch_x + MARGIN, 2 * pitch_y + MARGIN), "white")
    draw = ImageDraw.Draw(sheet)
    for index, (caption, pixels) in enumerate(panels.items()):
        x, y = MARGIN + index % 2 * pitch_x, MARGIN + index // 2 * pitch_y
        draw.text((x, y), caption, "black", ImageFont.load_default(13))
        rounded = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
        sheet.paste(Image.fromarray(rounded), (x, y + CAPTION))
    return sheet


if __name__ == "__main__":
    main()
