package job

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Forms are jobs of one class with different limits on configurations, the most adaptive first: one per
// Adaptivity and, with a fixed GPU count, per count. Other limits come from the first job.
type Forms []*Spec

// With returns the forms including s. It does not modify f.
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

// For returns the first form that allows c, or nil.
func (f Forms) For(c cluster.Configuration) *Spec {
	if i := slices.IndexFunc(f, func(s *Spec) bool { return s.Allows(c) }); i >= 0 {
		return f[i]
	}
	return nil
}
