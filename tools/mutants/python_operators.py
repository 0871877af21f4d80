"""Small mistakes in a Python module: what a tired colleague could write, and what a compiler or a linter would not notice.

An operator yields changes: a range of bytes, what is written there, and the range that is shown. Left alone are annotations,
decorators, logging, asserts, `__repr__`, f-strings, code for type checkers, and failpoints, which exist for tests.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tools.mutants.mutation import Mutation, describe

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Lt: ("boundary", "<", "<="),
    ast.LtE: ("boundary", "<=", "<"),
    ast.Gt: ("boundary", ">", ">="),
    ast.GtE: ("boundary", ">=", ">"),
    ast.Eq: ("equality", "==", "!="),
    ast.NotEq: ("equality", "!=", "=="),
    ast.Is: ("equality", r"is", "is not"),
    ast.IsNot: ("equality", r"is\s+not", "is"),
    ast.In: ("equality", r"in", "not in"),
    ast.NotIn: ("equality", r"not\s+in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
_SWAPPED_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LOGGING = frozenset({"log", "logger", "logging", "warnings", "print", "failpoints"})
_TEXTS = frozenset(
    {"help", "description", "summary", "title", "message", "detail", "metavar", "encoding", "name", "text", "strict"}
)
_WORD = re.compile(r"[a-z][a-z0-9_.-]*")
_LARGEST_NUMBER = 1000  # off by one is a mistake that is noticed in small numbers only


def optional_parameters(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Names of parameters and fields with a default: a call may forget these, and nothing complains."""
    names = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.arguments):
                positional = node.posonlyargs + node.args
                names |= {one.arg for one in positional[len(positional) - len(node.defaults) :]}
                names |= {
                    one.arg for one, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default is not None
                }
            elif isinstance(node, ast.ClassDef):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and one.value is not None]
                names |= {one.target.id for one in fields if isinstance(one.target, ast.Name)}
    return frozenset(names)


def find_python_mutations(path: str, source: bytes, optional: frozenset[str]) -> list[Mutation]:
    tree = ast.parse(source)
    text = _Text(source)
    constants = _constants_by_group(tree, text)
    found = []
    for place in _walk(tree):
        for operator, start, end, new, around in (*_changes(place, text, optional), *_swap_constant(place, text, constants)):
            replacement = new.encode()
            old_text, new_text = describe(source, start, end, replacement, around)
            first, last = place.lines
            line = source.count(b"\n", 0, start) + 1
            at_import = not place.functions
            found.append(Mutation(path, operator, start, end, replacement, line, first, last, at_import, old_text, new_text))
    return found


type _Change = tuple[str, int, int, str, tuple[int, int]]
type _Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Place:
    """A node with what is around it."""

    node: ast.AST
    parents: tuple[ast.AST, ...]
    lines: tuple[int, int]

    @property
    def parent(self) -> ast.AST:
        return self.parents[-1]

    @property
    def functions(self) -> list[_Function]:
        return [one for one in self.parents if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]


class _Text:
    """A source by its positions. `ast` counts columns in bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.ExceptHandler) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword | ast.ExceptHandler) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def range(self, node: ast.expr | ast.stmt | ast.keyword | ast.ExceptHandler) -> tuple[int, int]:
        return self.start(node), self.end(node)

    def with_parentheses(self, node: ast.expr, first: int, last: int) -> tuple[int, int]:
        """The range of a node with the parentheses around it, as far as they are within the other range."""
        start, end = self.range(node)
        while True:
            before, after = self.source[first:start].rstrip(), self.source[end:last].lstrip()
            if not before.endswith(b"(") or not after.startswith(b")"):
                return start, end
            start, end = first + len(before) - 1, last - len(after) + 1

    def of(self, place: tuple[int, int]) -> str:
        return self.source[place[0] : place[1]].decode()


def _walk(tree: ast.Module) -> Iterator[_Place]:
    """Every node that is worth a mistake, with its parents and the lines of its statement."""
    stack: list[_Place] = [_Place(tree, (), (1, 1))]
    while stack:
        place = stack.pop()
        if place.parents:
            yield place
        children = []
        for name, value in ast.iter_fields(place.node):
            if name in ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords") and isinstance(
                place.node, ast.arg | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.AnnAssign
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_left_alone(child):
                    lines = _lines_of(child) or place.lines
                    if isinstance(child, ast.arguments) and isinstance(place.node, ast.FunctionDef | ast.AsyncFunctionDef):
                        # A default is evaluated with the module, but only calls can show that it is wrong.
                        lines = place.node.body[0].lineno, place.node.end_lineno or place.node.lineno
                    children.append(_Place(child, (*place.parents, place.node), lines))
        stack.extend(reversed(children))


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.JoinedStr() | ast.TypeAlias() | ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(name="__repr__"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=function):
            return _root_of(function) in _LOGGING
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call()) as value):
            call = value.value if isinstance(value, ast.Await) else value
            return isinstance(call, ast.Call) and _root_of(call.func) in _LOGGING
    return False


def _root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _lines_of(node: ast.AST) -> tuple[int, int] | None:
    """The lines of a statement, or of the head of one that holds others."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, max(node.pattern.lineno, node.body[0].lineno - 1)
    if isinstance(node, ast.Match):
        return node.lineno, max(node.lineno, node.cases[0].pattern.lineno - 1)
    if isinstance(node, ast.stmt | ast.ExceptHandler):
        body: list[ast.stmt] | None = getattr(node, "body", None)
        return node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
    return None


