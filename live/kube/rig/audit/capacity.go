package audit

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// GPU is the resource name of GPUs.
const GPU corev1.ResourceName = "nvidia.com/gpu"

var checked = []corev1.ResourceName{GPU, corev1.ResourceCPU, corev1.ResourceMemory}

func (s *State) used(node string, pinned bool) amounts {
	sum := amounts{}
	for _, p := range s.byNode[node] {
		if pinned || bound(p) {
			sum.add(asks(p))
		}
	}
	return sum
}

func (s *State) has(node string) amounts {
	n, ok := as[*corev1.Node](s.Get(Key{nodes, "", node}))
	if !ok {
		return amounts{}
	}
	return amountsOf(n.Status.Allocatable)
}

// Overcommitted returns how much of a resource bound pods request beyond the capacity of their nodes, in total.
func (s *State) Overcommitted(r corev1.ResourceName) int64 {
	var sum int64
	for node := range s.byNode {
		if node != "" {
			sum += max(0, s.used(node, false)[r]-s.has(node)[r])
		}
	}
	return sum
}

// Capacity checks invariant I1: no bind makes the unfinished pods of a node exceed its GPUs, cores or memory.
type Capacity struct{}

// Name implements [Check].
func (Capacity) Name() string { return "I1 capacity" }

// See implements [Check].
func (k Capacity) See(s *State, c *Change) []Finding {
	return overfull(k.Name(), s, c, false)
}

// Pinned checks invariant I1 before the bind: no pod is released for a node that lacks room for it next to the other
// bound or released pods.
type Pinned struct{}

// Name implements [Check].
func (Pinned) Name() string { return "I1 pinned" }

// See implements [Check].
func (k Pinned) See(s *State, c *Change) []Finding {
	return overfull(k.Name(), s, c, true)
}

func overfull(check string, s *State, c *Change, pinned bool) (found []Finding) {
	p, ok := as[*corev1.Pod](c.New)
	if !ok || !takes(c, pinned) {
		return nil
	}
	node, own := nodeOf(p), asks(p)
	used, has := s.used(node, pinned), s.has(node)
	for _, r := range checked {
		if own[r] > 0 && used[r] > has[r] {
			found = append(found, Finding{
				check, c.Revision, c.Key,
				fmt.Sprintf("node %s has %d %s taken, want at most %d", node, used[r], r, has[r]),
			})
		}
	}
	return found
}

func takes(c *Change, pinned bool) bool {
	now, _ := as[*corev1.Pod](c.New)
	node := nodeOf(now)
	if node == "" || !pinned && !bound(now) {
		return false
	}
	old, ok := as[*corev1.Pod](c.Old)
	if !ok || nodeOf(old) != node || !pinned && !bound(old) {
		return true
	}
	before := asks(old)
	for r, v := range asks(now) {
		if v > before[r] {
			return true
		}
	}
	return false
}

// Repair checks invariant I2: if a node has less capacity than its bound pods need, this ends Within a time.
type Repair struct {
	Within time.Duration
	since  timer[string]
}

// Name implements [Check].
func (k *Repair) Name() string { return "I2 repair" }

// See implements [Check].
func (k *Repair) See(s *State, c *Change) []Finding { return k.look(s, touched(c)) }

// End implements [Ender].
func (k *Repair) End(s *State) []Finding { return k.look(s, nil) }

func (k *Repair) look(s *State, names []string) (found []Finding) {
	if k.since == nil {
		k.since = timer[string]{}
	}
	names = append(names, slices.Collect(maps.Keys(k.since))...)
	slices.Sort(names)
	for _, node := range slices.Compact(names) {
		over := s.used(node, false)[GPU] - s.has(node)[GPU]
		if k.since.late(node, over > 0, s.Time, k.Within) {
			found = append(found, Finding{
				k.Name(), s.Revision,
				Key{nodes, "", node},
				fmt.Sprintf("it was overfull with GPUs for longer than %s", k.Within),
			})
		}
	}
	return found
}

func touched(c *Change) (names []string) {
	if c.Key.Resource == nodes {
		names = append(names, c.Key.Name)
	}
	for _, o := range []*Object{c.Old, c.New} {
		if p, ok := as[*corev1.Pod](o); ok && nodeOf(p) != "" {
			names = append(names, nodeOf(p))
		}
	}
	return names
}
