package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/pods"
)

// Prompt is how long watches normally take at most to show a change. What they have not shown by then is read
// from the API server.
const Prompt = 500 * time.Millisecond

// live is what was read from the API server of pods, because a watch was late to show it. Of each pod the
// newer version counts, the watch's or the one that was read.
type live struct {
	pods    map[types.UID]*corev1.Pod // that the watch has yet to show as new as they were read
	all     map[types.UID]bool        // every pod that there was; nil: only some were read
	version uint64                    // of the cluster when all were read
	at      time.Time                 // when it was read
	wait    time.Duration             // from then until it may be read again
}

// Hurry reads pods from the API server if the watch is overdue to show something: those of the
// queue, or all again if ReadPods has read all and the watch has yet to show them. Each time that the watch has shown meanwhile all
// that was read, it waits twice as long until it reads again, up to a minute: what is awaited is then not there.
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
		return ob.readPods(ctx, Prompt, ob.named())
	}
	return ob.readPods(ctx, min(2*l.wait, Late), ob.named())
}

// ReadPods reads all pods of the cluster from the API server: an observation has from then on whatever there
// was at that time, and nothing that was gone.
func (ob *Observer) ReadPods(ctx context.Context) error { return ob.readPods(ctx, Prompt) }

// readPods reads pods, keeps those that the watch does not show as new, and notes how long to wait at least until the next time: as long as it
// is told, and as it took.
func (ob *Observer) readPods(ctx context.Context, wait time.Duration, of ...client.ListOption) error {
	began := time.Now()
	shown, err := ob.shown(ctx, ob.kinds(true)[:1])
	if err != nil {
		return err
	}
	next := live{pods: make(map[types.UID]*corev1.Pod)}
	read, err := pods.ListPods(ctx, ob.direct, func(p *corev1.Pod) bool {
		pods.Slim(p)
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

// newest returns the pods that the watch shows and those that were read, of each the newer version.
// It forgets what was read once the watch shows all of it.
func (l *live) newest(shown []*corev1.Pod, matters func(*corev1.Pod) bool) []*corev1.Pod {
	if l.pods == nil {
		return shown
	}
	both, hidden := shown[:0], false
	for _, p := range shown {
		read := l.pods[p.UID]
		switch {
		case read != nil && Version(p) < Version(read):
		case l.gone(p):
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

// gone reports whether a pod that the watch shows was not there any more when all were read.
func (l *live) gone(p *corev1.Pod) bool {
	return l.all != nil && !l.all[p.UID] && Version(p) <= l.version
}
