"""A small region after a heavy import: transformers where it is there, else sympy."""
# pyright: basic, reportMissingTypeStubs=false, reportMissingImports=false

import importlib.util

import torch
from torch.profiler import record_function

if importlib.util.find_spec("transformers"):
    from transformers import BertConfig, BertModel

    config = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=99)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = BertModel(config).to(device).eval()
    words = torch.zeros((1, 8), dtype=torch.long, device=device)
else:
    import sympy

    model, words = torch.nn.Linear(8, int(sympy.Integer(8))), torch.ones(1, 8)

with torch.no_grad():
    for _ in range(10):
        with record_function("step"):
            model(words)
