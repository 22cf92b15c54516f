package rack

// horizon is the seconds in which the restarts of others have to pay, as in policy/oxgang.
const horizon = 900

// worth returns what it is worth that a gang is together in a group of a level, and what a GPU of a job costs that has to
// restart for it: as many GPUs as the gang has, or, where more than its own restart is lost in several racks within the
// horizon, the GPU-seconds that are.
func (b *board) worth(l *level, g int32) (most float64, price func(i int32) float64) {
	j, gpus := b.s.Jobs[g], float64(b.p.Jobs[g].Placement.GPUs())
	cost := b.s.Locality[j.Class]
	if lost := horizon * (1 - 1/cost.Times); l.racks && cost.Times > 1 && lost > j.RestartOverhead.Seconds() {
		return gpus * lost, func(i int32) float64 { return b.s.Jobs[i].RestartOverhead.Seconds() }
	}
	return gpus, func(int32) float64 { return 1 }
}
