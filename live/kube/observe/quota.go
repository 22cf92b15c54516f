package observe

import (
	"fmt"

	"github.com/oxgang/oxgang/model/job"
)

const mostJobs = 10000

func (ob *Observer) quota(namespace string) int {
	all := ob.options.Queue.Spec.Namespaces
	for i := range all {
		if all[i].Name == namespace && all[i].MaxJobs > 0 {
			return int(all[i].MaxJobs)
		}
	}
	return max(1, mostJobs/max(1, len(all)))
}

// Known and running jobs are planned, then the oldest within the limits.
func (ob *Observer) choose(s *Observation) {
	counts, total := make(map[string]int), 0
	for _, earlier := range []bool{true, false} {
		for i := range s.Jobs {
			f := &s.Jobs[i]
			p := f.Parsed
			if planned, _ := ob.known(job.ID(p.UID)); (planned || p.Generation > 0 && !p.Suspended) != earlier {
				continue
			}
			s.Ours[p.UID] = ob.Takes(f)
			switch over := counts[p.Namespace] >= ob.quota(p.Namespace) || total >= mostJobs; {
			case !s.Ours[p.UID]:
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

// Full returns the message for users that job f exceeds the limit of jobs of its queue or namespace.
func (ob *Observer) Full(f *ObservedJob) string {
	return fmt.Sprintf("too many jobs: queue %s plans %d of namespace %s at a time, and %d in all; it is planned once others end", ob.options.Queue.Name, ob.quota(f.Parsed.Namespace), f.Parsed.Namespace, mostJobs)
}

// FullNamespaces counts the jobs that exceed a limit (Beyond), by namespace.
func (s *Observation) FullNamespaces() map[string]int {
	all := make(map[string]int)
	for i := range s.Jobs {
		if p := s.Jobs[i].Parsed; s.Beyond[p.UID] {
			all[p.Namespace]++
		}
	}
	return all
}
