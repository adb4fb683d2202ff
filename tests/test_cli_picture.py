"""``run --image``: every kind of picture, the figures, what is refused."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL
import pytest
from PIL import Image, ImageOps

import ascend_col2im
from ascend_col2im.commands import pictures, run_picture

from .command_line import COMMAND, fails, invoke, python

Array = npt.NDArray[Any]
HEIGHT, WIDTH = 23, 31
COVERING = ("--kernel-size", "3", "--stride", "1")


BYTES_PER_CHANNEL = {"I;16": 2, "I;16B": 2, "I": 4}


def made(mode: str) -> Image.Image:
    """Return a random picture of a mode."""
    rng = np.random.default_rng(7)
    if mode == "F":
        return Image.fromarray(rng.standard_normal((HEIGHT, WIDTH), np.float32))
    if mode in ("1", "P", "PA"):
        return made("RGB").convert(mode)
    channels = len(Image.new(mode, (1, 1)).getbands())
    size = HEIGHT * WIDTH * channels * BYTES_PER_CHANNEL.get(mode, 1)
    return Image.frombytes(mode, (WIDTH, HEIGHT), rng.bytes(size))


def restored(source: Path, target: Path, *options: object) -> tuple[dict[str, Any], Array]:
    """Return the report of a run, and the picture it wrote."""
    result = invoke("run", "--image", source, *options, "-o", target, "--json")
    assert result.exit_code == 0, result.output
    with Image.open(target) as image:
        return json.loads(result.stdout), np.asarray(image)


MODES = {
    "1": ("png", "L"),
    "L": ("png", "L"),
    "LA": ("png", "LA"),
    "P": ("png", "RGB"),
    "PA": ("tif", "RGBA"),
    "RGB": ("png", "RGB"),
    "RGBA": ("png", "RGBA"),
    "CMYK": ("tif", "CMYK"),
    "YCbCr": ("tif", "YCbCr"),
    "LAB": ("tif", "LAB"),
    "I;16": ("png", "I;16"),
    "I;16B": ("tif", "I;16"),
    "I": ("tif", "I"),
    "F": ("tif", "F"),
}


@pytest.mark.parametrize("mode", MODES)
def test_a_covered_picture_comes_back_as_it_was(tmp_path: Path, mode: str) -> None:
    if mode == "YCbCr" and int(PIL.__version__.partition(".")[0]) < 13:
        pytest.skip("Pillow before 13 cannot read the YCbCr TIFF that it writes")
    suffix, read_as = MODES[mode]
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    image = made(mode)
    image.save(source)
    # 2 x 2 windows on a pixel, or 4: the division is by a power of 2, and exact for floats too.
    facts, array = restored(source, target, "--kernel-size", 2, "--padding", 1)
    assert facts["picture"]["mode"] == read_as
    assert (facts["picture"]["width"], facts["picture"]["height"]) == (WIDTH, HEIGHT)
    assert facts["identical"]
    assert facts["uncovered_pixels"] == 0
    expected = image if mode.startswith(("I", "F")) else image.convert(read_as)
    np.testing.assert_array_equal(array, np.asarray(expected))


def test_grey_of_16_bits_read_as_32_is_of_16_bits(tmp_path: Path) -> None:
    grey = np.arange(HEIGHT * WIDTH, dtype=np.int32).reshape(HEIGHT, WIDTH)
    Image.fromarray(grey).save(tmp_path / "in.tif")
    facts, array = restored(tmp_path / "in.tif", tmp_path / "out.png", *COVERING)
    assert facts["picture"]["mode"] == "I;16"
    np.testing.assert_array_equal(array, grey)


@pytest.mark.parametrize(("mode", "read_as"), [("L", "LA"), ("RGB", "RGBA"), ("P", "RGBA")])
def test_a_transparent_colour_becomes_alpha(tmp_path: Path, mode: str, read_as: str) -> None:
    image = made(mode)
    corner = image.getpixel((0, 0))
    image.save(tmp_path / "in.png", transparency=corner)
    facts, array = restored(tmp_path / "in.png", tmp_path / "out.png", *COVERING)
    assert facts["picture"]["mode"] == read_as
    assert array[0, 0, -1] == 0
    assert array[..., -1].max() == 255


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_picture_is_turned_as_its_camera_says(tmp_path: Path, orientation: int) -> None:
    image = made("RGB")
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.save(tmp_path / "in.png", exif=exif)
    _, array = restored(tmp_path / "in.png", tmp_path / "out.png", *COVERING)
    with Image.open(tmp_path / "in.png") as opened:
        np.testing.assert_array_equal(array, np.asarray(ImageOps.exif_transpose(opened)))
    with Image.open(tmp_path / "out.png") as opened:
        assert opened.getexif().get(0x0112, 1) == 1
    assert array.shape[:2] == ((HEIGHT, WIDTH) if orientation < 5 else (WIDTH, HEIGHT))


def test_the_colour_profile_is_kept(tmp_path: Path) -> None:
    made("RGB").save(tmp_path / "in.png", icc_profile=b"a profile of some kind")
    restored(tmp_path / "in.png", tmp_path / "out.png", *COVERING)
    with Image.open(tmp_path / "out.png") as image:
        assert image.info["icc_profile"] == b"a profile of some kind"


def test_only_the_first_frame_is_read_and_the_report_says_so(tmp_path: Path) -> None:
    first, second = made("L"), made("L").rotate(180)
    first.save(tmp_path / "in.gif", save_all=True, append_images=[second])
    assert (
        ", the first of 2 frames"
        in invoke("run", "--image", tmp_path / "in.gif", *COVERING).stdout
    )


def test_uncovered_pixels_are_reported_and_kept_out(tmp_path: Path) -> None:
    made("RGB").save(tmp_path / "in.png")
    options = ("--kernel-size", "4,5", "--stride", "6,4")
    facts, array = restored(tmp_path / "in.png", tmp_path / "out.png", *options)
    count = ascend_col2im.overlap_count((HEIGHT, WIDTH), (4, 5), stride=(6, 4))
    assert facts["uncovered_pixels"] == np.count_nonzero(count == 0) > 0
    assert facts["overlap"] == {"least": 0, "most": 2}
    assert facts["identical"]
    expected = np.where(count[..., np.newaxis] > 0, np.asarray(made("RGB")), 0)
    np.testing.assert_array_equal(array, expected)
    text = invoke("run", "--image", tmp_path / "in.png", *options).stdout
    assert f"{facts['uncovered_pixels']} of {HEIGHT * WIDTH} pixels" in text


def test_a_picture_that_no_window_touches_has_no_figures(tmp_path: Path) -> None:
    made("L").save(tmp_path / "in.png")
    options = ("--kernel-size", 1, "--stride", 1000, "--padding", 5)
    facts, array = restored(tmp_path / "in.png", tmp_path / "out.png", *options)
    assert facts["uncovered_pixels"] == HEIGHT * WIDTH
    assert (facts["largest_difference"], facts["psnr_db"]) == (None, None)
    assert not array.any()


@pytest.mark.parametrize("band_bytes", [1, 9000, 2**30])
@pytest.mark.parametrize("stride", ["1", "2,3", "9"])
@pytest.mark.parametrize("padding", ["0", "2", "0:7,3:1"])
@pytest.mark.parametrize("dilation", ["1", "3,2"])
def test_bands_add_up_to_the_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dilation: str,
    padding: str,
    stride: str,
    band_bytes: int,
) -> None:
    made("RGB").save(tmp_path / "in.png")
    monkeypatch.setattr(run_picture, "BAND_BYTES", band_bytes)
    sums: list[Array] = []

    def kept(original: Array, after: Array, count: Array, peak: float) -> run_picture.Comparison:
        sums.append(np.rint(after * np.maximum(count, 1)))
        return run_picture.Comparison(0, math.inf, 0, (0, 0))

    monkeypatch.setattr(run_picture, "compare", kept)
    options = ("--stride", stride, "--padding", padding, "--dilation", dilation)
    result = invoke("run", "--image", tmp_path / "in.png", "--kernel-size", "4,3", *options)
    assert result.exit_code == 0, result.output
    fold: dict[str, Any] = {
        "stride": {"1": 1, "2,3": (2, 3), "9": 9}[stride],
        "padding": {"0": 0, "2": 2, "0:7,3:1": ((0, 7), (3, 1))}[padding],
        "dilation": {"1": 1, "3,2": (3, 2)}[dilation],
    }
    planes = np.asarray(made("RGB")).transpose(2, 0, 1).astype(np.float32)
    col = ascend_col2im.im2col(planes, (4, 3), **fold)
    whole = ascend_col2im.col2im(col, planes.shape[1:], (4, 3), **fold)
    np.testing.assert_array_equal(sums[0], whole)


def test_the_figures_tell_how_much_differs() -> None:
    original = np.zeros((1, 2, 2), np.float32)
    after = np.array([[[3.0, 0], [0, 200]]], np.float32)
    count = np.array([[1, 2], [2, 0]])
    found = run_picture.compare(original, after, count, 255.0)
    assert found.largest_difference == 3
    assert found.psnr_db == pytest.approx(10 * math.log10(255**2 / (9 / 3)))
    assert (found.uncovered, found.overlap) == (1, (0, 2))


def test_not_a_number_differs_only_from_numbers() -> None:
    nan, inf = math.nan, math.inf
    original = np.array([[[nan, inf, 1.0]]])
    count = np.ones((1, 3), np.int64)
    assert run_picture.compare(original, original.copy(), count, 1.0).largest_difference == 0


def test_a_large_picture_needs_little_more_memory_than_itself(tmp_path: Path) -> None:
    # All patches together take 2000 * 2000 * 64 * 4 bytes = 1 GB.
    Image.new("L", (2000, 2000)).save(tmp_path / "in.png")
    code = """
