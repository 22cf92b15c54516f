package job

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Forms has one example of each kind of specification that the jobs of a class have. Kinds differ in Adaptivity, and in
// the number of GPUs if this is fixed. The most adaptive kind comes first; its example is the job submitted first.
type Forms []*Spec

// With returns f, with s added if s is of a new kind. It does not modify f.
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
