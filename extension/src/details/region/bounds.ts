// Bounds: what can limit a region, and what that means for its reader.
import type { Bound } from '../../server/protocol';
import { boundText } from '../text';

export const BOUNDS: Record<Bound, string> = {
  overhead:
    'For more than half of the time in which the CPU was active, the GPU was idle: launching is what takes the time. Fewer, larger kernels help: batching, torch.compile, CUDA graphs.',
  mixed: 'Neither the CPU, which launches, nor the GPU is far ahead of the other.',
  compute: 'The GPU needs longer than the CPU needs to launch: only less or faster GPU work helps.',
  communication:
    'The GPU is the limit, and mostly it only communicates with other GPUs or waits for them: overlap it with work, or send less.',
  copy: 'The GPU is the limit, and mostly it only copies or fills memory: copy beside the work, or less.',
  sync: 'The CPU waits for something that is not work of the GPU.',
  'cpu-only': 'Nothing was launched on a GPU.',
};

/** The codes of the findings that say what limits a region. */
export const BOUND_CODES: ReadonlySet<string> = new Set(Object.keys(BOUNDS).map(boundText));
