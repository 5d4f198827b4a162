// The processes of this machine, as /proc shows them.
import fs from 'node:fs';

function read(pid, name) {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    return undefined; // it has ended
  }
}

/** Whether it is there and does something: one that waits for its parent to hear of its end does not. */
export function isRunning(pid) {
  const state = /^State:\s+(\w)/m.exec(read(pid, 'status') ?? '')?.[1];
  return state !== undefined && state !== 'Z';
}

/** The ids of those whose command line holds the text. */
export function processesWith(text) {
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => read(pid, 'cmdline')?.split('\0').join(' ').includes(text)).map(Number);
}
