package e2e

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// tally counts pods of one GPU that were let go towards their nodes, bound and deleted.
type tally struct {
	gpus                   int // that there are
	pinned, bound, deleted int
	held                   int       // bound and not deleted
	worst                  int64     // GPUs that were bound and not there
	last                   time.Time // that a pod was pinned or bound
	full                   time.Time // when each GPU had a pod for the first time; zero: it has not
	line                   timeline
}

func (*tally) Name() string { return "tally" }

// See implements [audit.Check].
func (k *tally) See(s *audit.State, c *audit.Change) []audit.Finding {
	was, before := podOf(c.Old)
	now, after := podOf(c.New)
	k.line.see(c)
	switch {
	case before && !after:
		k.deleted++
		k.held -= count(was.Spec.NodeName != "")
	case after && sent(now) && (!before || !sent(was)):
		k.pinned++
		k.last = c.Time
		k.line.add(c.Time, "pinned")
	case after && now.Spec.NodeName != "" && (!before || was.Spec.NodeName == ""):
		k.bind(s.Overcommitted(audit.GPU), c.Time)
	}
	return nil
}

// sent reports whether a pod may go to its node, and to no other.
func sent(p *corev1.Pod) bool {
	return len(p.Spec.SchedulingGates) == 0 && inventory.Pinned(&p.Spec) != ""
}

// bind counts a pod that is bound, with which so many GPUs are over-committed.
func (k *tally) bind(over int64, at time.Time) {
	k.bound++
	k.line.add(at, "bound")
	k.held++
	k.worst, k.last = max(k.worst, over), at
	if k.full.IsZero() && k.held-int(over) >= k.gpus {
		k.full = at
	}
}
