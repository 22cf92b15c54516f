package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// Prompt is the time within which watches normally show a change.
const Prompt = 500 * time.Millisecond

// live has pods that were read because a watch was late. The newer version of a pod counts.
type live struct {
	pods    map[types.UID]*corev1.Pod // newer than the watch shows
	all     map[types.UID]bool        // existing pods; nil: only some were read
	version uint64                    // of the cluster when all were read
	at      time.Time
	wait    time.Duration
}

// Hurry reads pods from the API server if the watch of pods is late: the queue's pods if overdue, or all pods while the
// watch is behind ReadPods. Pods missing from an up-to-date watch do not exist; the delay until the next read then
// doubles, up to a minute.
func (ob *Observer) Hurry(ctx context.Context, overdue bool) error {
	l := &ob.live
	switch behind := len(l.pods) > 0 || l.all != nil; {
	case !overdue && !behind:
		l.wait = 0
		return nil
	case time.Since(l.at) < l.wait:
		return nil
	case l.all != nil:
		return ob.ReadPods(ctx)
	case behind:
		return ob.readPods(ctx, Prompt, ob.byQueue())
	}
	return ob.readPods(ctx, min(2*l.wait, Late), ob.byQueue())
}

// ReadPods reads all pods from the API server, to use until the watch is as new.
func (ob *Observer) ReadPods(ctx context.Context) error { return ob.readPods(ctx, Prompt) }

func (ob *Observer) readPods(ctx context.Context, wait time.Duration, of ...client.ListOption) error {
	began := time.Now()
	shown, err := ob.shown(ctx, ob.kinds(true)[:1])
	if err != nil {
		return err
	}
	next := live{pods: make(map[types.UID]*corev1.Pod)}
	read, err := inventory.ListPods(ctx, ob.direct, func(p *corev1.Pod) bool {
		inventory.Slim(p)
		next.version = max(next.version, Version(p))
		return shown[string(p.UID)] < Version(p)
	}, of...)
	took := time.Since(began)
	next.at, next.wait = time.Now(), max(wait, Prompt, took)
	ob.live.at, ob.live.wait = next.at, next.wait
	if err != nil {
		return err
	}
	next.version = max(next.version, read.Version)
	for _, p := range read.Kept {
		next.pods[p.UID] = p
	}
	if len(of) == 0 {
		next.all = make(map[types.UID]bool, len(read.UIDs))
		for _, uid := range read.UIDs {
			next.all[uid] = true
		}
	}
	ob.live = next
	return nil
}

// newest drops the read pods once the watch shows all.
func (l *live) newest(shown []*corev1.Pod, matters func(*corev1.Pod) bool) []*corev1.Pod {
	if l.pods == nil {
		return shown
	}
	both, hidden := shown[:0], false
	for _, p := range shown {
		read := l.pods[p.UID]
		switch {
		case read != nil && Version(p) < Version(read):
		case l.deleted(p):
			hidden = true
		default:
			delete(l.pods, p.UID)
			both = append(both, p)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(l.pods)) {
		if p := l.pods[uid]; matters(p) {
			both = append(both, p)
		} else {
			delete(l.pods, uid)
		}
	}
	if len(l.pods) == 0 && !hidden {
		l.pods, l.all = nil, nil
	}
	return both
}

func (l *live) deleted(p *corev1.Pod) bool {
	return l.all != nil && !l.all[p.UID] && Version(p) <= l.version
}
