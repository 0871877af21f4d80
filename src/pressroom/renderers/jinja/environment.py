"""The environment of templates. Nothing of Python can be reached from it: only data, macros and what is listed here."""

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from decimal import Decimal
from types import CodeType
from typing import Any, NoReturn

from jinja2 import BaseLoader, Template, TemplateNotFound, nodes, pass_context
from jinja2.exceptions import FilterArgumentError, SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer

from pressroom.renderers.jinja.data import DataObject, MissingValue

LONGEST_REPEAT = 1_000_000  # characters or items that `*` may make
MOST_BITS = 4_096  # of a whole number that `*` and `**` may make
MOST_DECIMALS = 30

_GLOBALS: dict[str, Any] = {
    "range": safe_range,
    "dict": dict,
    "namespace": Namespace,
    "cycler": Cycler,
    "joiner": Joiner,
}
_CALLABLE_TYPES = (Macro, BlockReference, LoopContext, Joiner, Undefined)
_OWNERS_OF_METHODS = (str, int, float, list, dict, tuple, range, LoopContext, Cycler)
_PRINTABLE_TYPES = (str, int, float, Decimal, list, dict, tuple, range, Undefined)
_METHODS_OF_OBJECTS = frozenset(name for name in dir(dict) if not name.startswith("_"))
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\d{5}|\*)")


