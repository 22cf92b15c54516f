package planstore

import (
	"encoding/json"
	"slices"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/wire"
)

// The most bytes of each part of a plan; an object may have 1.5 MB in etcd. Only the first jobs are readable; the
// others are packed, at about 50 bytes each. Readable fields cost CPU at every write: 60 ms for 64 kB, against 20 ms
// for 10,000 packed jobs.
const (
	openSpec     = 64 << 10 // readable allocations, for few jobs
	packedSpec   = 600 << 10
	openStatus   = 16 << 10 // readable states, for few jobs
	packedStatus = 400 << 10
	few          = 1000 // with more, the readable bytes shrink in proportion
)

func readable(most, jobs, shrink int) int { return most * few / max(few, jobs) / shrink }

type fitted struct {
	plan    *v1alpha1.Plan
	leftOut int
}

func fitSpec(p *v1alpha1.Plan, shrink int) (f fitted, err error) {
	f.plan = &v1alpha1.Plan{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy(), Spec: p.Spec}
	open, rest, err := split(p.Spec.Allocations, readable(openSpec, len(p.Spec.Allocations), shrink))
	if err != nil {
		return f, err
	}
	f.plan.Spec.Allocations = open
	f.plan.Spec.Packed, f.leftOut, err = packWithin(terse(rest), packedSpec/shrink, started)
	return f, err
}

func fitStatus(p *v1alpha1.Plan, shrink int) (f fitted, err error) {
	f.plan = &v1alpha1.Plan{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy(), Status: p.Status}
	states, more, err := split(p.Status.Jobs, readable(openStatus, len(p.Status.Jobs), shrink))
	if err != nil {
		return f, err
	}
	f.plan.Status.Jobs = states
	f.plan.Status.Packed, f.leftOut, err = packWithin(more, packedStatus/shrink, func(*v1alpha1.JobState) bool { return false })
	return f, err
}

func split[T any](all []T, most int) (open, rest []T, err error) {
	for i := range all {
		text, err := json.Marshal(&all[i])
		if err != nil {
			return nil, nil, err
		}
		if most -= len(text); most < 0 {
			return all[:i:i], all[i:], nil
		}
	}
	return all, nil, nil
}

func terse(all []v1alpha1.JobAllocation) []v1alpha1.JobAllocation {
	all = slices.Clone(all)
	for i := range all {
		all[i].Message, all[i].Unblock, all[i].ETA = "", "", nil
	}
	return all
}

func started(a *v1alpha1.JobAllocation) bool { return a.GPUs > 0 || a.Generation > 0 }

// packWithin removes items from the end, except those to keep, until the text has at most most bytes.
func packWithin[T any](all []T, most int, keep func(*T) bool) (data []byte, leftOut int, err error) {
	spare := 0
	for i := range all {
		if !keep(&all[i]) {
			spare++
		}
	}
	for cut := 0; ; cut = min(spare, max(1, 2*cut, spare/8)) {
		data, err = wire.PackList(without(all, cut, keep))
		if err != nil || cut == spare || len(data)*4/3 <= most {
			return data, cut, err
		}
	}
}

func without[T any](all []T, n int, keep func(*T) bool) []T {
	if n == 0 {
		return all
	}
	var kept []T
	for i := range slices.Backward(all) {
		if n > 0 && !keep(&all[i]) {
			n--
			continue
		}
		kept = append(kept, all[i])
	}
	slices.Reverse(kept)
	return kept
}
