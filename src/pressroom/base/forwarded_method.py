"""A method that an object forwards to one of its parts, with its signature and docstring."""

from collections.abc import Callable
from typing import Any, Concatenate, overload


class ForwardedMethod[Target, **P, R]:
    """`submit = ForwardedMethod("queue", Queue.submit)` is the method `submit` of `self.queue`, with its signature."""

    def __init__(self, attribute: str, method: Callable[Concatenate[Target, P], R]) -> None:
        self._attribute = attribute
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, holder: None, owner: type) -> Callable[Concatenate[Target, P], R]: ...

    @overload
    def __get__(self, holder: object, owner: type) -> Callable[P, R]: ...

    def __get__(self, holder: object | None, owner: type) -> Any:
        return self._method if holder is None else getattr(getattr(holder, self._attribute), self._name)
