package job

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Forms are the variants of a class of jobs: one for each Adaptivity (and each GPU count, if that is fixed), the
// most adaptive first. Limits come from the first job.
type Forms []*Spec

// With returns f with the variant of s added if it is new. It does not modify f.
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

// For returns the specification of the first variant that may run on c, or nil.
func (f Forms) For(c cluster.Configuration) *Spec {
	if i := slices.IndexFunc(f, func(s *Spec) bool { return s.Allows(c) }); i >= 0 {
		return f[i]
	}
	return nil
}
