"""JAX functions as graphs, from their jaxpr.

Scopes are those of `jax.named_scope` and of the functions that `jax.jit` names; bodies of scan,
while, cond, custom derivatives and the like are scopes of their own. Primitives are the kinds of
operations, their parameters the attributes, and numbers that stand in the code are `Const` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents.graph import GraphBuilder, clean_name

try:
    import jax
except ImportError as error:
    raise ImportError("graphs of JAX functions need jax: pip install jax") from error

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["jax_graph"]

# Primitives whose body runs once on exactly their arguments: they are drawn as their body alone.
_INLINED = {
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "remat",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_jvp_call_jaxpr",
    "custom_vjp_call_jaxpr",
    "remat2",
}
_MAX_TEXT = 200  # characters of a parameter


def jax_graph(function: Callable[..., Any], *args: Any, **kwargs: Any) -> proto.GraphDef:
    """The graph of a function, traced with the shapes and dtypes of the arguments.

    Args:
        function: anything `jax.make_jaxpr` takes; it runs once, on tracers.
        *args: its arguments: arrays, `jax.ShapeDtypeStruct`s, and trees of them.
        **kwargs: its keyword arguments.

    Raises:
        Whatever `jax.make_jaxpr` raises where JAX cannot trace the function.
    """
    closed, results = jax.make_jaxpr(lambda a, k: function(*a, **k), return_shape=True)(
        args, kwargs
    )
    builder = GraphBuilder()
    walk = _Walk(builder, "", set())
    paths = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    for variable, (path, _) in zip(closed.jaxpr.invars, paths, strict=True):
        walk.define(variable, _argument_name(path), "IO Node", scope="input")
    refs = walk.run(closed.jaxpr)
    names = [path for path, _ in jax.tree_util.tree_flatten_with_path(results)[0]]
    for ref, variable, path in zip(refs, closed.jaxpr.outvars, names, strict=True):
        name = _path_text(path) or "output"
        walk.add(name, "IO Node", [ref], [variable.aval], scope="output")
    return builder.build()


def _argument_name(path: Sequence[Any]) -> str:
    """A leaf of (args, kwargs): "0.w" for the leaf w of the first argument, "x" for a keyword."""
    return _path_text(path[1:])


def _path_text(path: Sequence[Any]) -> str:
    parts = [
        str(next((getattr(key, a) for a in ("key", "idx", "name") if hasattr(key, a)), key))
        for key in path
    ]
    return clean_name(".".join(parts)) if parts else ""


class _Walk:
    """One jaxpr; `_refs` maps its variables to references to nodes."""

    def __init__(self, builder: GraphBuilder, scope: str, taken: set[str]) -> None:
        self._builder = builder
        self._scope = scope
        self._taken = taken  # scopes of bodies, of all walks
        self._refs: dict[Any, str] = {}

    def define(
        self, variable: Any, name: str, op: str, given: Sequence[str] = (), *, scope: str
    ) -> None:
        """Makes a node for a variable that comes from outside."""
        self._refs[variable] = self.add(name, op, given, [variable.aval], scope=scope)

    def reference(self, atom: Any) -> str:
        """The node of a variable; a literal gets one."""
        if hasattr(atom, "val"):
            attributes = {"value": str(np.asarray(atom.val).tolist())[:_MAX_TEXT]}
            return self.add("const", "Const", [], [atom.aval], attributes, scope=self._scope)
        return self._refs[atom]

    def run(self, jaxpr: Any) -> list[str]:
        """Adds the equations; returns the references of the results."""
        for variable in jaxpr.constvars:
            if variable not in self._refs:
                self.define(variable, "const", "Const", scope=self._scope)
        for equation in jaxpr.eqns:
            self._equation(equation)
        return [self.reference(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: Any) -> None:
        outer = self._scope
        stack = str(equation.source_info.name_stack)
        if stack:
            names = [clean_name(part) for part in stack.split("/") if part]
            self._scope = "/".join([outer, *names] if outer else names)
        try:
            self._apply(equation, str(equation.primitive.name))
        finally:
            self._scope = outer

    def _apply(self, equation: Any, name: str) -> None:
        inputs = [self.reference(atom) for atom in equation.invars]
        bodies = list(_bodies(equation.params))
        if name in _INLINED and len(bodies) == 1:
            body = bodies[0][1]
            if len(body.invars) == len(inputs) and len(body.outvars) == len(equation.outvars):
                named = equation.params.get("name")
                scope = self._body_scope(clean_name(str(named))) if named else self._scope
                walk = _Walk(self._builder, scope, self._taken)
                walk._refs.update(zip(body.invars, inputs, strict=True))
                self._refs.update(zip(equation.outvars, walk.run(body), strict=True))
                return
        label = self._body_scope(name) if bodies else ""
        operands = list(inputs)
        for key, body in bodies:
            given = _given(name, key, equation.params, operands, len(body.invars))
            walk = _Walk(self._builder, f"{label}/{key}", self._taken)
            for index, variable in enumerate(body.invars):
                walk.define(variable, "argument", "Placeholder", given[index], scope=walk._scope)
            inputs += walk.run(body)
        attributes = {
            key: _attribute(value)
            for key, value in equation.params.items()
            if value is not None and not any(True for _ in _jaxprs(value)) and not callable(value)
        }
        avals = [variable.aval for variable in equation.outvars]
        own = label.rpartition("/")[2] or clean_name(name)
        made = self.add(own, name, inputs, avals, attributes, scope=self._scope)
        for index, variable in enumerate(equation.outvars):
            self._refs[variable] = made if index == 0 else f"{made}:{index}"

    def _body_scope(self, name: str) -> str:
        """A scope that no other body has."""
        first = scope = f"{self._scope}/{name}" if self._scope else name
        number = 0
        while scope in self._taken:
            number += 1
            scope = f"{first}_{number}"
        self._taken.add(scope)
        return scope

    def add(
        self,
        name: str,
        op: str,
        inputs: Sequence[str],
        avals: Sequence[Any],
        attributes: dict[str, Any] | None = None,
        *,
        scope: str,
    ) -> str:
        """A node of a free name in `scope`."""
        return self._builder.unique_node(
            f"{scope}/{name}" if scope else name,
            op,
            inputs,
            attributes=attributes,
            shapes=[_shape(aval) for aval in avals],
            dtypes=[str(getattr(aval, "dtype", "")) for aval in avals],
        )


def _shape(aval: Any) -> list[int | None] | None:
    shape = getattr(aval, "shape", None)
    if shape is None:
        return None
    return [size if isinstance(size, int) else None for size in shape]


def _given(
    name: str, key: str, params: dict[str, Any], operands: list[str], count: int
) -> list[list[str]]:
    """What feeds each argument of a body: nothing or one operand."""
    if name == "while":  # constants of the condition, constants of the body, carried values
        first, second = params["cond_nconsts"], params["body_nconsts"]
        own = operands[:first] if key == "cond_jaxpr" else operands[first : first + second]
        operands = own + operands[first + second :]
    known = operands[-count:] if count else []
    return [[]] * (count - len(known)) + [[ref] for ref in known]


def _bodies(params: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The jaxprs in an equation's parameters, each with a name for its scope."""
    for key, value in params.items():
        found = list(_jaxprs(value))
        for index, jaxpr in enumerate(found):
            yield clean_name(key) + (f"_{index}" if len(found) > 1 else ""), jaxpr


def _jaxprs(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _jaxprs(item)
    elif hasattr(value, "eqns") and hasattr(value, "invars"):
        yield value
    elif hasattr(value, "jaxpr"):
        yield from _jaxprs(value.jaxpr)


def _attribute(value: Any) -> Any:
    if isinstance(value, tuple) and value and all(type(item) is int for item in value):
        return list(value)
    if isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, int) or abs(value) < 1 << 62 else str(value)
    return str(value)[:_MAX_TEXT]
