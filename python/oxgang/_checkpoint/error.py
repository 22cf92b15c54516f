"""The errors of checkpoints."""


class CheckpointError(RuntimeError):
    """A checkpoint could not be saved or loaded. The message says what to do; all ranks raise it."""


class Fenced(CheckpointError):
    """A newer generation of the job has saved a checkpoint, so this one must end."""
