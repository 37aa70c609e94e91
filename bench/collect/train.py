# SPDX-License-Identifier: Apache-2.0
# Training of a small transformer's block with PyTorch, for overhead.py: train.py STEPS. The times at which Python has
# begun, PyTorch is imported, the context is there, the model is on the GPU, the first step has ended and the last one
# has (seconds, CLOCK_MONOTONIC) come last, as work.cu has them.
import sys
import time

times = [time.monotonic()]


def mark():
    times.append(time.monotonic())


import torch
from torch import nn

mark()
torch.zeros(1, device="cuda")
torch.cuda.synchronize()
mark()
torch.manual_seed(1)
layers = [nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0) for _ in range(2)]
model = nn.Sequential(*layers, nn.Linear(256, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
data = torch.randn(32, 128, 256, device="cuda")
target = torch.randn(32, 128, 64, device="cuda")
torch.cuda.synchronize()
mark()
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
    if step == 0:
        torch.cuda.synchronize()
        mark()
torch.cuda.synchronize()
mark()
print(loss.item())
print("times", *(f"{time:.6f}" for time in times))
