// Bounds: what can limit a region, and what that means for its reader.
import type { Bound } from '../../server/protocol/measures';
import { boundText } from '../text';

export const BOUNDS: Record<Bound, string> = {
  overhead:
    'The GPU was idle for more than half of the time in which the CPU was active: launching takes the time. Fewer, larger kernels help: batching, torch.compile, CUDA graphs.',
  mixed: 'Neither the CPU, which launches the kernels, nor the GPU is far ahead of the other.',
  compute:
    'The GPU takes longer to run the kernels than the CPU takes to launch them: only fewer or faster kernels help.',
  communication:
    'The GPU is the limit, and it mostly communicates with other GPUs or waits for them: overlap communication with compute, or send less.',
  copy: 'The GPU is the limit, and it mostly copies or fills memory: overlap copies with compute, or copy less.',
  sync: 'The CPU waits for something other than the GPU.',
  'cpu-only': 'Nothing was launched on a GPU.',
};

/** The codes of the findings that say what limits a region. */
export const BOUND_CODES: ReadonlySet<string> = new Set(Object.keys(BOUNDS).map(boundText));
