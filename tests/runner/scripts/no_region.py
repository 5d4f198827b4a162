"""torch, but no region."""

import torch

print((torch.ones(8) + 1).sum().item())