class TemplateDict(BaseLoader):
    """The templates that `include`, `extends` and `import` may name, and no others."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self.templates = templates

    def get_source(self, environment: Any, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:  # noqa: ARG002
        source = self.templates.get(template)
        if source is None:
            raise TemplateNotFound(template, f"there is no template {template[:100]!r}; {self._known()}")
        return source, None, None

    def _known(self) -> str:
        return f"there are {', '.join(sorted(self.templates)[:20])}" if self.templates else "none can be included here"


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """`compiled` keeps the code of templates between renders. No filter runs at compile time, so it depends on no render."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(
        self,
        data: Mapping[str, Any],
        templates: Mapping[str, str],
        filters: dict[str, Callable[..., Any]],
        functions: Mapping[str, Callable[..., Any]],
        compiled: MutableMapping[tuple[str | None, str], CodeType],
    ) -> None:
        super().__init__(
            autoescape=True,
            undefined=MissingValue,
            loader=TemplateDict(templates),
            finalize=_printable,
            optimized=False,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        )
        # Imported templates read the data too. A function of ours goes before a field of its name, and those of Jinja after it.
        self.globals = {**_GLOBALS, **data, **functions}
        self._functions = frozenset(id(function) for function in (*_GLOBALS.values(), *functions.values()))
        usual = FILTERS | {"format": _format, "round": _round} | filters
        lenient = ("default", "d")
        self.filters = {name: usual[name] if name in lenient else _strict(usual[name]) for name in usual}
        del self.filters["random"]  # the same data must give the same document
        self._compiled = compiled

    def compile(self, source: Any, name: str | None = None, filename: str | None = None, *_: Any, **__: Any) -> Any:
        """Kept by name and text: the name is part of the code."""
        code = self._compiled.get((name, source))
        if code is None:
            code = self._compiled[name, source] = super().compile(source, name, filename)
        return code

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parsed = super()._parse(source, name, filename)
        for modifier in parsed.find_all(nodes.EvalContextModifier):
            for option in modifier.options:
                if option.key == "autoescape" and not (isinstance(option.value, nodes.Const) and option.value.value is True):
                    raise TemplateSyntaxError("autoescape cannot be switched off", modifier.lineno, name, filename)
        return _FieldNames().visit(parsed)  # type: ignore[no-any-return]

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The data goes before the methods of Python: `invoice.items` is what the invoice has by this name."""
        if isinstance(obj, MissingValue):
            return self._part(obj, attribute)
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, MissingValue):
            return self._part(obj, argument)
        if isinstance(obj, DataObject):  # never a method
            if not isinstance(argument, str) or argument in obj:
                return super().getitem(obj, argument)
            return self.unsafe_undefined(obj, argument) if argument.startswith("_") else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)

    def _part(self, obj: MissingValue, name: Any) -> MissingValue:
        if isinstance(name, str) and name.startswith("_"):
            self.unsafe_undefined(obj, name)
        return obj.part(name)

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:  # noqa: ARG002
        raise SecurityError(f"templates may not read {attribute[:100]!r}")

    def is_safe_callable(self, obj: Any) -> bool:
        if isinstance(obj, _CALLABLE_TYPES) or id(obj) in self._functions:
            return super().is_safe_callable(obj)
        method = getattr(obj, "__wrapped__", obj)  # of a text: the sandbox puts its own in the place of `format`
        return isinstance(getattr(method, "__self__", None), _OWNERS_OF_METHODS) and super().is_safe_callable(obj)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        if not __self.is_safe_callable(__obj):
            raise SecurityError("only macros, functions of templates and methods of data can be called")
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            _refuse_wide_format(left)
        elif operator == "*":
            _refuse_long_product(left, right)
        elif operator == "**":
            _refuse_large_power(left, right)
        return super().call_binop(context, operator, left, right)


class _FieldNames(NodeTransformer):
    """`{% if invoice.items %}` asks for a field, and would be true for each object: it has a method of this name. Only what is
    called is a method.
    """

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802
        if isinstance(node.node, nodes.Getattr):
            self.generic_visit(node.node)
            called, node.node = node.node, nodes.Const(None)
            self.generic_visit(node)
            node.node = called
            return node
        return self.generic_visit(node)

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if node.attr not in _METHODS_OF_OBJECTS:
            return node
        return nodes.Getitem(node.node, nodes.Const(node.attr, lineno=node.lineno), node.ctx, lineno=node.lineno)


@pass_context
def _printable(context: Context, value: Any) -> Any:  # noqa: ARG001 - with the context it is not called at compile time
    if value is None:
        return ""
    if isinstance(value, _PRINTABLE_TYPES) or hasattr(value, "__html__"):
        return value
    if isinstance(value, TemplateReference | Macro) or callable(value):
        raise SecurityError("a macro, function or method is to be called, not printed")
    raise SecurityError(f"{type(value).__name__} cannot be printed")


def _strict(filter: Callable[..., Any]) -> Callable[..., Any]:
    """Some filters of Jinja take what is missing for an empty list."""
    passed = getattr(filter, "jinja_pass_arg", None)
    place = 0 if passed is None else 1

    def strict(*args: Any, **kwargs: Any) -> Any:
        if isinstance(args[place], Undefined):
            str(args[place])  # raises the error that names its path
        return filter(*args, **kwargs)

    strict.jinja_pass_arg = passed  # type: ignore[attr-defined] # Jinja's way to give a filter the context
    return strict


def _refuse_wide_format(text: str) -> None:
    if _WIDE_FORMAT.search(text):
        raise FilterArgumentError("a format may not have a width of more than four digits, nor one that is an argument")


def _refuse_long_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right.bit_length() > MOST_BITS:
            raise SecurityError(f"* would make a number of more than {MOST_BITS:,} bits")
        return
    repeated, times = (right, left) if isinstance(left, int) else (left, right)
    if isinstance(times, int) and hasattr(repeated, "__len__") and len(repeated) * times > LONGEST_REPEAT:
        raise SecurityError(f"* would make {len(repeated) * times:,} characters or items; at most {LONGEST_REPEAT:,}")


def _refuse_large_power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > MOST_BITS:
        raise SecurityError(f"** would make a number of more than {MOST_BITS:,} bits")


def _format(value: Any, *args: Any, **kwargs: Any) -> Any:
    _refuse_wide_format(str(value))
    return FILTERS["format"](value, *args, **kwargs)


def _round(value: Any, precision: int = 0, method: Any = "common") -> Any:
    if not -MOST_DECIMALS <= precision <= MOST_DECIMALS:
        raise FilterArgumentError(f"round: at most {MOST_DECIMALS} digits")
    return FILTERS["round"](value, precision, method)


def render_pieces(template: Template) -> Iterator[str]:
    """As `Template.generate`, but errors keep their own traceback, which tells the template and the line."""
    yield from template.root_render_func(template.new_context())
