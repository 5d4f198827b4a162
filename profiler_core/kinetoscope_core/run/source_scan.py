"""What a script's source, and that of its own modules that it imports, says before it runs.

Whether it marks anything; and whether it may begin in a prepared interpreter. What that cannot do is known when the
script imports torch; then it begins again in a plain one. So what stands before that import must be known to have no
effect outside of the process: nothing is done twice.
"""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from kinetoscope_core.runner.prewarm.variables import PREFIXES
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.syntax.strings_and_comments import without_comments

MOST_FILES = 200
MOST_BYTES = 2_000_000

IMPORT_TORCH = frozenset(
    ("torch", "torchvision", "torchaudio", "torchmetrics", "lightning", "pytorch_lightning", "timm")
)
"""Packages that import torch as the first thing they do."""

_STAYS_INSIDE = re.compile(
    r"(os\.(environ\.\w+|getenv|putenv|unsetenv|chdir|getcwd|cpu_count|getpid|sched_[gs]etaffinity|path\.\w+)"
    r"|sys\.(path\.\w+|set\w+|get\w+)|random\.\w+|numpy\.random\.\w+|numpy\.set_?\w+|warnings\.\w+"
    r"|logging\.(getLogger|setLoggerClass|disable|captureWarnings|setLogRecordFactory|addLevelName|StreamHandler"
    r"|Formatter|basicConfig)|gc\.\w+|locale\.setlocale|signal\.(signal|getsignal)|atexit\.register|faulthandler\.\w+"
    r"|resource\.\w+|multiprocessing\.(set_start_method|get_context|cpu_count)"
    r"|threading\.(stack_size|settrace|setprofile|Lock|RLock|Event|local)|time\.(time|perf_counter|monotonic)(_ns)?"
    r"|(argparse|collections|contextlib|copy|dataclasses|datetime|enum|functools|inspect|itertools|math|operator|re"
    r"|string|types|typing)(\.\w+)+|pathlib\.\w*Path|json\.(dumps|loads)|importlib\.util\.find_spec"
    r"|abs|all|any|bool|bytes|dict|divmod|enumerate|float|frozenset|getattr|hasattr|hash|id|int|isinstance|issubclass"
    r"|iter|len|list|max|min|next|object|ord|pow|print|property|range|repr|reversed|round|set|setattr|slice|sorted|str|sum"
    r"|super|tuple|type|vars|zip|classmethod|staticmethod)"
)
"""Functions, by their full names, that reach nothing outside of the process. What is printed is not shown twice."""

_MARKS = re.compile(rb"record_function|\b(profiler|optim|DataLoader|Trainer)\b|\.fit\(")

_METHODS = re.compile(
    "absolute|add|add_argument|add_argument_group|addFilter|append|capitalize|copy|count|decode|encode|endswith|extend"
    "|find|format|get|group|insert|items|join|joinpath|keys|lower|match|parse_args|parse_known_args|pop|relative_to"
    "|remove|replace|resolve|search|set_defaults|setdefault|setLevel|sort|split|splitlines|startswith|strip|title"
    "|update|upper|values|with_name|with_suffix"
)
"""Methods of values that such functions give."""

_SETS = re.compile(
    rf"environ\s*\[\s*[\"']((?:{'|'.join(PREFIXES)})\w*)[\"']\s*\]\s*=(?!=)"
    rf"|(?:setdefault|putenv|unsetenv|pop)\(\s*[\"']((?:{'|'.join(PREFIXES)})\w*)[\"']"
    rf"|del\s+os\.environ\[\s*[\"']((?:{'|'.join(PREFIXES)})\w*)[\"']"
    rf"|environ\.update\([^)]*?[\"']?\b((?:{'|'.join(PREFIXES)})\w*)"
)


def why_plain(request: RunRequest) -> str | None:
    """Why a script has to begin in a plain interpreter; None where it may be tried in a prepared one."""
    main, own = _main_of(request)
    scan = _Scan(own)
    try:
        reached = scan.file(main)
    except _EffectError as effect:
        return str(effect)
    if not reached:
        return f"{main.name} does not import torch in a way that Kinetoscope can see"
    for file in scan.all_files():
        if found := _SETS.search(without_comments(file.read_bytes()).decode("utf-8", "replace")):
            return f"{file.name} sets {next(filter(None, found.groups()))}"
    return None


def marks_nothing(request: RunRequest) -> bool:
    """Whether the script is there, and neither it nor a module of its own that it imports names regions, a profiler, or
    what has torch mark steps.
    """
    main, own = _main_of(request)
    scan = _Scan(own)
    try:
        if scan.parsed(main) is None:
            return False
        return not any(_MARKS.search(without_comments(file.read_bytes())) for file in scan.all_files())
    except (_EffectError, OSError):
        return False


def _main_of(request: RunRequest) -> tuple[Path, Path]:
    """The file that runs, and the folder of its own modules."""
    folder = Path(request.folder or ".").resolve()
    if request.is_module:
        base = folder.joinpath(*request.script.split("."))
        return base / "__main__.py" if base.is_dir() else base.with_suffix(".py"), folder
    script = folder / request.script
    if script.is_dir():
        return script / "__main__.py", script
    return script, script.resolve().parent


class _EffectError(Exception):
    """Something stands before the import of torch that may reach out of the process, or that is not understood."""


