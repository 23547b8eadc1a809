"""Compiles the one Cython module (the record codec); everything else is declared in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(
                "ottla.wire.record_codec", ["src/ottla/wire/record_codec.py"], extra_compile_args=["-O3"]
            )
        ],
        language_level=3,
        build_dir="build",
    )
)
