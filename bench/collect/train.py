# SPDX-License-Identifier: Apache-2.0
# Training of a small transformer's block with PyTorch, for overhead.py: train.py STEPS
import sys

import torch
from torch import nn

torch.manual_seed(1)
layers = [nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0) for _ in range(2)]
model = nn.Sequential(*layers, nn.Linear(256, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
data = torch.randn(32, 128, 256, device="cuda")
target = torch.randn(32, 128, 64, device="cuda")
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
print(loss.item())