@dataclass
class _Scan:
    """The modules of the script's own that its imports reach. `own` is the folder where they lie."""

    own: Path
    seen: dict[Path, ast.Module] = field(default_factory=dict[Path, ast.Module])

    def file(self, path: Path) -> bool:
        """Goes through what runs when the file does; True once torch is imported."""
        if path in self.seen or len(self.seen) >= MOST_FILES:
            return False
        tree = self.parsed(path)
        return tree is not None and _Statements(self, path).run(tree.body)

    def parsed(self, path: Path) -> ast.Module | None:
        if path not in self.seen:
            try:
                data = path.read_bytes()[: MOST_BYTES + 1]
                if len(data) > MOST_BYTES:
                    raise _EffectError(f"{path.name} is too long to be checked")
                self.seen[path] = ast.parse(data)
            except OSError:  # the run says it better
                return None
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise _EffectError(f"{path.name} cannot be read as Python ({type(error).__name__})") from error
        return self.seen[path]

    def files_of(self, name: str) -> list[Path]:
        """The files that an import of this module runs, if it is one of the script's own."""
        found: list[Path] = []
        base = self.own
        for part in name.split("."):
            base = base / part
            if (base / "__init__.py").is_file():
                found.append(base / "__init__.py")
            elif base.with_suffix(".py").is_file():
                found.append(base.with_suffix(".py"))
            elif not base.is_dir():
                break
        return found

    def all_files(self) -> list[Path]:
        """Also those that are imported later, or inside of functions."""
        waiting = list(self.seen)
        while waiting and len(self.seen) < MOST_FILES:
            tree = self.seen.get(file := waiting.pop()) or self._quietly_parsed(file)
            for node in ast.walk(tree) if tree else ():
                for name in _imported(node):
                    waiting += [each for each in self.files_of(name) if each not in self.seen]
        return list(self.seen)

    def _quietly_parsed(self, file: Path) -> ast.Module | None:
        try:
            return self.parsed(file)
        except _EffectError:
            return None


class _Statements:
    """The statements of one file, in the order in which they run."""

    def __init__(self, scan: _Scan, path: Path) -> None:
        self._scan = scan
        self._path = path
        self._full: dict[str, str] = {}
        """What a name stands for: `np` for `numpy`; empty for what the file itself defines."""

    def run(self, body: list[ast.stmt]) -> bool:
        return any(self._statement(statement) for statement in body)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Import() | ast.ImportFrom():
                return self._import(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._full[node.name] = ""
                for each in [
                    *node.decorator_list,
                    *(node.bases if isinstance(node, ast.ClassDef) else _defaults(node)),
                ]:
                    self._expression(each, is_called=each in node.decorator_list)
                return isinstance(node, ast.ClassDef) and self.run(node.body)
            case ast.If() | ast.For() | ast.While():
                self._expression(node.iter if isinstance(node, ast.For) else node.test)
                branches = [self.run(node.body), self.run(node.orelse)]
                return branches[0] if _is_main(node) else isinstance(node, ast.If) and all(branches)
            case ast.Try():
                if self.run(node.body):
                    return True
                parts = [self.run(handler.body) for handler in node.handlers]
                return self.run([*node.orelse, *node.finalbody]) or (bool(parts) and all(parts))
            case ast.With():
                for item in node.items:
                    self._expression(item.context_expr)
                return self.run(node.body)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Assert() | ast.Delete():
                for name in ast.walk(node):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        self._full[name.id] = ""
                self._expression(node)
                return False
            case ast.Pass() | ast.Global():
                return False
            case _:
                raise self._effect(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> bool:
        if isinstance(node, ast.ImportFrom):
            self._full.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
        else:
            for each in node.names:
                self._full[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        if isinstance(node, ast.ImportFrom) and node.level:
            raise self._effect(node)
        for name in _imported(node):
            files = self._scan.files_of(name)
            if any(self._scan.file(file) for file in files):
                return True
            if not files and name.partition(".")[0] in IMPORT_TORCH:
                return True
        return False

    def _expression(self, node: ast.AST, *, is_called: bool = False) -> None:
        """Raises `_EffectError` if a call in it is not known to stay inside."""
        if is_called and not isinstance(node, ast.Call):
            self._called(node)
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if isinstance(each, ast.Lambda):
                continue
            if isinstance(each, ast.Await | ast.Yield | ast.YieldFrom):
                raise self._effect(each)
            if isinstance(each, ast.Call):
                self._called(each.func)
                if any(word.arg in ("filename", "handlers", "file") for word in each.keywords):
                    raise self._effect(each)
            waiting += ast.iter_child_nodes(each)

    def _called(self, function: ast.AST) -> None:
        parts: list[str] = []
        node = function
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            full = self._full.get(node.id, node.id)
            if full and _STAYS_INSIDE.fullmatch(".".join([full, *parts])):
                return
            if parts and not full and _METHODS.fullmatch(parts[-1]):
                return
        elif parts and _METHODS.fullmatch(parts[-1]):
            return
        raise self._effect(function)

    def _effect(self, node: ast.AST) -> _EffectError:
        try:
            text = ast.unparse(node).partition("\n")[0][:60]
        except RecursionError:
            text = "something"
        place = f"line {getattr(node, 'lineno', '?')} of {self._path.name}"
        return _EffectError(f"it runs {text} ({place}) before it imports torch, which must not happen twice")


def _imported(node: ast.AST) -> list[str]:
    """The modules that this statement names; of `from a import b`, `b` may be one."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return []


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    arguments = node.args
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def _is_main(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`"""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
