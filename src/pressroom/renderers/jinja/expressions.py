"""What the expressions of a template read: which paths they name, which they cannot do without, and what they stand for."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from jinja2 import nodes

from pressroom.renderers.jinja import values
from pressroom.renderers.jinja.values import Either, Elements, MacroValue, Needed, Path, Several, Unknown, Value

type Needs = frozenset[str]
NOTHING: Needs = frozenset()
MOST_INLINED = 20  # macros and includes inside of each other

_SPECIAL_NAMES = frozenset({"t", "loop", "self", "super", "caller", "varargs", "kwargs"})
_FUNCTIONS = frozenset({"range", "dict", "namespace", "cycler", "joiner"})  # unless they are fields
_HARMLESS_TESTS = frozenset(
    (
        *("boolean", "callable", "defined", "escaped", "false", "float", "integer", "mapping", "none", "number", "sameas"),
        *("sequence", "string", "true", "undefined"),
    )
)


class TemplateScope(dict[str, Value]):
    """Names that are not data: variables of loops, sets and macros. A new one sees those of the outer scope."""

    def inner(self, more: dict[str, Value] | None = None) -> "TemplateScope":
        return TemplateScope(self | (more or {}))


class ExpressionReader(ABC):
    def __init__(self) -> None:
        self.reads: dict[str, tuple[int, str]] = {}
        self.strings: dict[str, None] = {}
        self._template = ""
        self._inlined: list[object] = []
        self._block_levels: list[tuple[str, int]] = []

    @abstractmethod
    def _statements(self, body: Iterable[nodes.Node], scope: TemplateScope) -> Needs: ...

    @abstractmethod
    def _loop_body(self, node: nodes.For, listed: Value, scope: TemplateScope) -> Needs: ...

    @abstractmethod
    def _block_at(self, name: str, level: int, scope: TemplateScope) -> Needs: ...

    def _use_all(self, expressions: Iterable[nodes.Node], scope: TemplateScope) -> Needs:
        needs = NOTHING
        for expression in expressions:
            needs |= self._use(expression, scope)
        return needs

    def _use(self, node: nodes.Node, scope: TemplateScope) -> Needs:
        """It is printed, compared or computed with: what is missing in it is an error."""
        value, needs = self._value(node, scope)
        return needs | self._require(value)

    def _require(self, value: Value) -> Needs:
        self._note(value)
        return frozenset(value.needed_paths())

    def _note(self, value: Value) -> None:
        for path, line in value.paths():
            self.reads.setdefault(path, (line, self._template))

    def _test(self, node: nodes.Node, scope: TemplateScope) -> Needs:
        """It is asked whether it is true, which what is missing is not."""
        match node:
            case nodes.Not():
                return self._test(node.node, scope)
            case nodes.And() | nodes.Or():
                needs = self._test(node.left, scope)
                self._test(node.right, scope)
                return needs
        value, needs = self._value(node, scope)
        self._note(value)
        return needs

    def _value(self, node: nodes.Node, scope: TemplateScope) -> tuple[Value, Needs]:
        """What an expression stands for, before it is used, and what is needed to get so far."""
        match node:
            case nodes.Name():
                return self._name(node, scope), NOTHING
            case nodes.Getattr():
                value, needs = self._value(node.node, scope)
                return value.part(node.attr, node.lineno), needs
            case nodes.Getitem():
                return self._item(node, scope)
            case nodes.Filter():
                return self._filter(node, scope)
            case nodes.Test():
                return Unknown(), self._is(node, scope)
            case nodes.Call():
                return self._call(node, scope)
            case nodes.Or():
                self._test(node.left, scope)
                self._use(node.right, scope)
                return Unknown(), NOTHING
            case nodes.And():
                left, needs = self._value(node.left, scope)
                self._note(left)
                self._use(node.right, scope)
                return Needed(frozenset(left.needed_paths())), needs
            case nodes.Not():
                return Unknown(), self._test(node.node, scope)
            case nodes.CondExpr():
                needs = self._test(node.test, scope)
                one, needs_one = self._value(node.expr1, scope)
                self._note(one)
                if node.expr2 is None:
                    return Unknown(), needs
                other, needs_other = self._value(node.expr2, scope)
                self._note(other)
                return Either.of([one, other]), needs | (needs_one & needs_other)
            case nodes.Compare():
                needs = self._use(node.expr, scope) | self._use(node.ops[0].expr, scope)
                self._use_all([operand.expr for operand in node.ops[1:]], scope)
                return Unknown(), needs
            case nodes.List() | nodes.Tuple():
                items = [self._value(item, scope) for item in node.items]
                for value, _ in items:
                    self._note(value)
                return Elements(Either.of([value for value, _ in items])), frozenset().union(*(needs for _, needs in items))
            case nodes.Dict():
                self._use_all([pair.key for pair in node.items], scope)
                for pair in node.items:
                    self._note(self._value(pair.value, scope)[0])
                return Unknown(), NOTHING
            case nodes.Const() | nodes.TemplateData():
                return Unknown(), NOTHING
        return Unknown(), self._use_all(node.iter_child_nodes(), scope)

    def _name(self, node: nodes.Name, scope: TemplateScope) -> Value:
        found = scope.get(node.name)
        if found is not None:
            return found.at(node.lineno)
        return Unknown() if node.name in _SPECIAL_NAMES else Path(node.name, node.lineno)

    def _item(self, node: nodes.Getitem, scope: TemplateScope) -> tuple[Value, Needs]:
        value, needs = self._value(node.node, scope)
        match node.arg:
            case nodes.Const(value=str() as name) if not values.is_step(name):
                self._note(value)
                return Unknown(), needs
            case nodes.Const(value=str() | int() as name):
                return value.part(name, node.lineno), needs
            case nodes.Neg(node=nodes.Const(value=int() as name)):
                return value.part(-name, node.lineno), needs
            case nodes.Slice():
                return Elements(value.element(certain=False)), needs | self._use_all(
                    node.arg.iter_child_nodes(), scope
                ) | self._require(value)
        return value.element(certain=False), needs | self._use(node.arg, scope) | self._require(value)

    def _is(self, node: nodes.Test, scope: TemplateScope) -> Needs:
        arguments = self._use_all([*node.args, *(one.value for one in node.kwargs)], scope)
        if node.name not in _HARMLESS_TESTS:
            return arguments | self._use(node.node, scope)
        value, needs = self._value(node.node, scope)
        self._note(value)
        return arguments | needs

    def _use_filter(self, node: nodes.Filter | None, scope: TemplateScope) -> Needs:
        return NOTHING if node is None else self._filter(node, scope)[1]

    def _filter(self, node: nodes.Filter, scope: TemplateScope) -> tuple[Value, Needs]:
        value, needs = (Unknown(), NOTHING) if node.node is None else self._value(node.node, scope)
        arguments = [*node.args, *(one.value for one in node.kwargs)]
        if node.name in ("default", "d"):
            self._note(value)
            self._use_all(arguments, scope)
            return value.uncertain(), needs
        needs |= self._require(value) | self._use_all(arguments, scope)
        result, optional, required = values.filtered(value, node)
        for part in optional:
            self._note(part)
        for part in required:
            needs |= self._require(part)
        return result, needs

    # Calls

    def _call(self, node: nodes.Call, scope: TemplateScope) -> tuple[Value, Needs]:
        arguments: Sequence[nodes.Node] = [*node.args, *(one.value for one in node.kwargs)]
        if node.dyn_args or node.dyn_kwargs:
            arguments = [*arguments, *filter(None, (node.dyn_args, node.dyn_kwargs))]
        if isinstance(node.node, nodes.Name) and node.node.name not in scope:
            special = self._call_special(node.node.name, node, scope)
            if special is not None:
                return Unknown(), special | self._use_all(arguments, scope)
        if isinstance(node.node, nodes.Getattr):
            owner, needs = self._value(node.node.node, scope)
            if isinstance(owner, Path | Elements | Either):
                needs |= self._require(owner) if values.is_method(node.node.attr) else self._use(node.node, scope)
                return values.called(owner, node.node.attr, node), needs | self._use_all(arguments, scope)
        called, needs = self._value(node.node, scope)
        match called:
            case MacroValue():
                return Unknown(), needs | self._call_macro(called, node, scope)
            case Several():
                self._call_loop(called, node, scope)
                return Unknown(), needs
        return Unknown(), needs | self._require(called) | self._use_all(arguments, scope)

    def _call_special(self, name: str, node: nodes.Call, scope: TemplateScope) -> Needs | None:
        if name == "t" and node.args and isinstance(node.args[0], nodes.Const):
            self.strings.setdefault(str(node.args[0].value))
            return NOTHING
        if name == "super" and self._block_levels:
            block, level = self._block_levels[-1]
            return self._block_at(block, level + 1, scope)
        return NOTHING if name in _SPECIAL_NAMES | _FUNCTIONS else None

    def _call_macro(self, macro: MacroValue, call: nodes.Call, scope: TemplateScope) -> Needs:
        """The macro's body, with its parameters standing for what the call gives them."""
        given = [self._value(argument, scope) for argument in call.args]
        named = {one.key: self._value(one.value, scope) for one in call.kwargs}
        needs = frozenset().union(*(more for _, more in (*given, *named.values())))
        inner = macro.scope.inner()
        count = len(macro.node.args)
        for place, parameter in enumerate(macro.node.args):
            default = place - (count - len(macro.node.defaults))
            if place < len(given):
                inner[parameter.name] = given[place][0]
            elif parameter.name in named:
                inner[parameter.name] = named[parameter.name][0]
            else:
                inner[parameter.name] = self._value(macro.node.defaults[default], inner)[0] if default >= 0 else Unknown()
        for value, _ in (*given, *named.values()):
            self._note(value)
        if macro.node in self._inlined or len(self._inlined) >= MOST_INLINED:
            return needs
        outer, self._template = self._template, macro.template
        self._inlined.append(macro.node)
        try:
            return needs | self._statements(macro.node.body, inner)
        finally:
            self._template = outer
            self._inlined.pop()

    def _call_loop(self, loop: Several, call: nodes.Call, scope: TemplateScope) -> None:
        """`loop(item.children)` in a recursive loop: one level deeper is read, and no more."""
        for argument in call.args[:1]:
            value, _ = self._value(argument, scope)
            self._note(value)
            if loop.node not in self._inlined:
                self._inlined.append(loop.node)
                self._loop_body(loop.node, value, loop.scope)
                self._inlined.pop()
