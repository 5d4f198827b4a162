"""A training loop as frameworks write it: batches of a DataLoader, a step of the model, the optimizer, a validation.

python benchmarks/scripts/training.py [--model mlp | attention] [--compile]
"""

import argparse

import torch
from torch import nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

WIDTH, LENGTH, CLASSES, STEPS, BATCH = 128, 64, 10, 24, 16


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.to_heads = nn.Linear(WIDTH, 3 * WIDTH)
        self.after = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            part.unflatten(-1, (4, WIDTH // 4)).transpose(1, 2) for part in self.to_heads(self.norm(x)).chunk(3, dim=-1)
        )
        with record_function("attention"):
            attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + attended.transpose(1, 2).flatten(-2)
        return x + self.after(x)


class Model(nn.Module):
    """Two layers and what makes classes of them."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        layer = Attention if kind == "attention" else lambda: nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.layers = nn.Sequential(layer(), layer())
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x).mean(dim=1))


def batches(count: int, device: str) -> DataLoader[tuple[torch.Tensor, ...]]:
    samples = count * BATCH
    values = TensorDataset(torch.randn(samples, LENGTH, WIDTH), torch.randint(CLASSES, (samples,)))
    return DataLoader(values, batch_size=BATCH, shuffle=True, pin_memory=device == "cuda")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("mlp", "attention"), default="mlp")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Model(args.model).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    run = torch.compile(model) if args.compile else model
    for index, (inputs, targets) in enumerate(batches(STEPS, device)):
        with record_function("training_step"):
            with record_function("forward"):
                loss = nn.functional.cross_entropy(run(inputs.to(device)), targets.to(device))
            with record_function("backward"):
                loss.backward()
        with record_function("optimizer_step"):
            optimizer.step()
            optimizer.zero_grad()
        if index % 8 == 7:
            with record_function("validation"), torch.no_grad():
                print(index, sum(run(each.to(device)).argmax(dim=-1).sum().item() for each, _ in batches(2, device)))


if __name__ == "__main__":
    main()
