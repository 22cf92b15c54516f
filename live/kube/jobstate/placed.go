package jobstate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// Bind is how long a started job may be without progress in creating and placing its pods at its first try. Each
// failed start doubles the time.
const Bind = 30 * time.Second

// PlaceWithin returns how long a started job keeps its GPUs although no further pod is created or gets a node, at most
// longest.
func (e *Job) PlaceWithin(longest time.Duration) time.Duration {
	return min(Bind<<min(max(0, e.Failures-Tries+1), 10), longest)
}

func (e *Job) clockPlaced(admitted bool, now time.Time) {
	n := e.Made() + e.Placed()
	if !admitted {
		n = -1 // so that the first look after the start counts
	}
	if !admitted || n > e.placed || e.AwaitQuota() > 0 {
		e.PlacedAt, e.placed = now, n
	}
}

// Placed returns how many planned workers have a node or have succeeded.
func (e *Job) Placed() int {
	n := e.Done()
	for _, p := range e.Pods {
		if e.Present(p) && p.Spec.NodeName != "" && !Terminal(p) {
			n++
		}
	}
	return n
}

// Unplaced returns for how long some workers of a started job have not been created or have no node, without progress.
func (e *Job) Unplaced(now time.Time) time.Duration {
	if !e.Started() || e.Parsed.Suspended || e.TrainsIn == e.Held.Generation || e.Placed() >= e.Workers() {
		return 0
	}
	return now.Sub(e.PlacedAt)
}

// Inflated states, for users, that an admission plugin has changed the GPUs of planned pods; empty: it has not.
func (e *Job) Inflated(gpu corev1.ResourceName) string {
	for _, p := range e.Pods {
		if n := inventory.Request(&p.Spec, gpu).GPUs; e.Present(p) && !Terminal(p) && n != e.Parsed.PerWorker.GPUs {
			return fmt.Sprintf("pod %s requests %s, but its template %d: an admission plugin, perhaps a LimitRange, changed it", p.Name, printable.Count(n, "GPU"), e.Parsed.PerWorker.GPUs)
		}
	}
	return ""
}
