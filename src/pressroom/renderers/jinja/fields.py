"""Which data, strings and templates a template reads, told from its syntax tree without rendering it.

Each function that walks a part of the tree returns the paths that it needs: without one of them, no rendering of that part can
succeed. A part that is rendered only sometimes needs nothing for certain. Loops count as if they had an element.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jinja2 import nodes

from pressroom.renderers.jinja.expressions import MOST_INLINED, NOTHING, ExpressionReader, Needs, TemplateScope
from pressroom.renderers.jinja.values import Either, MacroValue, Module, Path, Several, Unknown, Value

if TYPE_CHECKING:
    from pressroom.renderers.jinja.environment import TemplateEnvironment


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


class FieldReader(ExpressionReader):
    def __init__(self, environment: "TemplateEnvironment") -> None:
        super().__init__()
        self.templates: dict[str, None] = {}
        self._environment = environment
        self._blocks: dict[str, list[tuple[str, nodes.Block]]] = {}

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
        """Behind a statement that may leave the loop nothing is certain."""
        needs = NOTHING
        goes_on = True
        for node in body:
            found = self._statement(node, scope)
            if goes_on:
                needs |= found
            goes_on = goes_on and not _leaves(node, nodes.Break | nodes.Continue)
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
        if node.test is not None:
            self._test(node.test, inner)
        needs = self._statements(node.body, inner)
        is_whole = node.test is None and not any(_leaves(one, nodes.Break) for one in node.body)
        return needs if is_whole else NOTHING

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


def _leaves(node: nodes.Node, kinds: Any) -> bool:
    """Whether it may leave the loop that it is in, or the turn of it. What leaves an inner loop does not."""
    if isinstance(node, nodes.Macro | nodes.Block):
        return False
    inside = node.else_ if isinstance(node, nodes.For) else node.iter_child_nodes()
    return isinstance(node, kinds) or any(_leaves(child, kinds) for child in inside)
