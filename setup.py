"""Compiles the three Cython modules, the codecs of `wire/`; everything else is declared in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(f"ottla.wire.{name}", [f"src/ottla/wire/{name}.py"], extra_compile_args=["-O3"])
            for name in ("record_codec", "record_writer", "compaction_codec")
        ],
        language_level=3,
        build_dir="build",
    )
)