import sys
from ascend_col2im.cli import main
from tests.peak_memory import peak_mib
main(["run", "--image", sys.argv[1], "--kernel-size", "8"], standalone_mode=False)
print(peak_mib())
"""
    # A compiler takes memory of its own
    done = python(code, tmp_path / "in.png", NUMBA_DISABLE_JIT="1")
    assert int(done.stdout.splitlines()[-1]) < 400, done.stderr


def _cut(path: Path) -> None:
    made("RGB").save(path)
    path.write_bytes(path.read_bytes()[:600])


BAD_PICTURES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("in.png", lambda path: None, "does not exist"),
    "directory": ("in.png", Path.mkdir, "is a directory; name a picture in it"),
    "empty": ("in.png", Path.touch, "is empty"),
    "pipe": ("in.png", os.mkfifo, "is not a regular file; save the picture in one"),
    "text": ("in.png", lambda path: path.write_text("text"), "is no picture that Pillow can read"),
    "cut png": ("in.png", _cut, "cannot be read: "),
    "cut jpg": ("in.jpg", _cut, "cannot be read: "),
    "bomb": (
        "in.png",
        lambda path: Image.new("1", (20000, 20000)).save(path),
        "cannot be read: Image size (400000000 pixels) exceeds limit",
    ),
}


@pytest.mark.parametrize(("name", "make", "message"), BAD_PICTURES.values(), ids=BAD_PICTURES)
def test_a_file_that_is_no_picture(
    tmp_path: Path, name: str, make: Callable[[Path], object], message: str
) -> None:
    make(tmp_path / name)
    said = fails(5, "run", "--image", tmp_path / name, *COVERING, "-o", tmp_path / "out.png")
    assert said.startswith(f"{tmp_path / name}: {message}")
    assert not (tmp_path / "out.png").exists()


BAD_TARGETS = {
    "unknown": ("L", "out.xyz", "Pillow writes no such files"),
    "read only": ("L", "out.psd", "Pillow writes no such files"),
    "no alpha": ("RGBA", "out.jpg", "cannot be written as JPEG: cannot write mode RGBA as JPEG"),
    "no ink": ("CMYK", "out.png", "cannot be written as PNG: cannot write mode CMYK as PNG"),
    "lost": ("L", "no/out.png", "there is no directory"),
    "source": ("L", "in.tif", "is the file being read"),
}


@pytest.mark.parametrize(("mode", "name", "message"), BAD_TARGETS.values(), ids=BAD_TARGETS)
def test_a_file_that_cannot_take_the_picture(
    tmp_path: Path, mode: str, name: str, message: str
) -> None:
    made(mode).save(tmp_path / "in.tif")
    said = fails(5, "run", "--image", tmp_path / "in.tif", *COVERING, "-o", tmp_path / name)
    assert said.startswith(f"{tmp_path / name}: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["in.tif"]


def test_a_full_disk_is_no_fault_of_the_format(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200), np.uint8)  # beyond a buffer
    Image.fromarray(noise).save(tmp_path / "in.png")
    full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); {COMMAND}"
    args = ("run", "--image", tmp_path / "in.png", *COVERING, "-o", tmp_path / "out.png")
    done = python(full, *args, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 5
    assert done.stderr == f"Error: {tmp_path}/out.png: cannot be written: File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.png"]


RULES = {
    "kernel": (("--kernel-size", "99"), "im2col: kernel: kernel_size[0] is 99"),
    "rank": (("--kernel-size", "3,"), "im2col: rank: kernel_size has 1 values; a picture has 2"),
    "padding": ((*COVERING, "--padding", "-1"), "im2col: padding: padding[0] is (-1, -1)"),
    "size": ((*COVERING, "--padding", f"0,{2**45}"), "im2col: size: the result of shape (9, "),
}


@pytest.mark.parametrize(("options", "message"), RULES.values(), ids=RULES)
def test_a_broken_rule(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    made("L").save(tmp_path / "in.png")
    assert fails(3, "run", "--image", tmp_path / "in.png", *options).startswith(message)


def test_rows_of_windows_in_the_padding_cost_no_time(tmp_path: Path) -> None:
    made("L").save(tmp_path / "in.png")
    result = invoke("run", "--image", tmp_path / "in.png", *COVERING, "--padding", f"{2**50},0")
    assert "infinite: identical" in result.stdout


def test_without_pillow_the_message_says_how_to_get_it(tmp_path: Path) -> None:
    made("L").save(tmp_path / "in.png")
    hidden = "import sys; sys.modules['PIL'] = None; " + COMMAND
    done = python(hidden, "run", "--image", tmp_path / "in.png", *COVERING)
    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr == "Error: run --image needs Pillow: pip install 'ascend-col2im[image]'\n"


def test_reading_keeps_to_the_documented_dtypes(tmp_path: Path) -> None:
    for mode, dtype in (("L", np.float32), ("I;16", np.float32), ("I", np.float64)):
        made(mode).save(tmp_path / "in.tif")
        assert pictures.read(tmp_path / "in.tif").planes.dtype == dtype
