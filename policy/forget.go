package policy

import "github.com/oxgang/oxgang/model/job"

// Forget deletes jobs that are not in the snapshot from a policy's map known, so that the map does not grow for ever,
// and returns the map. To save time it changes nothing until the map has more than twice as many entries as the
// snapshot has jobs, plus 64.
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
