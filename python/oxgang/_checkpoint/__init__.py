"""The parts that oxgang.checkpoint is made of."""
