"""Models as people train them, without a region: `models.py NAME [steps]`, on the GPU if there is one."""

import os
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.RMSNorm(width)
        self.mlp = MLP(width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, width=512, depth=6, heads=8, tokens=1000, checkpointed=False):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.layers = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)
        self.checkpointed = checkpointed

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(self.norm(x))


def train(model, batch, steps, loss_of=lambda out: out.float().sum()):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model(batch)).backward()
        optimizer.step()
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def llama(steps, **how):
    train(Llama(**how).to(DEVICE), torch.randint(1000, (4, 128), device=DEVICE), steps)


def compiled(steps):
    model = Llama(depth=2).to(DEVICE)
    for index, layer in enumerate(model.layers):
        model.layers[index] = torch.compile(layer)
    train(model, torch.randint(1000, (4, 128), device=DEVICE), steps)


def whole_compiled(steps):
    train(torch.compile(Llama(depth=2).to(DEVICE)), torch.randint(1000, (4, 128), device=DEVICE), steps)


def resnet(steps):
    import torchvision

    train(torchvision.models.resnet18().to(DEVICE), torch.randn(8, 3, 96, 96, device=DEVICE), steps)


def gpt2(steps):
    import transformers

    config = transformers.GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=1000)
    model = transformers.GPT2LMHeadModel(config)
    rows = [{"input_ids": torch.randint(1000, (64,)), "labels": torch.randint(1000, (64,))} for _ in range(8 * steps)]
    options = transformers.TrainingArguments(
        output_dir="/tmp/trained", max_steps=steps, per_device_train_batch_size=8, report_to=[], save_strategy="no"
    )
    transformers.Trainer(model, options, train_dataset=rows).train()


def lightning(steps):
    import lightning

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))

        def training_step(self, batch, _index):
            return self.net(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    loader = torch.utils.data.DataLoader(torch.randn(64 * steps, 256), batch_size=64)
    trainer = lightning.Trainer(
        max_steps=steps, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Lit(), loader)


def ddp(steps):
    os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511", "RANK": "0", "WORLD_SIZE": "1"})
    torch.distributed.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(DEVICE)
    train(nn.parallel.DistributedDataParallel(model), torch.randn(64, 512, device=DEVICE), steps)
    torch.distributed.destroy_process_group()


def checkpointed(steps):
    llama(steps, depth=3, checkpointed=True)


def short(_steps):
    """Small enough to be kept as a recording."""
    llama(4, width=128, depth=2, heads=2)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 30)
