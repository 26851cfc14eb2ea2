"""Static files: compressed forms hold the file, and are made once."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import brotli

from incidents.static_storage import KeepingCompressor


def test_compressed_forms_are_made_once_and_again_after_a_change(tmp_path: Path):
    file = tmp_path / "base.css"
    file.write_text("a { color: red }\n" * 100)
    compressor = KeepingCompressor(quiet=True)
    names = compressor.compress(str(file))
    assert sorted(names) == [f"{file}.br", f"{file}.gz"]
    assert brotli.decompress(Path(f"{file}.br").read_bytes()) == file.read_bytes()
    assert gzip.decompress(Path(f"{file}.gz").read_bytes()) == file.read_bytes()
    before = Path(f"{file}.br").stat().st_ino, Path(f"{file}.br").stat().st_ctime_ns
    assert compressor.compress(str(file)) == names
    assert (Path(f"{file}.br").stat().st_ino, Path(f"{file}.br").stat().st_ctime_ns) == before
    file.write_text("b { color: blue }\n" * 100)
    os.utime(file, (1, 1))
    compressor.compress(str(file))
    assert brotli.decompress(Path(f"{file}.br").read_bytes()) == file.read_bytes()
