package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Settled checks invariant I14 for one state: the live pods match the plans, node by node, and there is no gated pod
// and no pod of an unknown or unplanned job.
func Settled(s *State) []Finding {
	v := &verdict{s: s, at: map[run]map[string]int64{}}
	for p := range s.Pods() {
		v.pod(p)
	}
	for p := range s.Plans() {
		for i := range p.Spec.Allocations {
			v.allocation(p, &p.Spec.Allocations[i])
		}
	}
	slices.SortFunc(v.settled, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return v.settled
}

type verdict struct {
	s       *State
	at      map[run]map[string]int64
	settled []Finding
}

func (v *verdict) say(k Key, format string, a ...any) {
	v.settled = append(v.settled, Finding{"I14 settled", v.s.Revision, k, fmt.Sprintf(format, a...)})
}

func (v *verdict) pod(p *corev1.Pod) {
	r, ok := runOf(p)
	if !ok || terminal(p) {
		return
	}
	k := Key{pods, p.Namespace, p.Name}
	switch a := v.s.planned(string(r.uid)); {
	case gated(p):
		v.say(k, "has our gate, want none left")
	case v.s.ByUID(r.uid) == nil:
		v.say(k, "of job %s, which does not exist: an orphan", r.uid)
	case a == nil || a.GPUs == 0 || a.Generation != r.generation:
		v.say(k, "of generation %d of job %s, which no plan gives GPUs, want it gone", r.generation, r.uid)
	case v.at[r] == nil:
		v.at[r] = map[string]int64{p.Spec.NodeName: asks(p)[GPU]}
	default:
		v.at[r][p.Spec.NodeName] += asks(p)[GPU]
	}
}

func (v *verdict) allocation(p *v1alpha1.Plan, a *v1alpha1.JobAllocation) {
	want := map[string]int64{}
	for _, n := range a.Nodes {
		want[n.Name] += int64(n.GPUs)
	}
	have := v.at[run{uid: types.UID(a.UID), generation: a.Generation}]
	if a.GPUs > 0 && !maps.Equal(have, want) {
		v.say(Key{plans, "", p.Name}, "%s/%s has GPUs %v, want %v", a.Namespace, a.Name, have, want)
	}
}
