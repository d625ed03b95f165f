"""Makes the wheel: the package, libhone, hone's programs and the libraries that they need.

    python3 python/build_wheel.py BUILD OUT [--without-programs]

BUILD is hone's build folder.  Nothing is fetched, and nothing but the standard library is needed.
The same build gives the same file.  What a system has everywhere (the C library) is not put in, so
the wheel runs where the C library is not older than here.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("hone", "honed", "hone-build", "hone-board")
EVERYWHERE = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util))\.so(\.\d+)*$")
# A linker of the system's may be started by `hone compile`; it keeps its own.
WHEN = (1980, 1, 1, 0, 0, 0)


def version() -> str:
    """As the package says it."""
    return re.search(r'__version__ = "(.+)"', (HERE / "hone" / "__init__.py").read_text()).group(1)


def installed(build: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """What `cmake --install` makes of the build, stripped of what debuggers want."""
    for component in ("programs", "library"):
        subprocess.run(["cmake", "--install", build, "--prefix", to, "--component", component,
                        "--strip"], check=True, stdout=subprocess.DEVNULL)
    return to


def libraries(program: pathlib.Path) -> dict[str, pathlib.Path]:
    """The libraries that the program is linked with, theirs included: name to file."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said, re.MULTILINE))
    missing = re.findall(r"^\s*(\S+) => not found", said, re.MULTILINE)
    if missing:
        raise SystemExit(f"build_wheel: {program.name}: {', '.join(missing)} not found")
    return {name: pathlib.Path(path) for name, path in found.items() if not EVERYWHERE.match(name)}


def contents(build: pathlib.Path, prefix: pathlib.Path, without_programs: bool
             ) -> dict[str, tuple[bytes, int]]:
    """Name in the wheel to bytes and mode."""
    files = {}
    for path in sorted((HERE / "hone").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            files[str(path.relative_to(HERE))] = (path.read_bytes(), 0o644)
    library = next(prefix.rglob("libhone.so.0"))
    files["hone/lib/libhone.so.0"] = (library.read_bytes(), 0o755)
    if without_programs:
        return files
    needed = {}
    for name in PROGRAMS:
        files[f"hone/bin/{name}"] = ((prefix / "bin" / name).read_bytes(), 0o755)
        needed |= libraries(build / "bin" / name)
    for name, path in sorted(needed.items()):
        files[f"hone/lib/{name}"] = (path.read_bytes(), 0o755)
    return files


def write(files: dict[str, tuple[bytes, int]], out: pathlib.Path) -> pathlib.Path:
    """The wheel."""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag, info = f"py3-none-{platform}", f"hone-{version()}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: hone\nVersion: {version()}\n"
        "Summary: fast kernels for tensor programs, found by search, proved and checked\n"
        "Requires-Python: >=3.10\n".encode(), 0o644)
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: hone\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        0o644)
    files[f"{info}/entry_points.txt"] = (
        b"[torch_dynamo_backends]\nhone = hone.torch:backend\n", 0o644)
    record = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    record.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = ("".join(record).encode(), 0o644)
    path = out / f"hone-{version()}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, 8
            wheel.writestr(entry, data)
    return path


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--without-programs", action="store_true",
                        help="without programs: query, load and call, but neither tune nor build")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        prefix = installed(options.build, pathlib.Path(temporary))
        print(write(contents(options.build, prefix, options.without_programs), options.out))


if __name__ == "__main__":
    main()
