"""The simulated NPU's kernels for `bench` and `profile`: built when they are first needed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import BackendError
from ..kernel_model import PRODUCTS, Kernels, Product, building
from . import plans


def check_dtypes(products: Sequence[str], dtypes: Sequence[str]) -> None:
    """Refuse a dtype that none of the products has kernels for.

    Raises
    ------
    BackendError
        With the dtypes there are.
    """
    known = {dtype for name in products for dtype in PRODUCTS[name].dtypes}
    for dtype in dtypes:
        if dtype not in known:
            raise BackendError(
                f"{', '.join(products)}: no kernel for {dtype}; "
                f"must be one of {', '.join(sorted(known))}"
            )


def kernels(product: Product) -> Kernels:
    """Return a product's kernels, after building them if that was not done before.

    Raises
    ------
    ToolchainError
        If they cannot be built.
    """
    plan = building.plan(product.arch, os.cpu_count() or 1)
    if plan is not None:
        plans.carry_out(plan, dry_run=False, log=None)
    return Kernels(product, building.directory(product.arch))
