package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

func (l *leader) accept(ctx context.Context, c *v1alpha1.ClusterPolicy) {
	next := c.DeepCopy()
	next.Status.ObservedGeneration = c.Generation
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
		Type: v1alpha1.PolicyAccepted, Status: metav1.ConditionTrue, Reason: "Holds", Message: "in use by all queues", ObservedGeneration: c.Generation,
	})
	if equality.Semantic.DeepEqual(next.Status, c.Status) || !l.may(ctx, writesStatus, "") { // with rights for Observe only
		return
	}
	if err := l.manager.GetClient().Status().Patch(ctx, next, client.MergeFrom(c)); err != nil {
		l.log.Warn("the status of the ClusterPolicy was not written", "err", err)
	}
}

// Reasons of a queue's condition Active.
const (
	serving     = "Serving"
	turnedOff   = "Off"
	paused      = "Paused"
	overlaps    = "Overlaps"
	invalid     = "Invalid"
	unsupported = "Unsupported" // the API server is too old
	forbidden   = "Forbidden"
	notWritten  = "NotWritten"
)

// Reasons of a queue's condition JobsFit.
const (
	allFit  = "AllFit"
	tooLong = "TooLong"
)

// patience is how long writes of a plan may fail while the queue is Active.
const patience = time.Minute

func (l *leader) active(ctx context.Context, q *v1alpha1.Queue, common *v1alpha1.ClusterPolicy, older []*v1alpha1.Queue) (reason, message string) {
	if q.Spec.Mode == v1alpha1.Off {
		return turnedOff, "spec.mode is Off"
	}
	if common.Spec.Paused {
		return paused, "spec.paused of the ClusterPolicy stops all queues"
	}
	if why := rents(q, older); why != "" {
		return invalid, why
	}
	if _, _, err := driver.NewPolicy(q.Spec.Policy.Name, settings(q)); err != nil {
		return invalid, err.Error()
	}
	if why := l.unsupported(q.Spec.Mode); why != "" {
		return unsupported, why
	}
	if why := l.lacks(ctx, q); why != "" {
		return forbidden, why
	}
	var nodes corev1.NodeList
	if err := l.manager.GetClient().List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return invalid, err.Error()
	}
	shared := 0
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if !selects(q, n) {
			continue
		}
		if inventory.Shared(n) {
			shared++
			continue
		}
		for _, o := range older {
			if selects(o, n) {
				return overlaps, fmt.Sprintf("node %s also belongs to the older queue %s: change spec.nodeSelector", n.Name, o.Name)
			}
		}
	}
	message = "plans are made every " + round(q).String()
	if shared > 0 {
		message += "; " + printable.Count(shared, "node") + " not used: GPUs shared by time-slicing or MPS"
	}
	return serving, message
}

func selects(q *v1alpha1.Queue, n *corev1.Node) bool {
	return inventory.Selects(q.Spec.NodeSelector, n) || q.Spec.Loans != nil && inventory.Selects(q.Spec.Loans.NodeSelector, n)
}

func (l *leader) condition(ctx context.Context, q *v1alpha1.Queue, reason, message string) {
	if q.Spec.Mode == v1alpha1.Observe {
		return
	}
	next := q.DeepCopy()
	if w := l.backendOf(q.Name); w != nil && reason == serving {
		room := w.Room()
		reason, message = written(&room, reason, message)
		l.fits(next, &room)
	}
	c := metav1.Condition{Type: v1alpha1.QueueActive, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: q.Generation}
	if reason == serving {
		c.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&next.Status.Conditions, c)
	next.Status.ObservedGeneration = q.Generation
	l.count(&next.Status, q.Name)
	if equality.Semantic.DeepEqual(next.Status, q.Status) || !l.may(ctx, writesStatus, "") {
		return
	}
	if err := l.manager.GetClient().Status().Patch(ctx, next, client.MergeFrom(q)); err != nil {
		l.log.Warn("the status of a queue was not written", "queue", q.Name, "err", err)
	}
}

func written(room *kube.Room, reason, message string) (string, string) {
	if room.Trouble == nil || time.Since(room.Since) <= patience {
		return reason, message
	}
	return notWritten, "its plan cannot be written since " + room.Since.UTC().Format(time.RFC3339) + ": " + room.Trouble.Error()
}

func (l *leader) fits(q *v1alpha1.Queue, room *kube.Room) {
	c := metav1.Condition{Type: v1alpha1.QueueJobsFit, Status: metav1.ConditionTrue, Reason: allFit, Message: "all jobs are planned", ObservedGeneration: q.Generation}
	left, text := leftOut(room)
	if left > 0 {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, tooLong, text
	}
	l.metrics.LeftOut(q.Name, left)
	before := meta.FindStatusCondition(q.Status.Conditions, c.Type)
	if before == nil && left == 0 {
		return
	}
	if changed := before == nil || before.Status != c.Status; changed && l.events != nil {
		kind := corev1.EventTypeNormal
		if left > 0 {
			kind = corev1.EventTypeWarning
		}
		l.events.Eventf(q, nil, kind, c.Reason, "Plan", "%s", c.Message)
	}
	meta.SetStatusCondition(&q.Status.Conditions, c)
}

func leftOut(room *kube.Room) (n int, text string) {
	var parts []string
	for _, namespace := range slices.Sorted(maps.Keys(room.Full)) {
		n += room.Full[namespace]
		if len(parts) < mostNamed {
			parts = append(parts, fmt.Sprintf("%s of namespace %s, which is at its limit", printable.Count(room.Full[namespace], "job"), namespace))
		}
	}
	if room.LeftOut > 0 {
		n += room.LeftOut
		parts = append(parts, fmt.Sprintf("%s for which the Plan has no room", printable.Count(room.LeftOut, "waiting job")))
	}
	return n, "not planned: " + strings.Join(parts, "; ")
}

const mostNamed = 10

func (l *leader) backendOf(queue string) *kube.Backend {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.running[queue]; r != nil {
		return r.backend
	}
	return nil
}

func (l *leader) count(s *v1alpha1.QueueStatus, queue string) {
	w := l.backendOf(queue)
	if w == nil {
		return
	}
	running, waiting, gpus, used := w.Counts()
	s.Running, s.Waiting, s.GPUs, s.GPUsUsed = int32(running), int32(waiting), int32(gpus), int32(used)
}
