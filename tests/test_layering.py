"""Arrows go down only: what each package may import, read from its source. docs/architecture.md says why."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
CORE = ROOT / "profiler_core" / "kinetoscope_core"
RUNNER = CORE / "runner"
SERVER = ROOT / "server" / "kinetoscope_server"
CORE_MODULES = sorted(path for path in CORE.rglob("*.py") if RUNNER not in path.parents)
RUNNER_MODULES = sorted(RUNNER.rglob("*.py"))
SERVER_MODULES = sorted(SERVER.rglob("*.py"))

ABOVE_THE_CORE = {"kinetoscope_server", "pygls", "lsprotocol"}
# In the standard library of the Python that runs this test, maybe, but not in that of 3.9.
NEWER_THAN_3_9 = {"annotationlib", "compression", "tomllib"}
LONGEST_MODULE = 350
MOST_MODULES = 18
"""A folder with more is a drawer, not a room."""

ROOMS = {
    "kinetoscope_core": {
        "cli": {"analysis", "jobs", "output", "results", "run", "runner", "source"},
        "jobs": {"analysis", "results", "run", "runner", "source", "trace"},
        "output": {"analysis", "results"},
        "perfetto": {"results", "trace"},
        "analysis": {"results", "source", "trace"},
        "run": {"runner", "source"},
        "trace": {"results"},
        "results": {"source"},
        "source": set[str](),
        "runner": set[str](),
    },
    "kinetoscope_server": {
        "features": {"protocol", "results", "runs", "settings", "text"},
        "runs": {"protocol", "results", "settings", "text"},
        "results": {"text"},
        "protocol": {"text"},
        "settings": {"protocol"},
        "text": set[str](),
    },
}
"""What the modules of each folder may import of the other folders. Modules beside the folders are for all."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


each_module = pytest.mark.parametrize("path", CORE_MODULES + RUNNER_MODULES + SERVER_MODULES, ids=name_of)
each_core_module = pytest.mark.parametrize("path", CORE_MODULES, ids=name_of)
each_runner_module = pytest.mark.parametrize("path", RUNNER_MODULES, ids=name_of)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def absolute_imports(tree: ast.Module) -> set[str]:
    """Top-level names of the modules imported anywhere in it, also inside functions and by name."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(level=0, module=str(module)):
                found.add(module)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                found.add(module)
            case _:
                pass
    return {module.partition(".")[0] for module in found}


def relative_imports(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports relatively."""
    package = ".".join(path.relative_to(CORE.parent).parent.parts)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            yield importlib.util.resolve_name("." * node.level + (node.module or ""), package)


def imported_modules(path: Path) -> Iterator[str]:
    """Full names of our own modules that a file imports at its top level, or of the names in them."""
    package = ".".join(path.relative_to(package_root(path)).parent.parts)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            module = importlib.util.resolve_name(relative, package) if node.level else relative
            if module.startswith("kinetoscope_"):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def package_root(path: Path) -> Path:
    return CORE.parent if CORE in path.parents else SERVER.parent


each_server_module = pytest.mark.parametrize("path", SERVER_MODULES, ids=name_of)


def test_there_are_modules_to_look_at():
    assert SERVER / "server.py" in SERVER_MODULES
    assert CORE / "errors.py" in CORE_MODULES
    assert RUNNER / "__init__.py" in RUNNER_MODULES


def test_imports_are_found_wherever_they_stand():
    source = """
import a.b, c
from d.e import f
from . import g
def late():
    import h
    importlib.import_module("i.j")
    __import__("k")
"""
    assert absolute_imports(ast.parse(source)) == {"a", "c", "d", "h", "i", "k"}


@each_core_module
def test_the_core_imports_neither_the_server_nor_torch(path):
    assert not absolute_imports(tree_of(path)) & (ABOVE_THE_CORE | {"torch"})


@each_server_module
def test_the_server_imports_no_torch_and_nothing_of_the_runner_but_the_request(path):
    tree = tree_of(path)
    assert "torch" not in absolute_imports(tree)
    assert not any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("kinetoscope_core.runner")
        and node.module != "kinetoscope_core.runner.request"
        for node in ast.walk(tree)
    )


@each_runner_module
def test_the_runner_imports_the_standard_library_torch_and_itself(path):
    allowed = (sys.stdlib_module_names - NEWER_THAN_3_9) | {"torch"}
    assert not absolute_imports(tree_of(path)) - allowed
    for module in relative_imports(path):
        assert (module + ".").startswith("kinetoscope_core.runner.")


def test_importing_the_core_imports_no_torch():
    # The core may share plain values with the runner; those modules then must not bring torch with them.
    names = [
        ".".join(path.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in CORE_MODULES
        if path.name != "__main__.py"
    ]
    program = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(*sorted({ABOVE_THE_CORE | {'torch', 'numpy'}!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@each_runner_module
def test_the_runner_is_written_in_python_3_9(path):
    ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=(3, 9))


def python_3_9() -> str | None:
    """An interpreter of that version. pyenv's `python3.9` may stand on the path and yet not run."""
    on_path = shutil.which("python3.9")
    kept_by_pyenv = sorted(Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9"))
    for candidate in [on_path, *map(str, kept_by_pyenv)]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def test_python_3_9_compiles_the_runner():
    interpreter = python_3_9()
    if interpreter is None:
        pytest.skip("no python3.9 here; the syntax alone was checked")
    # compile() instead of py_compile, which would leave __pycache__ in the source tree.
    program = "import sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
    done = subprocess.run(
        [interpreter, "-c", program, *map(str, RUNNER_MODULES)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def room_of(package: str, module: str) -> str | None:
    name = module.split(".")
    return name[1] if name[0] == package and len(name) > 1 and name[1] in ROOMS[package] else None


@each_module
def test_rooms_are_entered_from_above_only(path):
    package, room = path.relative_to(package_root(path)).parts[:2]
    for module in imported_modules(path):
        entered = room_of(package, module)
        if room in ROOMS[package] and entered not in {None, room}:
            assert entered in ROOMS[package][room], module


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_every_folder_is_a_room_and_no_two_lean_on_one_another(package):
    root = (CORE if package == CORE.name else SERVER).parent / package
    assert {folder.name for folder in root.iterdir() if list(folder.glob("*.py"))} == set(ROOMS[package])
    below = dict(ROOMS[package])
    while below:
        lowest = {room for room, others in below.items() if not others & set(below)}
        assert lowest, f"these lean on one another: {sorted(below)}"
        below = {room: others for room, others in below.items() if room not in lowest}


def test_no_folder_holds_too_many_modules():
    folders = {path.parent for path in CORE_MODULES + RUNNER_MODULES + SERVER_MODULES}
    held = {
        name_of(folder): len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) for folder in folders
    }
    sources = ROOT / "extension" / "src"
    held |= {name_of(folder): len(list(folder.glob("*.ts"))) for folder in [sources, *sources.rglob("*/")]}
    assert {folder: count for folder, count in held.items() if count > MOST_MODULES} == {}


@each_module
def test_no_module_is_too_long_to_read_at_once(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@each_module
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(tree_of(path))


def test_declared_dependencies_are_those_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in project["dependencies"]}
    known = sys.stdlib_module_names | {"kinetoscope_core", "kinetoscope_server"}
    modules = CORE_MODULES + SERVER_MODULES
    imported = set[str]().union(*(absolute_imports(tree_of(path)) for path in modules)) - known
    # All our dependencies are named like their import packages, but for the dash.
    assert {name.replace("_", "-") for name in imported} == declared
