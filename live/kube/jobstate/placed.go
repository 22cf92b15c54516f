package jobstate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// Bind is how long a started job may go without a further pod being created or getting a node. Each failed start
// doubles it.
const Bind = 30 * time.Second

// PlaceWithin returns Bind, doubled for each failed start, but at most longest.
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

// Placed counts the planned workers that have a node or have succeeded.
func (e *Job) Placed() int {
	n := e.Done()
	for _, p := range e.Pods {
		if e.Present(p) && p.Spec.NodeName != "" && !Terminal(p) {
			n++
		}
	}
	return n
}

// Unplaced returns how long no further pod of a started job was created or got a node; 0 if none is missing.
func (e *Job) Unplaced(now time.Time) time.Duration {
	if !e.Started() || e.Parsed.Suspended || e.TrainsIn == e.Held.Generation || e.Placed() >= e.Workers() {
		return 0
	}
	return now.Sub(e.PlacedAt)
}

// Inflated returns a message for users if an admission plugin changed the GPUs of planned pods, otherwise "".
func (e *Job) Inflated(gpu corev1.ResourceName) string {
	for _, p := range e.Pods {
		if n := inventory.Request(&p.Spec, gpu).GPUs; e.Present(p) && !Terminal(p) && n != e.Parsed.PerWorker.GPUs {
			return fmt.Sprintf("pod %s requests %s, but its template %d: an admission plugin, perhaps a LimitRange, changed it", p.Name, printable.Count(n, "GPU"), e.Parsed.PerWorker.GPUs)
		}
	}
	return ""
}
