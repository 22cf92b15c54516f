package placement

import (
	"cmp"
	"slices"
)

// A set is nodes with equally many free GPUs, by free CPUs, then memory: the first with room has the least
// free.
type set []int

func (n *Nodes) compare(i, j int) int {
	a, b := &n.free[i], &n.free[j]
	return cmp.Or(cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Memory, b.Memory), cmp.Compare(i, j))
}

func (n *Nodes) enter(i int) {
	s := n.setOf(i)
	at, _ := slices.BinarySearchFunc(*s, i, n.compare)
	*s = slices.Insert(*s, at, i)
}

func (n *Nodes) leave(i int) {
	s := n.setOf(i)
	if at, found := slices.BinarySearchFunc(*s, i, n.compare); found {
		*s = slices.Delete(*s, at, at+1)
	}
}

func (n *Nodes) from(s set, cpus float64) set {
	at, _ := slices.BinarySearchFunc(s, cpus, func(i int, cpus float64) int { return cmp.Compare(n.free[i].CPUs, cpus) })
	return s[at:]
}
