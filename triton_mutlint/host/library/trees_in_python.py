"""PyTorch's functions for trees of containers, written in Python as those of Python's library are in `in_python.py`."""

from __future__ import annotations

from typing import Any


def torch_utils__pytree_tree_flatten(tree: Any, is_leaf: Any = None) -> Any:
    leaves: list[Any] = []
    torch_utils__pytree_tree_map(leaves.append, tree, is_leaf=is_leaf)
    return leaves, _Tree(tree)


def torch_utils__pytree_tree_leaves(tree: Any, is_leaf: Any = None) -> Any:
    leaves: list[Any] = []
    torch_utils__pytree_tree_map(leaves.append, tree, is_leaf=is_leaf)
    return leaves


class _Tree:
    def __init__(self, tree: Any) -> None:
        self.tree = tree


def torch_utils__pytree_tree_unflatten(leaves: Any, treespec: Any) -> Any:
    rest = iter(leaves)
    return torch_utils__pytree_tree_map(lambda leaf: next(rest), treespec.tree)


def torch_utils__pytree_tree_map(function: Any, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    if is_leaf is not None and is_leaf(tree):
        return function(tree, *rests)
    if isinstance(tree, dict):
        return {key: torch_utils__pytree_tree_map(function, tree[key], *[rest[key] for rest in rests], is_leaf=is_leaf)
                for key in tree}
    if isinstance(tree, (list, tuple)):
        return [torch_utils__pytree_tree_map(function, part, *[rest[i] for rest in rests], is_leaf=is_leaf)
                for i, part in enumerate(tree)]
    return function(tree, *rests)


def torch_utils__pytree_tree_map_(function: Any, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    torch_utils__pytree_tree_map(function, tree, *rests, is_leaf=is_leaf)
    return tree


def torch_utils__pytree_tree_map_only(types: Any, function: Any, tree: Any, is_leaf: Any = None) -> Any:
    return torch_utils__pytree_tree_map(lambda leaf: function(leaf) if isinstance(leaf, types) else leaf, tree,
                                        is_leaf=is_leaf)
