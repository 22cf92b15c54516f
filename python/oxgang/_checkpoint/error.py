"""The one error of checkpoints."""


class CheckpointError(RuntimeError):
    """A checkpoint could not be saved or loaded. The message says what to do; all ranks raise it."""
