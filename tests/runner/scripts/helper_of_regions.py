from torch.profiler import record_function


def timed(name):
    return record_function(name)
