# The project's chores. Continuous integration runs .ci/run, which does `make check`'s work in a
# fresh virtual environment.
.PHONY: check test lint types bench

check: test lint types

test:
	pytest

lint:
	ruff format --check .
	ruff check .

types:
	mypy

bench:
	TORCH_DEVICE_BACKEND_AUTOLOAD=0 ascend-col2im bench
