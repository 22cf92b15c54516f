package reclaim

import "github.com/oxgang/oxgang/model/job"

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
	total, costs := make(map[job.ID]int), make([]float64, len(servers))
	for _, server := range servers {
		for _, h := range server.Holdings {
			if !h.Flexible {
				total[h.Job] += h.GPUs
			}
		}
	}
	for s, server := range servers {
		for _, h := range server.Holdings {
			if !h.Flexible {
				costs[s] += float64(h.GPUs) / float64(total[h.Job])
			}
		}
	}
	return costs
}
