package planstore

import (
	"encoding/json"
	"slices"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/wire"
)

// An object has 1.5 MB at most in etcd. So that thousands of jobs fit into a plan, only the first ones
// are in it as people read them; the others are packed, at some 50 bytes each. These are the most bytes of
// each part, together 1.1 MB; what is on loan and rented comes on top. The API server checks and compares each field of what is
// not packed, at every write: of 64 kB that is 60 ms of a processor, of 10,000 jobs that are packed 20.
const (
	openSpec     = 64 << 10 // of allocations that are not packed, while jobs are few
	packedSpec   = 600 << 10
	openStatus   = 16 << 10 // of states that are not packed, while jobs are few
	packedStatus = 400 << 10
	few          = 1000 // jobs; of more a part is readable that is as many times as small as they are more
)

// readable returns how many bytes of a list of so many may be readable, of most for a few.
func readable(most, jobs, shrink int) int { return most * few / max(few, jobs) / shrink }

// A fitted is a part of a plan in the form in which it is written, and how many jobs are left out.
type fitted struct {
	plan *v1alpha1.Plan
	left int
}

// fitSpec returns a plan without its status, which a write of the spec does not change, with parts that are shrink times as small as
// they may be. It leaves out jobs without GPUs that never had any: the next leader finds them in the queue
// anew. It does not change the plan.
func fitSpec(p *v1alpha1.Plan, shrink int) (f fitted, err error) {
	f.plan = &v1alpha1.Plan{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy(), Spec: p.Spec}
	open, rest, err := split(p.Spec.Allocations, readable(openSpec, len(p.Spec.Allocations), shrink))
	if err != nil {
		return f, err
	}
	f.plan.Spec.Allocations = open
	f.plan.Spec.Packed, f.left, err = packWithin(terse(rest), packedSpec/shrink, started)
	return f, err
}

// fitStatus returns a plan without its spec, likewise. It leaves out the history of jobs.
func fitStatus(p *v1alpha1.Plan, shrink int) (f fitted, err error) {
	f.plan = &v1alpha1.Plan{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy(), Status: p.Status}
	states, more, err := split(p.Status.Jobs, readable(openStatus, len(p.Status.Jobs), shrink))
	if err != nil {
		return f, err
	}
	f.plan.Status.Jobs = states
	f.plan.Status.Packed, f.left, err = packWithin(more, packedStatus/shrink, func(*v1alpha1.JobState) bool { return false })
	return f, err
}

// split cuts a list where its JSON has so many bytes.
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

// terse returns allocations without what is written for people: that is in the condition of each job.
func terse(all []v1alpha1.JobAllocation) []v1alpha1.JobAllocation {
	all = slices.Clone(all)
	for i := range all {
		all[i].Message, all[i].Unblock, all[i].ETA = "", "", nil
	}
	return all
}

// started reports whether a job has GPUs, or had them.
func started(a *v1alpha1.JobAllocation) bool { return a.GPUs > 0 || a.Generation > 0 }

// packWithin packs a list, without the last ones of those that need not be kept if it has more bytes than most as
// text. It returns how many it left out.
func packWithin[T any](all []T, most int, keep func(*T) bool) (data []byte, left int, err error) {
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

// without returns a list without the last n of those that need not be kept.
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
