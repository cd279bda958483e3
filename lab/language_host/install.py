"""Write the executable through which the engine finds the language host."""

from pathlib import Path

from lab.clouds.install import write_script


def install(bin_dir: Path) -> Path:
    """Write `pulumi-language-python` into `bin_dir` (made when missing) and return its path.

    The script runs this checkout's host with the interpreter that runs now. Policy packs need no helper of their
    own: the engine starts a pack through the language host (`RunPlugin` with kind `analyzer`).
    """
    return write_script(bin_dir / "pulumi-language-python", module="lab.language_host.__main__")
