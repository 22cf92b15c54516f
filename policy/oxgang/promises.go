package oxgang

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
	"github.com/oxgang/oxgang/policy/grant"
)

var _ policy.Promiser = (*Policy)(nil)

// Promised implements policy.Promiser. It promises a first start to each waiting job that needs more than half of the
// GPUs of a type: the start, or predicted start, under simulated EASY backfilling, plus the delay that deadlines.go
// allows and the constant grace. There is no promise while non-preemptible jobs hold GPUs that the job needs, or while
// several tenants share the cluster. Jobs that may use only some nodes get no promise.
func (p *Policy) Promised(s *policy.Snapshot) map[job.ID]time.Time {
	jobs := unstarted(s)
	if len(jobs) == 0 || !p.limit.applies(s) || p.severalTenants(s.Jobs) || slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool { return p.ignored.differ(s.Jobs[0], j) }) {
		return nil
	}
	twins := make(map[job.ID]backfill.Comparison)
	for id := range jobs {
		if twin, ok := p.limit.compare(id); ok && p.caps.full(id) < 0 {
			twins[id] = twin
		}
	}
	return p.limit.promises(s, jobs, twins)
}

func (l *limit) compare(id job.ID) (backfill.Comparison, bool) {
	if twin, ok := l.easy.Compare(id); ok {
		return twin, true
	}
	return l.easy.Expect(id)
}

func (l *limit) promises(s *policy.Snapshot, jobs map[job.ID]*policy.Job, twins map[job.ID]backfill.Comparison) map[job.ID]time.Time {
	kept := unstoppableGPUs(s)
	all := make(map[job.ID]time.Time)
	for id, twin := range twins {
		k := s.Cluster.TypeIndex(twin.GPUType)
		if k < 0 || !large(s, &twin) || twin.GPUs+kept[twin.GPUType] > s.Cluster.Types()[k].GPUs {
			continue
		}
		by := twin.Started.Add(perf.Seconds(max(grace, l.allowed(s, jobs[id], &twin)) + grace))
		if by.After(s.Now) { // else the promise is broken
			all[id] = by
		}
	}
	return all
}

func unstarted(s *policy.Snapshot) map[job.ID]*policy.Job {
	all := make(map[job.ID]*policy.Job)
	for _, j := range s.Jobs {
		if !j.FirstStarted.IsZero() || j.Holding() || len(j.Parts) > 0 || j.Phase == job.Profiling {
			continue
		}
		if slices.ContainsFunc(s.Cluster.Types(), func(t cluster.TypeInfo) bool { return 2*grant.Size(j, t.Type) > t.GPUs }) {
			all[j.ID] = j
		}
	}
	return all
}

// differ reports whether two jobs have different priorities that count.
func (g *ignored) differ(a, b *policy.Job) bool {
	return !g.leaves(policy.TermPriority) && a.Priority != b.Priority
}

func unstoppableGPUs(s *policy.Snapshot) map[cluster.GPUType]int {
	all := make(map[cluster.GPUType]int)
	for _, j := range s.Jobs {
		if unstoppable(j) && j.Holding() {
			all[j.Allocation.GPUType] += j.Allocation.GPUs
		}
	}
	return all
}
