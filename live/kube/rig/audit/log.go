package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Write is one line of a log of writes. For deletes and binds, the API server records no Manager.
type Write struct {
	Revision int64
	Time     time.Time
	Key      Key
	Manager  string
}

// A Log is all writes in order.
type Log struct{ Writes []Write }

func (l *Log) add(c *Change) {
	l.Writes = append(l.Writes, Write{c.Revision, c.Time, c.Key, managerOf(c)})
}

// managerOf returns the newest manager whose entry a write changed. If none changed, the manager wrote again in
// the same second, or it was a bind.
func managerOf(c *Change) string {
	if c.New == nil {
		return ""
	}
	before := map[metav1.ManagedFieldsEntry]string{}
	if c.Old != nil {
		for _, e := range c.Old.Meta.GetManagedFields() {
			before[bare(e)] = stamp(e)
		}
	}
	entries := c.New.Meta.GetManagedFields()
	changed := slices.DeleteFunc(slices.Clone(entries), func(e metav1.ManagedFieldsEntry) bool { return before[bare(e)] == stamp(e) })
	if len(changed) == 0 && !binds(c) {
		changed = entries
	}
	if len(changed) == 0 {
		return ""
	}
	return slices.MaxFunc(changed, func(a, b metav1.ManagedFieldsEntry) int { return cmp.Compare(stamp(a), stamp(b)) }).Manager
}

func binds(c *Change) bool {
	old, ok := as[*corev1.Pod](c.Old)
	if !ok {
		return false
	}
	now, ok := as[*corev1.Pod](c.New)
	return ok && old.Spec.NodeName == "" && now.Spec.NodeName != ""
}

func bare(e metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: e.Manager, Operation: e.Operation, Subresource: e.Subresource}
}

func stamp(e metav1.ManagedFieldsEntry) string {
	s := ""
	if e.Time != nil {
		s = e.Time.UTC().Format(time.RFC3339)
	}
	if e.FieldsV1 != nil {
		s += e.FieldsV1.String()
	}
	return s
}

// A Tally counts how often a manager wrote objects of a resource.
type Tally struct {
	Manager, Resource string
	Writes            int
}

// Between returns the tallies of the writes after revision from, up to revision to, highest first.
func (l *Log) Between(from, to int64) []Tally {
	n := map[Tally]int{}
	for _, w := range l.Writes {
		if w.Revision > from && w.Revision <= to {
			n[Tally{Manager: w.Manager, Resource: w.Key.Resource}]++
		}
	}
	var out []Tally
	for t := range maps.Keys(n) {
		t.Writes = n[t]
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tally) int {
		return cmp.Or(b.Writes-a.Writes, cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// By returns how often a manager wrote after revision from, up to revision to. Leases and events do not count.
func (l *Log) By(manager string, from, to int64) (n int) {
	for _, t := range l.Between(from, to) {
		if t.Manager == manager && t.Resource != "leases" && t.Resource != "events" {
			n += t.Writes
		}
	}
	return n
}

// Quiet checks invariant I13: the manager wrote nothing after revision from, up to revision to.
func (l *Log) Quiet(manager string, from, to int64) []Finding {
	if n := l.By(manager, from, to); n > 0 {
		return []Finding{{"I13 quiet", to, Key{}, fmt.Sprintf("%s wrote %d times since revision %d, want 0", manager, n, from)}}
	}
	return nil
}
