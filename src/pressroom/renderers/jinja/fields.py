"""Which data, strings and templates a template reads, told from its syntax tree without rendering it.

Each function that walks a part of the tree returns the paths that it needs: without one of them, no rendering of that part can
succeed. A part that is rendered only sometimes needs nothing for certain. Loops count as if they had an element.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jinja2 import nodes

from pressroom.renderers.jinja import values
from pressroom.renderers.jinja.values import Either, Elements, MacroValue, Module, Path, Several, Unknown, Value

if TYPE_CHECKING:
    from pressroom.renderers.jinja.environment import TemplateEnvironment

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


def fields_of(environment: "TemplateEnvironment", source: str) -> dict[str, Any]:
    reader = FieldReader(environment)
    needed = reader.read_template("", source)
    return {
        "fields": [
            {"path": path, "required": path in needed, "line": line, "template": template}
            for path, (line, template) in reader.reads.items()
        ],
        "strings": list(reader.strings),
        "templates": list(reader.templates),
    }


class TemplateScope(dict[str, Value]):
    """Names that are not data: variables of loops, sets and macros. A new one sees those of the outer scope."""

    def inner(self, more: dict[str, Value] | None = None) -> "TemplateScope":
        return TemplateScope(self | (more or {}))


class FieldReader:
    def __init__(self, environment: "TemplateEnvironment") -> None:
        self.reads: dict[str, tuple[int, str]] = {}
        self.strings: dict[str, None] = {}
        self.templates: dict[str, None] = {}
        self._environment = environment
        self._template = ""
        self._inlined: list[object] = []
        self._blocks: dict[str, list[tuple[str, nodes.Block]]] = {}
        self._block_levels: list[tuple[str, int]] = []

    # Templates

    def read_template(self, name: str, source: str, scope: TemplateScope | None = None) -> Needs:
        tree = self._environment._parse(source, name or None, None)
        outer, self._template = self._template, name
        outer_blocks, self._blocks = self._blocks, {}
        try:
            return self._with_parents(tree, TemplateScope() if scope is None else scope)
        finally:
            self._template, self._blocks = outer, outer_blocks

    def _with_parents(self, tree: nodes.Template, scope: TemplateScope) -> Needs:
        """A template that extends another runs its own statements outside of blocks; its blocks stand in for the parent's."""
        needs = NOTHING
        seen = {self._template}
        while True:
            for block in tree.find_all(nodes.Block):
                self._blocks.setdefault(block.name, []).append((self._template, block))
            extends = next((one for one in tree.body if isinstance(one, nodes.Extends)), None)
            if extends is None:
                return needs | self._statements(tree.body, scope)
            needs |= self._statements(
                [one for one in tree.body if not isinstance(one, nodes.Output | nodes.Block | nodes.Extends)], scope
            )
            for name in self._names_of(extends.template):
                source = self._source(name)
                if source is not None and name not in seen:
                    seen.add(name)
                    self._template = name
                    tree = self._environment._parse(source, name, None)
                    break
            else:
                return needs

    def _source(self, name: str) -> str | None:
        self.templates[name] = None
        loader: Any = self._environment.loader
        source: str | None = loader.templates.get(name)
        return source

    def _names_of(self, node: nodes.Expr) -> list[str]:
        """The templates that may be meant, as far as they can be told."""
        match node:
            case nodes.Const(value=str() as name):
                return [name]
            case nodes.List() | nodes.Tuple():
                return [name for item in node.items for name in self._names_of(item)]
            case nodes.CondExpr():
                return self._names_of(node.expr1) + (self._names_of(node.expr2) if node.expr2 else [])
        return []

    def _read_other(self, name: str, scope: TemplateScope) -> Needs:
        source = self._source(name)
        if source is None or name in self._inlined or len(self._inlined) >= MOST_INLINED:
            return NOTHING
        self._inlined.append(name)
        try:
            return self.read_template(name, source, scope)
        finally:
            self._inlined.pop()

    # Statements

    def _statements(self, body: Iterable[nodes.Node], scope: TemplateScope) -> Needs:
        needs = NOTHING
        for node in body:
            needs |= self._statement(node, scope)
        return needs

    def _statement(self, node: nodes.Node, scope: TemplateScope) -> Needs:
        match node:
            case nodes.Output():
                return self._use_all([one for one in node.nodes if not isinstance(one, nodes.TemplateData)], scope)
            case nodes.If():
                return self._if(node, scope)
            case nodes.For():
                return self._for(node, scope)
            case nodes.Assign():
                value, needs = self._value(node.node, scope)
                self._note(value)
                self._bind(node.target, value, scope)
                return needs
            case nodes.AssignBlock():
                needs = self._statements(node.body, scope.inner())
                self._bind(node.target, Unknown(), scope)
                return needs | self._use_filter(node.filter, scope)
            case nodes.With():
                return self._with(node, scope)
            case nodes.Macro():
                scope[node.name] = MacroValue(self._template, node, scope)
                return NOTHING
            case nodes.CallBlock():
                needs = self._use(node.call, scope)
                self._statements(node.body, scope.inner({name.name: Unknown() for name in node.args}))
                return needs
            case nodes.FilterBlock():
                return self._statements(node.body, scope.inner()) | self._use_filter(node.filter, scope)
            case nodes.Block():
                return self._block(node, scope)
            case nodes.Include():
                return self._include(node, scope)
            case nodes.Import() | nodes.FromImport():
                return self._import(node, scope)
            case nodes.Extends():
                for name in self._names_of(node.template):
                    self._read_other(name, scope.inner())
                return self._use(node.template, scope)
            case nodes.ExprStmt():
                return self._use(node.node, scope)
            case nodes.Scope() | nodes.ScopedEvalContextModifier():
                return self._statements(node.body, scope.inner())
        return NOTHING

    def _if(self, node: nodes.If, scope: TemplateScope) -> Needs:
        needs = self._test(node.test, scope)
        branches = [node.body, *(one.body for one in node.elif_), node.else_]
        scopes = [scope.inner() for _ in branches]
        for elif_ in node.elif_:
            self._test(elif_.test, scope)
        always = [self._statements(body, inner) for body, inner in zip(branches, scopes, strict=True)]
        for name in {name for inner in scopes for name in inner if inner[name] is not scope.get(name)}:
            scope[name] = Either.of([inner.get(name, Path(name)) for inner in scopes])
        return needs | frozenset.intersection(*always)

    def _for(self, node: nodes.For, scope: TemplateScope) -> Needs:
        listed, needs = self._value(node.iter, scope)
        needs |= self._require(listed)
        self._statements(node.else_, scope.inner())
        return needs | self._loop_body(node, listed, scope)

    def _loop_body(self, node: nodes.For, listed: Value, scope: TemplateScope) -> Needs:
        inner = scope.inner({"loop": Several(node, scope)})
        self._bind(node.target, listed.element(), inner)
        if node.test is None:
            return self._statements(node.body, inner)
        self._test(node.test, inner)
        self._statements(node.body, inner)
        return NOTHING

    def _with(self, node: nodes.With, scope: TemplateScope) -> Needs:
        inner = scope.inner()
        needs = NOTHING
        for target, expression in zip(node.targets, node.values, strict=True):
            value, more = self._value(expression, scope)
            self._note(value)
            self._bind(target, value, inner)
            needs |= more
        return needs | self._statements(node.body, inner)

    def _block(self, node: nodes.Block, scope: TemplateScope) -> Needs:
        return self._block_at(node.name, 0, scope)

    def _block_at(self, name: str, level: int, scope: TemplateScope) -> Needs:
        chain = self._blocks.get(name, [])
        if level >= len(chain) or (name, level) in self._block_levels:
            return NOTHING
        template, block = chain[level]
        outer, self._template = self._template, template
        self._block_levels.append((name, level))
        try:
            return self._statements(block.body, scope.inner())
        finally:
            self._template = outer
            self._block_levels.pop()

    def _include(self, node: nodes.Include, scope: TemplateScope) -> Needs:
        needs = self._use(node.template, scope)
        names = self._names_of(node.template)
        if isinstance(node.template, nodes.List | nodes.Tuple):  # the first that there is
            names = [name for name in names if self._source(name) is not None][:1]
        inner = scope.inner() if node.with_context else TemplateScope()
        read = [self._read_other(name, inner) for name in names]
        return needs if not read or node.ignore_missing else needs | frozenset.intersection(*read)

    def _import(self, node: nodes.Import | nodes.FromImport, scope: TemplateScope) -> Needs:
        needs = self._use(node.template, scope)
        names = self._names_of(node.template)
        inner = scope.inner() if node.with_context else TemplateScope()
        needs |= self._read_other(names[0], inner) if len(names) == 1 else NOTHING
        if isinstance(node, nodes.Import):
            scope[node.target] = Module(inner)
        else:
            for name in node.names:
                wanted, local = (name, name) if isinstance(name, str) else name
                scope[local] = inner.get(wanted, Unknown())
        return needs

    def _bind(self, target: nodes.Node, value: Value, scope: TemplateScope) -> None:
        match target:
            case nodes.Name():
                scope[target.name] = value
            case nodes.Tuple():
                parts = value.unpack(len(target.items))
                for item, part in zip(target.items, parts, strict=True):
                    self._bind(item, part, scope)

    # Expressions

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
                needs = self._use(node.left, scope)
                self._use(node.right, scope)
                return Unknown(), needs
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
            case nodes.Const(value=str() | int() as name):
                return value.part(name, node.lineno), needs
            case nodes.Neg(node=nodes.Const(value=int() as name)):
                return value.part(-name, node.lineno), needs
            case nodes.Slice():
                return value, needs | self._use_all(node.arg.iter_child_nodes(), scope) | self._require(value)
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
