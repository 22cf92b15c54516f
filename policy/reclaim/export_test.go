package reclaim

// ServerFractions returns each server's preemption cost, for every job whose base workers
// are on it 1 over the number of its servers. Source: Lyra §4, Table 1, fourth column.
func ServerFractions(servers []Server) []float64 {
	w := newServerSet(servers)
	costs := make([]float64, len(servers))
	for s := range servers {
		for _, j := range w.jobs[s] {
			costs[s] += w.fraction(j)
		}
	}
	return costs
}

// GPUFractions returns for each server the part of its GPUs that each job has there, in
// sum: the cost that the paper rejects, because it does not see how many jobs there are.
// Source: Lyra §4, Table 1, third column.
func GPUFractions(servers []Server) []float64 {
	w := newServerSet(servers)
	costs := make([]float64, len(servers))
	for s := range servers {
		for k, j := range w.jobs[s] {
			costs[s] += float64(w.gpus[s][k]) / float64(w.total[j])
		}
	}
	return costs
}
