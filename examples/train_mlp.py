"""A training loop with a region around each of its parts.

    kinetoscope profile examples/train_mlp.py

What to look for: the GPU time of "backward", which autograd launches from a thread of its own, and "log", where
`item()` waits for the GPU.
"""

import argparse

import torch
from torch import nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

FEATURES = 256
CLASSES = 10


def make_batches(steps: int, batch_size: int, workers: int) -> DataLoader[tuple[torch.Tensor, ...]]:
    samples = steps * batch_size
    inputs = torch.randn(samples, FEATURES)
    targets = torch.randint(CLASSES, (samples,))
    return DataLoader(TensorDataset(inputs, targets), batch_size=batch_size, shuffle=True, num_workers=workers)


def make_model(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(FEATURES, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, CLASSES),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small network on noise.")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=512, help="of the hidden layers")
    parser.add_argument("--workers", type=int, default=0, help="processes of the DataLoader; 0 loads in this one")
    parser.add_argument("--log-every", type=int, default=10, help="print the loss at every so many steps")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = make_model(args.width).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    batches = iter(make_batches(args.steps, args.batch_size, args.workers))

    for step in range(args.steps):
        with record_function("step"):
            with record_function("load"):
                inputs, targets = next(batches)
                inputs, targets = inputs.to(device), targets.to(device)
            with record_function("forward"):
                outputs = model(inputs)
            with record_function("loss"):
                loss = nn.functional.cross_entropy(outputs, targets)
            with record_function("backward"):
                optimizer.zero_grad()
                loss.backward()
            with record_function("optimizer"):
                optimizer.step()
            if step % args.log_every == 0:
                with record_function("log"):
                    print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
