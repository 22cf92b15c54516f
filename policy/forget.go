package policy

import "github.com/oxgang/oxgang/model/job"

// Forget returns known without jobs that are not in the snapshot, once they are the majority; until then
// known itself. It keeps a policy's memory of jobs from growing without bound.
func Forget[V any](s *Snapshot, known map[job.ID]V) map[job.ID]V {
	if len(known) <= 2*len(s.Jobs)+64 {
		return known
	}
	there := make(map[job.ID]V, len(s.Jobs))
	for _, j := range s.Jobs {
		if v, ok := known[j.ID]; ok {
			there[j.ID] = v
		}
	}
	return there
}
