"""Pictures in files as planes of numbers, and back, through Pillow.

Pillow reads colour of 16 bits per channel as 8 bits; grey of 16 bits it keeps.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import FileError, MissingExtraError
from .new_file import new_file

if TYPE_CHECKING:
    from PIL import Image

READ_AS: Final = {"1": "L", "La": "LA", "P": "RGB", "PA": "RGBA", "RGBX": "RGB", "RGBa": "RGBA"}
"""Modes whose numbers are no brightness, or scaled by another channel, and what replaces them."""

READ_TRANSPARENT_AS: Final = {"1": "LA", "L": "LA", "P": "RGBA", "RGB": "RGBA"}
"""The same for pictures in which one colour is marked as transparent."""


class Picture(NamedTuple):
    """A picture, upright.

    Attributes
    ----------
    planes : float32, ``(C, height, width)``; float64 for elements of 32 bits
    pixels : dtype of the picture's own elements
    mode : Pillow's name for what the channels are
    peak : largest brightness, for the PSNR; for elements of 32 bits the range of those there are
    frames : how many the file holds; only the first is read
    colour_profile : ICC profile, to be written again
    """

    planes: npt.NDArray[Any]
    pixels: np.dtype[Any]
    mode: str
    peak: float
    frames: int
    colour_profile: bytes | None


def read(path: Path) -> Picture:
    """Read a picture, turned as its EXIF orientation says.

    Raises
    ------
    FileError
        If the file is missing or no picture.
    MissingExtraError
        If Pillow is not installed.
    """
    Image = _pillow()
    from PIL import ImageOps

    _check_source(path)
    try:
        with warnings.catch_warnings():
            # Of large pictures and odd metadata; what is beyond use is an error all the same.
            warnings.simplefilter("ignore")
            with Image.open(path) as opened:
                frames = getattr(opened, "n_frames", 1)
                opened.load()
                image = _plain(ImageOps.exif_transpose(opened))
    except Image.UnidentifiedImageError as error:
        raise FileError(f"{path}: is no picture that Pillow can read") from error
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be read: {reason}") from error
    array = np.asarray(image)
    if image.mode == "I" and array.min() >= 0 and array.max() <= 0xFFFF:
        array = array.astype(np.uint16)  # as Pillow before version 11 opens grey of 16 bits
    wide = array.dtype.itemsize > 2
    channels_last = array if array.ndim == 3 else array[:, :, np.newaxis]
    planes = channels_last.transpose(2, 0, 1).astype(np.float64 if wide else np.float32)
    return Picture(
        planes,
        np.dtype("<u2") if array.dtype.itemsize == 2 else array.dtype,
        "I;16" if array.dtype.itemsize == 2 else image.mode,
        _range(planes) if wide else float(np.iinfo(array.dtype).max),
        frames,
        image.info.get("icc_profile"),
    )


def write(path: Path, picture: Picture, planes: npt.NDArray[Any], sources: Sequence[Path]) -> None:
    """Write planes as a picture like ``picture``, rounded to what its elements can hold.

    Raises
    ------
    FileError
        If the file cannot be written, or not in the format that its name asks for.
    """
    Image = _pillow()
    Image.init()
    file_format = Image.registered_extensions().get(path.suffix.lower())
    if file_format not in Image.SAVE:
        raise FileError(f"{path}: Pillow writes no such files; end it in .png, .jpg or .tif")
    if picture.pixels.kind in "iu":
        limits = np.iinfo(picture.pixels)
        planes = np.clip(np.rint(planes), limits.min, limits.max)
    channels_last = planes.astype(picture.pixels).transpose(1, 2, 0)
    height, width = planes.shape[1:]
    image = Image.frombytes(picture.mode, (width, height), channels_last.tobytes())
    with new_file(path, sources) as stream:
        try:
            image.save(stream, file_format, quality=95, icc_profile=picture.colour_profile)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno:  # the system's, not Pillow's
                raise
            raise FileError(
                f"{path}: cannot be written as {file_format}: {error}; .png takes grey and RGB "
                "with or without alpha, .jpg also CMYK, .tif all"
            ) from error


def _plain(image: Image.Image) -> Image.Image:
    """Return a picture whose numbers can be added up: no palette, no premultiplied alpha."""
    modes = READ_TRANSPARENT_AS if "transparency" in image.info else READ_AS
    mode = modes.get(image.mode, image.mode)
    return image if mode == image.mode else image.convert(mode)


def _range(planes: npt.NDArray[Any]) -> float:
    """Return the range of the finite values, or 1 where they are all the same."""
    finite = planes[np.isfinite(planes)]
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0


def _check_source(path: Path) -> None:
    if path.is_dir():
        raise FileError(f"{path}: is a directory; name a picture in it")
    if not path.exists():
        raise FileError(f"{path}: does not exist")
    if not path.is_file():
        raise FileError(f"{path}: is not a regular file; save the picture in one")
    if path.stat().st_size == 0:
        raise FileError(f"{path}: is empty")


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            "run --image needs Pillow: pip install 'ascend-col2im[image]'"
        ) from error
    return Image
