"""A stack of blocks that writes one token after the other, with a region for each layer.

    kinetoscope profile examples/inference.py

What to look for: the layers share one line, `f"layer_{i}"`, and each has a name and times of its own; "pick_token" is a
decorated function.
"""

import argparse

import torch
from torch import nn
from torch.profiler import record_function

VOCABULARY = 1000


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm(x))))


class Model(nn.Module):
    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        with record_function("forward"):
            x = self.embedding(tokens)
            for i, block in enumerate(self.blocks):
                with record_function(f"layer_{i}"):
                    x = block(x)
            return self.head(x)


@record_function("pick_token")
def pick_token(logits: torch.Tensor) -> torch.Tensor:
    return logits.argmax(dim=-1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Let an untrained model write.")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=16, help="texts written at once")
    parser.add_argument("--tokens", type=int, default=20, help="to write for each text")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Model(args.layers, args.width).to(device).eval()
    tokens = torch.randint(VOCABULARY, (args.batch_size,), device=device)

    first_text: list[torch.Tensor] = []
    with torch.inference_mode():
        for _ in range(args.tokens):
            tokens = pick_token(model(tokens))
            first_text.append(tokens[0])
    # Read at the end: an item() in the loop would make the CPU wait for the GPU at every token.
    print("the first text:", *(token.item() for token in first_text))


if __name__ == "__main__":
    main()
