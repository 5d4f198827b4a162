"""What the recordings of a run say: device work by region, statistics, bounds, findings. Knows no process, no store."""
