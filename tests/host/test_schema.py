"""Schema strings, by themselves and against torch's own parser."""

import pytest

from triton_mutlint.host.torch.schema import SchemaArgument, SchemaError, parse_schema


def arguments(text: str) -> list[SchemaArgument]:
    return list(parse_schema(text).arguments)


def test_names_arguments_and_results() -> None:
    text = "ns::op.out(Tensor(a!) x, Tensor(a!)? y=None, Tensor(b!)[] zs, *, int n=1) -> (Tensor, Tensor(a!) r)"
    schema = parse_schema(text)
    assert (schema.namespace, schema.name, schema.overload) == ("ns", "op", "out")
    assert schema.mutated == ("x", "y", "zs")
    assert [a.type for a in schema.arguments] == ["Tensor", "Tensor?", "Tensor[]", "int"]
    assert [a.alias for a in schema.arguments] == [{"a"}, {"a"}, {"b"}, frozenset()]
    assert [a.default for a in schema.arguments] == [None, "None", None, "1"]
    assert [a.kwarg_only for a in schema.arguments] == [False, False, False, True]
    assert [(r.name, r.type, r.mutated) for r in schema.returns] == [("", "Tensor", False), ("r", "Tensor", True)]


def test_a_schema_may_have_no_name() -> None:
    schema = parse_schema(" (Tensor x) -> () ")
    assert (schema.namespace, schema.name, schema.overload, schema.returns) == ("", "", "", ())


@pytest.mark.parametrize(
    ("annotated", "type_", "alias", "mutated"),
    [
        ("Tensor(a!)", "Tensor", {"a"}, True),
        ("Tensor(a)", "Tensor", {"a"}, False),
        ("Tensor (a!)", "Tensor", {"a"}, True),
        ("Tensor(a -> *)", "Tensor", {"a", "*"}, False),
        ("Tensor(a! -> a|b)", "Tensor", {"a", "b"}, True),
        ("Tensor(a|b)", "Tensor", {"a", "b"}, False),
        ("Tensor(*)", "Tensor", {"*"}, False),
        ("Tensor[](a!)", "Tensor[]", {"a"}, True),
        ("Tensor(a!)?[]", "Tensor?[]", {"a"}, True),
        ("Tensor!", "Tensor", set(), True),
        ("Tensor!?", "Tensor?", set(), True),
        ("SymInt[2]?", "SymInt[2]?", set(), False),
        ("Dict(str, Tensor)", "Dict(str, Tensor)", set(), False),
        ("(Tensor, int)[]", "(Tensor, int)[]", set(), False),
        ("__torch__.torch.classes.ns.Thing", "__torch__.torch.classes.ns.Thing", set(), False),
    ],
)
def test_types_and_their_aliases(annotated: str, type_: str, alias: set[str], mutated: bool) -> None:
    (argument,) = arguments(f"op({annotated} x) -> ()")
    assert (argument.name, argument.type, argument.alias, argument.mutated) == ("x", type_, alias, mutated)


@pytest.mark.parametrize("default", ["1", "-1", "1e-05", "None", "True", '"a, b)"', "'it'", "[1, -2]", "[]", "float",
                                     "contiguous_format", "torch.float16", "-inf"])
def test_defaults_are_kept_as_written(default: str) -> None:
    first, second = arguments(f"op(int x={default}, Tensor(a!) y) -> ()")
    assert (first.default, second.name) == (default, "y")


def test_any_further_arguments() -> None:
    assert len(arguments("format(str self, ...) -> str")) == 1
    assert parse_schema("op(Tensor x) -> ...").returns == ()


def test_what_holds_tensors() -> None:
    held = [a.is_tensor for a in arguments("op(Tensor a, Tensor? b, Tensor[] c, int d, TensorList e) -> ()")]
    assert held == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "it does not begin with a name and `(`"),
        ("a::b::c(Tensor x) -> ()", 1, "it does not begin with a name and `(`"),
        ("op(Tensor x)", 13, "`->` does not follow the arguments"),
        ("op(Tensor x,) -> ()", 13, "`` is not a type and a name"),
        ("op(Tensor) -> ()", 4, "`Tensor` is not a type and a name"),
        ("op(Tensor x Tensor y) -> ()", 4, "`Tensor x Tensor y` is not a type and a name"),
        ("op(Tensor(a! x) -> ()", 22, "a bracket is not closed"),
        ("op(Tensor(!) x) -> ()", 4, "`Tensor(!) x` is not a type and a name"),
        ("op(Tensor x; int y) -> ()", 4, "`Tensor x; int y` is not a type and a name"),
        ("op(Tensor x) ->", 16, "`` is not a type and a name"),
        ("op(Tensor x) -> () extra", 19, "`extra` follows the results"),
        ("op(int n, int x=) -> ()", 11, "`int x=` is not a type and a name"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    assert (caught.value.column, str(caught.value)) == (column, message)


@pytest.mark.torch
def test_every_schema_of_torch_is_read_as_torch_reads_it() -> None:
    import torch

    schemas = torch._C._jit_get_all_schemas()
    assert len(schemas) > 3000
    for schema in schemas:
        read = parse_schema(str(schema))
        written = tuple(a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
        assert f"{read.namespace}::{read.name}" == schema.name
        assert read.overload == schema.overload_name
        assert [a.name for a in read.arguments] == [a.name for a in schema.arguments]
        assert [a.kwarg_only for a in read.arguments] == [a.kwarg_only for a in schema.arguments]
        assert read.mutated == written, str(schema)
