package observe

import (
	"fmt"

	"github.com/oxgang/oxgang/model/job"
)

// mostJobs is how many jobs of a queue are planned at a time, so that a plan fits into an object and a
// round into its time.
const mostJobs = 10000

// quota returns how many jobs of a namespace are planned at a time.
func (ob *Observer) quota(namespace string) int {
	all := ob.options.Queue.Spec.Namespaces
	for i := range all {
		if all[i].Name == namespace && all[i].MaxJobs > 0 {
			return int(all[i].MaxJobs)
		}
	}
	return max(1, mostJobs/max(1, len(all)))
}

// choose decides which jobs of the queue are planned: those that were, or that run by an earlier plan, and of the
// others the oldest, as long as their namespace and the queue have not too many. Jobs that have ended
// do not count.
func (ob *Observer) choose(s *Observation) {
	counts, total := make(map[string]int), 0
	for _, earlier := range []bool{true, false} {
		for i := range s.Jobs {
			f := &s.Jobs[i]
			p := f.Parsed
			if was := ob.known(job.ID(p.UID)) || p.Generation > 0 && !p.Suspended; was != earlier {
				continue
			}
			s.Ours[p.UID] = ob.Takes(f)
			switch over := counts[p.Namespace] >= ob.quota(p.Namespace) || total >= mostJobs; {
			case !s.Ours[p.UID] || p.Ended != nil:
			case over && !earlier:
				s.Ours[p.UID] = false
				s.Beyond[p.UID] = true
			default:
				counts[p.Namespace]++
				total++
			}
		}
	}
}

// Full returns why a job is not planned though it could be, for people.
func (ob *Observer) Full(f *ObservedJob) string {
	return fmt.Sprintf("namespace %s has as many jobs in queue %s as are planned at a time, %d, or the queue has %d: it is planned once others have ended", f.Parsed.Namespace, ob.options.Queue.Name, ob.quota(f.Parsed.Namespace), mostJobs)
}

// FullNamespaces returns how many jobs of each namespace are not planned because there are too many.
func (s *Observation) FullNamespaces() map[string]int {
	all := make(map[string]int)
	for i := range s.Jobs {
		if p := s.Jobs[i].Parsed; s.Beyond[p.UID] {
			all[p.Namespace]++
		}
	}
	return all
}
