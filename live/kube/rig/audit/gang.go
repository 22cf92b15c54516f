package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Generations checks invariant I4: pods of two generations (starts) of a job are never alive at the same revision.
type Generations struct{}

// Name implements [Check].
func (Generations) Name() string { return "I4 generations" }

// See implements [Check].
func (k Generations) See(s *State, c *Change) []Finding {
	p, ok := as[*corev1.Pod](c.New)
	if !ok || !live(p) {
		return nil
	}
	if old, was := as[*corev1.Pod](c.Old); was && live(old) {
		return nil
	}
	own, ok := runOf(p)
	if !ok {
		return nil
	}
	for _, other := range s.byJob[string(own.uid)] {
		r, ok := runOf(other)
		if ok && live(other) && r.generation != own.generation {
			return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
				"of generation %d is live while %s of generation %d is, want one generation of job %s at a time",
				own.generation, other.Name, r.generation, own.uid)}}
		}
	}
	return nil
}

func live(p *corev1.Pod) bool { return !gated(p) && !terminal(p) }

// Gang checks invariant I4: of a generation (start) of a job, all pods are released or none, except Within a time
// around a start, stop or resize. "All" is the number of planned GPUs, or of existing pods if no plan names the job.
type Gang struct {
	Within time.Duration
	since  timer[run]
}

// Name implements [Check].
func (k *Gang) Name() string { return "I4 gang" }

// See implements [Check].
func (k *Gang) See(s *State, c *Change) []Finding {
	runs := map[run]bool{}
	for _, o := range []*Object{c.Old, c.New} {
		if p, ok := as[*corev1.Pod](o); ok {
			note(runs, p)
		}
	}
	if c.Key.Resource == plans { // a plan may concern any
		for p := range s.Pods() {
			note(runs, p)
		}
	}
	return k.look(s, runs)
}

func note(runs map[run]bool, p *corev1.Pod) {
	if r, ok := runOf(p); ok {
		runs[r] = true
	}
}

// End implements [Ender].
func (k *Gang) End(s *State) []Finding { return k.look(s, map[run]bool{}) }

func (k *Gang) look(s *State, runs map[run]bool) (found []Finding) {
	if k.since == nil {
		k.since = timer[run]{}
	}
	for r := range k.since {
		runs[r] = true
	}
	for _, r := range slices.SortedFunc(maps.Keys(runs), byName) {
		h := s.share(r)
		want := s.want(r, h.all)
		if k.since.late(r, h.live > 0 && h.let != want, s.Time, k.Within) {
			found = append(found, Finding{k.Name(), s.Revision, Key{"jobs", "", string(r.uid)}, fmt.Sprintf(
				"generation %d has %d GPUs let go for longer than %s, want 0 or %d", r.generation, h.let, k.Within, want)})
		}
	}
	return found
}

func byName(a, b run) int {
	return cmp.Or(cmp.Compare(a.uid, b.uid), cmp.Compare(a.generation, b.generation))
}

func (s *State) want(r run, all int64) int64 {
	switch a := s.planned(string(r.uid)); {
	case a == nil:
		return all
	case a.Generation == r.generation:
		return int64(a.GPUs)
	}
	return 0
}

type share struct {
	all  int64 // existing
	let  int64 // released, including succeeded
	live int64 // released and not ended
}

func (s *State) share(r run) (h share) {
	for _, p := range s.byJob[string(r.uid)] {
		if own, ok := runOf(p); !ok || own != r || p.Status.Phase == corev1.PodFailed {
			continue
		}
		n := asks(p)[GPU]
		h.all += n
		if !gated(p) {
			h.let += n
		}
		if live(p) {
			h.live += n
		}
	}
	return h
}

func (s *State) planned(uid string) *v1alpha1.JobAllocation {
	for p := range s.Plans() {
		for i := range p.Spec.Allocations {
			if p.Spec.Allocations[i].UID == uid {
				return &p.Spec.Allocations[i]
			}
		}
	}
	return nil
}
