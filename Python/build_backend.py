"""Builds the library before setuptools packs the module: what `pip install .` calls."""

import pathlib
import shutil
import subprocess

from setuptools import build_meta
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARY = "libFoundationModelsC.so"

get_requires_for_build_wheel = build_meta.get_requires_for_build_wheel
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


class PlatformWheel(bdist_wheel):
    """A wheel for this machine and any Python: the library is native, and ctypes loads it."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


def _build_library():
    # The same build as `swift build -c release`, which does nothing when it was just made.
    script = '. "$root/Scripts/prepare.sh"; prepare && build_product FoundationModelsC'
    done = subprocess.run(
        ["bash", "-c", f'root="$0"; program=pip; {script}', str(ROOT)], stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise SystemExit("The library could not be built; what the compiler said stands above.")
    folder = ROOT / "Python" / "apple_fm_sdk" / "lib"
    folder.mkdir(exist_ok=True)
    shutil.copy2(ROOT / ".build" / "release" / LIBRARY, folder / LIBRARY)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_library()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_library()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("There is no source distribution: install from a checkout of the Swift package, with 'pip install .'.")
