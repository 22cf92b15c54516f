package job

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Forms are the different specifications of the jobs of one class, one example of each. Jobs differ in Adaptivity, and
// in the GPU count if this is fixed. The most adaptive comes first. For equal jobs, the first submitted is the example.
type Forms []*Spec

// With returns f, and s too if f has no equivalent of it. It does not modify f.
func (f Forms) With(s *Spec) Forms {
	at, found := slices.BinarySearchFunc(f, s, byForm)
	if found {
		return f
	}
	return slices.Insert(slices.Clone(f), at, s)
}

func byForm(a, b *Spec) int {
	if c := cmp.Compare(b.Adaptivity, a.Adaptivity); c != 0 || a.Adaptivity.Has(GPUCount) {
		return c
	}
	return cmp.Compare(a.GPUs, b.GPUs)
}

// For returns the first specification that may run on configuration c, or nil.
func (f Forms) For(c cluster.Configuration) *Spec {
	if i := slices.IndexFunc(f, func(s *Spec) bool { return s.Allows(c) }); i >= 0 {
		return f[i]
	}
	return nil
}
