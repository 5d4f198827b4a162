"""torch, CUDA and CUPTI made ready ahead of a script, in a process that the script then finds as a plain one."""
