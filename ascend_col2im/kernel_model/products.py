"""The devices that the simulated NPU knows, as the host's plan sees them.

Copies of ``sim/model/products.h``, which names the sources; a test holds them equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..facts import TARGETS

_KIB: Final = 1024
_UB_A2: Final = 192 * _KIB - 256 - 8 * _KIB  # the query's answer, less what the library reserves
_UB_310B: Final = 248 * _KIB


@dataclass(frozen=True)
class Product:
    """One device.

    Attributes
    ----------
    name : as the simulator calls it
    target : the build name whose rules and dtypes it has
    arch : ``__NPU_ARCH__`` of its kernels
    cores : its vector cores
    mhz : their clock
    ub_bytes : the unified buffer that the plan may fill, per core
    gb_per_s : bandwidth of the whole chip
    """

    name: str
    target: str
    arch: int
    cores: int
    mhz: int
    ub_bytes: int
    gb_per_s: float

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes its kernels take."""
        return TARGETS[self.target].dtypes


PRODUCTS: Final = {
    product.name: product
    for product in (
        Product("910B1", "ascend910b", 2201, 48, 1850, _UB_A2, 1600),
        Product("910B3", "ascend910b", 2201, 40, 1800, _UB_A2, 1600),
        Product("910B4", "ascend910b", 2201, 40, 1500, _UB_A2, 32 * 1.5 * 40),
        Product("910_93", "ascend910_93", 2201, 48, 1850, _UB_A2, 1600),
        Product("310B1", "ascend310b", 3002, 1, 1224, _UB_310B, 17 * 1.224),
        Product("310B4", "ascend310b", 3002, 1, 500, _UB_310B, 8 * 0.5),
    )
}
"""By name. Where no bandwidth of the chip is published, it is what all cores alone can draw."""