def _changes(place: _Place, text: _Text, optional: frozenset[str]) -> Iterator[_Change]:
    node = place.node
    match node:
        case ast.Compare():
            yield from _change_comparison(node, text)
        case ast.BoolOp():
            yield from _drop_operands(node, text)
        case ast.If() | ast.IfExp() | ast.While():
            yield from _negate(node.test, text)
        case ast.comprehension():
            yield from _drop_filters(place, node, text)
        case ast.Constant(value=bool(flag)) if not isinstance(place.parent, ast.While | ast.Expr):
            yield "flag", *text.range(node), str(not flag), _range_around(place, text)
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            if number <= (_LARGEST_NUMBER if place.functions else 10):
                yield "number", *text.range(node), str(number - 1 if number == 1 else number + 1), _range_around(place, text)
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _ARITHMETIC:
            yield from _change_arithmetic(node, text)
        case ast.Call():
            yield from _change_call(node, text, optional)
        case ast.Subscript(slice=ast.Slice() as slice):
            yield from _turn_slice(slice, text)
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            yield from _drop_statement(place, node, text)
        case ast.Raise() | ast.Return() | ast.Continue() | ast.Break():
            yield from _drop_ending(place, node, text)
        case ast.ExceptHandler(type=ast.Tuple(elts=types)) if node.type is not None:
            for number, one in enumerate(types):
                left = [text.of(text.range(other)) for at, other in enumerate(types) if at != number]
                new = left[0] if len(left) == 1 else f"({', '.join(left)})"
                yield "exception", *text.with_parentheses(node.type, *text.range(node)), new, text.range(one)


def _change_comparison(node: ast.Compare, text: _Text) -> Iterator[_Change]:
    for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
        name, pattern, new = _COMPARISONS[type(operator)]
        gap = text.end(left), text.start(right)
        between = text.of(gap)
        found = re.search(rf"(?<![<>=!\w]){pattern}(?![<>=\w])", between)
        if found and "#" not in between:
            yield name, gap[0] + found.start(), gap[0] + found.end(), new, text.range(node)


def _drop_operands(node: ast.BoolOp, text: _Text) -> Iterator[_Change]:
    whole = text.range(node)
    places = [text.with_parentheses(value, *whole) for value in node.values]
    for number, place in enumerate(places):
        if number == 0:
            yield "operand", place[0], places[1][0], "", whole
        else:
            yield "operand", places[number - 1][1], place[1], "", whole


