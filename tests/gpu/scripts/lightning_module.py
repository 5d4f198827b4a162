"""A Lightning module on the GPU, a region in its training step. Random weights and data."""

import warnings

import torch
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
try:
    import lightning
except ImportError:
    import pytorch_lightning as lightning


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1))

    def training_step(self, batch, index):
        x, y = batch
        with record_function("training_step"):
            return (self.net(x) - y).square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.randn(1280, 256), torch.randn(1280, 1)), batch_size=32)
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), data)
