"""Which classes of a text are modules of torch, before anything has run."""

import pytest

from kinetoscope_core.source.modules import module_classes
from kinetoscope_core.source.regions import LineEdit, SourceRegions

MODEL = """import torch
from torch import nn
import torch.nn as layers
from lightning import LightningModule as Lit, LightningDataModule
import transformers

class Plain:
    pass

class MLP(nn.Module):
    def __init__(self):
        self.a = nn.Linear(1, 1)

class Block(layers.Module):
    def __init__(self):
        self.mlp = MLP()

class Net(Block, Plain):
    pass

class Stack(torch.nn.Sequential): ...
class Own(Lit): ...
class Data(LightningDataModule): ...
class Weight(nn.Parameter): ...
class Gpt(transformers.PreTrainedModel): ...
class Generic(nn.Module[int]): ...
class Table(Plain): ...
"""


def test_classes_are_modules_by_imports_and_by_each_other():
    found = module_classes(SourceRegions(MODEL))
    names = {each.name: each.is_part for each in found}
    assert names == {
        "MLP": True, "Block": False, "Net": False, "Stack": False, "Own": False, "Gpt": False, "Generic": False
    }  # fmt: skip
    lines = MODEL.splitlines()
    assert all(lines[each.line - 1].startswith(f"class {each.name}(") for each in found)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from torch.nn import *\nclass A(Module): pass\n", ["A"]),
        ("from torch.nn import Module as M\ndef f():\n    class A(M): pass\n", ["A"]),
        ("import torch\nclass Module: pass\nclass A(Module): pass\n", []),
        ("import torch\n# class A(torch.nn.Module):\ns = 'class B(torch.nn.Module):'\n", []),
        ("class A(nn.Module): pass\n", []),
        ("from torch import nn\nclass A(nn.Module", ["A"]),
    ],
)
def test_a_class_is_one_only_where_the_text_says_so(text, names):
    assert [each.name for each in module_classes(SourceRegions(text))][: len(names) or 1] == names


def test_after_an_edit_it_is_as_if_read_anew():
    source = SourceRegions(MODEL)
    module_classes(source)
    for edit in (LineEdit((1, 0), (1, 20), "nn = None"), LineEdit((1, 0), (1, 9), "from torch import nn"),
                 LineEdit((6, 0), (6, 0), "\n\n"), LineEdit((8, 6), (8, 11), "Table")):  # fmt: skip
        source.apply([edit])
        assert module_classes(source) == module_classes(SourceRegions(source.data))
