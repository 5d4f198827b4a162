"""Steps, and a helper of the user's that could mark regions and is never called."""

import torch
from helper_of_regions import timed

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(400):
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
print("done", timed.__name__)
