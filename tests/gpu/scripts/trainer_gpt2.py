"""The Trainer of transformers on a tiny GPT-2 with random weights: nothing is downloaded."""

import tempfile

import torch
from torch.profiler import record_function
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        words = (torch.arange(64) + index) % 900
        return {"input_ids": words, "labels": words}


class Own(Trainer):
    def compute_loss(self, *args, **kwargs):
        with record_function("compute_loss"):
            return super().compute_loss(*args, **kwargs)


config = GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=0)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=20,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    Own(GPT2LMHeadModel(config), arguments, train_dataset=Data()).train()
