package hostalloc

import (
	"cmp"
	"slices"
)

// A set is the nodes with equally many free GPUs, by free CPUs, then memory, then position. So the first one
// with room for a job is the one with the least free.
type set []int

func (n *Nodes) compare(i, j int) int {
	a, b := &n.free[i], &n.free[j]
	return cmp.Or(cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Memory, b.Memory), cmp.Compare(i, j))
}

// enter puts node i into its set.
func (n *Nodes) enter(i int) {
	s := n.setOf(i)
	at, _ := slices.BinarySearchFunc(*s, i, n.compare)
	*s = slices.Insert(*s, at, i)
}

// leave removes node i from its set; call it before its free resources change.
func (n *Nodes) leave(i int) {
	s := n.setOf(i)
	if at, found := slices.BinarySearchFunc(*s, i, n.compare); found {
		*s = slices.Delete(*s, at, at+1)
	}
}

// from returns the nodes of a set with at least this many free CPUs.
func (n *Nodes) from(s set, cpus float64) set {
	at, _ := slices.BinarySearchFunc(s, cpus, func(i int, cpus float64) int { return cmp.Compare(n.free[i].CPUs, cpus) })
	return s[at:]
}
