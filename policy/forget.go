package policy

import "github.com/oxgang/oxgang/model/job"

// Forget returns what is known of the jobs of a snapshot, once jobs that are gone are the
// most of all, and until then known itself: so that a policy that remembers jobs does not
// grow with those it has ever seen.
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