def _negate(test: ast.expr, text: _Text) -> Iterator[_Change]:
    """Comparisons, `and` and `or` have changes of their own, which are harder to notice."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if not isinstance(test.operand, ast.Compare | ast.BoolOp):
            yield "negation", text.start(test), text.start(test.operand), "", text.range(test)
    elif not isinstance(test, ast.Compare | ast.BoolOp | ast.Constant):
        start, end = text.range(test)
        new = f"not ({text.of((start, end))})" if isinstance(test, ast.NamedExpr) else f"not {text.of((start, end))}"
        yield "negation", start, end, new, (start, end)


def _drop_filters(place: _Place, node: ast.comprehension, text: _Text) -> Iterator[_Change]:
    assert isinstance(place.parent, ast.expr)
    whole = text.range(place.parent)
    ends = [text.with_parentheses(one, *whole)[1] for one in (node.iter, *node.ifs)]
    for start, end in pairwise(ends):
        yield "filter", start, end, "", whole


def _change_arithmetic(node: ast.BinOp | ast.AugAssign, text: _Text) -> Iterator[_Change]:
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    if any(_is_text(one) for one in (left, right)):
        return  # a minus between texts or lists is noticed by everything
    old, new = _ARITHMETIC[type(node.op)]
    gap = text.end(left), text.start(right)
    between = text.of(gap)
    if between.count(old) == 1 and "#" not in between:
        start = gap[0] + between.index(old)
        yield "arithmetic", start, start + 1, new, text.range(node)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _change_call(node: ast.Call, text: _Text, optional: frozenset[str]) -> Iterator[_Change]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED_FUNCTIONS:
            yield "function", *text.range(node.func), _SWAPPED_FUNCTIONS[name], text.range(node)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Attribute(value=inner, attr="encode"))]):
            yield "length", *text.range(node.args[0]), text.of(text.range(inner)), text.range(node)
    arguments: list[ast.expr | ast.keyword] = sorted([*node.args, *node.keywords], key=text.start)
    for number, one in enumerate(arguments):
        if not isinstance(one, ast.keyword) or one.arg in _TEXTS or one.arg not in optional:
            continue
        if number + 1 < len(arguments):
            yield "argument", text.start(one), text.start(arguments[number + 1]), "", text.range(one)
        elif number > 0:
            yield "argument", text.end(arguments[number - 1]), text.end(one), "", text.range(one)
        else:
            yield "argument", *text.range(one), "", text.range(one)


def _turn_slice(slice: ast.Slice, text: _Text) -> Iterator[_Change]:
    """`[-3:]` is the end, `[:3]` the beginning."""
    whole = text.range(slice)
    if slice.step is None and slice.upper is None and slice.lower is not None:
        lower = slice.lower
        if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub):
            lower = lower.operand
        yield "slice", *whole, f":{text.of(text.range(lower))}", whole
    elif slice.step is None and slice.lower is None and slice.upper is not None:
        yield "slice", *whole, f"{text.of(text.range(slice.upper))}:", whole


def _drop_statement(place: _Place, node: ast.Expr, text: _Text) -> Iterator[_Change]:
    value = node.value
    if isinstance(value, ast.Yield | ast.YieldFrom):
        if place.functions and _count_yields(place.functions[-1]) > 1 and (isinstance(value, ast.YieldFrom) or value.value):
            yield "statement", *text.range(node), "pass", text.range(node)
        return
    call = value.value if isinstance(value, ast.Await) else value
    if isinstance(call, ast.Call) and not (isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"):
        yield "statement", *text.range(node), "pass", text.range(node)


def _count_yields(function: _Function) -> int:
    return sum(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _drop_ending(place: _Place, node: ast.stmt, text: _Text) -> Iterator[_Change]:
    """A check whose consequence was forgotten; an error that is swallowed; None where there was something to return."""
    whole = text.range(node)
    guarded = isinstance(place.parent, ast.If | ast.ExceptHandler | ast.match_case)
    if guarded and (not isinstance(node, ast.Return) or node.value is None):
        yield "ending", *whole, "pass", whole
    if isinstance(node, ast.Return) and node.value is not None and place.functions:
        returns = place.functions[-1].returns
        optional = isinstance(returns, ast.BinOp) and ast.unparse(returns).endswith("| None")
        if optional and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "ending", *whole, "return None", whole


def _swap_constant(place: _Place, text: _Text, constants: dict[str, set[str]]) -> Iterator[_Change]:
    """Another word or another member of an enumeration, which this module uses in the same place elsewhere."""
    node = place.node
    group = _group_of(node, place.parent)
    if group is None or not isinstance(node, ast.expr):
        return
    here = text.of(text.range(node))
    others = sorted(constants[group] - {here})
    if others:
        after = [other for other in others if other > here]
        yield "constant", *text.range(node), (after or others)[0], _range_around(place, text)


def _group_of(node: ast.AST, parent: ast.AST) -> str | None:
    """What a constant is compared with or given to. Constants of one group may be mistaken for each other."""
    match node, parent:
        case ast.Attribute(value=ast.Name(id=base), attr=attr), _ if base[0].isupper() and attr.isupper() and len(attr) > 1:
            return f"member of {base}"
        case ast.Constant(value=str(word)), ast.Compare(left=left, comparators=[right]) if _WORD.fullmatch(word):
            return f"compared with {ast.unparse(right if node is left else left)}"
        case ast.Constant(value=str(word)), ast.keyword(arg=str(name)) if _WORD.fullmatch(word) and name not in _TEXTS:
            return f"argument {name}"
        case ast.Constant(value=str(word)), ast.IfExp() if _WORD.fullmatch(word):
            return "choice"
    return None


def _constants_by_group(tree: ast.Module, text: _Text) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = defaultdict(set)
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            group = _group_of(node, parent)
            if group is not None and isinstance(node, ast.expr):
                groups[group].add(text.of(text.range(node)))
    return groups


def _range_around(place: _Place, text: _Text) -> tuple[int, int]:
    """The smallest thing around a constant that has a meaning by itself."""
    for parent in reversed(place.parents):
        if isinstance(parent, ast.expr | ast.stmt | ast.keyword) and not isinstance(
            parent, ast.Tuple | ast.UnaryOp | ast.Slice
        ):
            return text.range(parent) if parent.lineno == getattr(parent, "end_lineno", 0) else text.range(_expression(place))
    return text.range(_expression(place))


def _expression(place: _Place) -> ast.expr:
    assert isinstance(place.node, ast.expr)
    return place.node
