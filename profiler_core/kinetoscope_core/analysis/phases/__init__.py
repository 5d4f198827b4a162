"""The parts of training steps, told by what torch marks and runs by itself (docs/measures.md, *Phases of a step*)."""
