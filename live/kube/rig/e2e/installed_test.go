package e2e

import (
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// As deploy/dist/install.yaml installs it, with no more rights than it gives and under the rules that
// it has the API server keep, the scheduler runs jobs that their owners just create.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}})
	if err := c.Install(ctx, Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	b.create(Queue("train", v1alpha1.Resize, "srtf"))
	long := Job("long", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "1000000"})
	long.Spec.Suspend = nil
	b.awaitRules(long)
	b.runs("long", 2)
	short := Job("short", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "100"}) // within what is simulated ahead in rounds of a second
	short.Spec.Suspend = nil
	b.create(short)
	b.runs("short", 2)
	b.saysWhatWouldBe()
	finish(t, c, b.k, "short")
	b.runs("long", 2)
	Until(ctx, t, within, "its condition and an event say that it is scheduled", func() error {
		var j batchv1.Job
		if err := b.k.Get(ctx, client.ObjectKey{Namespace: "default", Name: "long"}, &j); err != nil {
			return err
		}
		for _, cond := range j.Status.Conditions {
			if cond.Type == v1alpha1.ScheduledCondition && cond.Status == corev1.ConditionTrue {
				return b.event(j.UID, cond.Reason)
			}
		}
		return errNot("conditions %v", j.Status.Conditions)
	})
	Until(ctx, t, within, "the queue says that it is served, and how full it is", func() error {
		var q v1alpha1.Queue
		if err := b.k.Get(ctx, client.ObjectKey{Name: "train"}, &q); err != nil || len(q.Status.Conditions) == 0 || q.Status.Conditions[0].Status != "True" || q.Status.Running != 1 || q.Status.GPUsUsed != 16 {
			return errNot("%v, %v", q.Status, err)
		}
		return nil
	})
	b.survivesItsPlan()
	b.refusesLoans()
}

// awaitRules creates a job as soon as the API server keeps the rules of the chart, which takes half a minute: then
// it is suspended from its creation. Until then there are others like it, each of another name: the Job controller may make no
// pods for a job whose predecessor of that name was deleted while its pods were made.
func (b *bench) awaitRules(job *batchv1.Job) {
	b.Helper()
	Until(b.Context(), b, 2*within, "the rules are kept, and a job is suspended from its creation", func() error {
		like := job.DeepCopy()
		like.Name, like.GenerateName = "", job.Name+"-unruled-"
		if err := b.k.Create(b.Context(), like); err != nil {
			return err
		}
		if err := b.k.Delete(b.Context(), like, client.PropagationPolicy("Background")); err != nil {
			return err
		}
		if like.Spec.Suspend == nil || !*like.Spec.Suspend { // the API server has not heard of the queue yet
			return errNot("it is not suspended")
		}
		return nil
	})
	b.create(job)
}

// A Plan is not deleted by accident. If it is, what runs goes on, the epoch grows, and a pod of another namespace
// that names a job which waits keeps it from nothing.
func (b *bench) survivesItsPlan() {
	ctx := b.Context()
	q, p := &v1alpha1.Queue{}, &v1alpha1.Plan{}
	if err := errors.Join(b.k.Get(ctx, client.ObjectKey{Name: "train"}, q), b.k.Get(ctx, client.ObjectKey{Name: "train"}, p)); err != nil {
		b.Fatal(err)
	}
	if err := b.k.Delete(ctx, p.DeepCopy()); !apierrors.IsForbidden(err) {
		b.Fatalf("deleting the plan of a queue that starts jobs: %v, want it forbidden", err)
	}
	before := b.pods("long")
	// Under fifo no plan has a reason to stop the one that runs; under srtf the one that waits may be shorter.
	b.patch(`{"spec":{"mode":"Off","policy":{"name":"fifo"}}}`)
	waits := Job("waits", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "2000000"})
	b.create(waits)
	forged := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "forged", Namespace: "kube-public", Labels: map[string]string{
		v1alpha1.QueueLabel: "train", v1alpha1.JobUID: string(waits.UID), v1alpha1.Generation: "1",
	}}}
	forged.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
	forged.Spec.Containers = []corev1.Container{{Name: "c", Image: "c"}}
	b.create(forged)
	Until(ctx, b, within, "the plan can be deleted", func() error { return b.k.Delete(ctx, p.DeepCopy()) })
	b.patch(`{"spec":{"mode":"Resize"}}`)
	Until(ctx, b, within, "there is a plan of a later epoch with all jobs", func() error {
		var now v1alpha1.Plan
		if err := b.k.Get(ctx, client.ObjectKey{Name: "train"}, &now); err != nil || now.Spec.Epoch <= p.Spec.Epoch || len(now.Spec.Allocations) != 2 {
			return errNot("epoch %d after %d, %v, %v", now.Spec.Epoch, p.Spec.Epoch, now.Spec.Allocations, err)
		}
		return nil
	})
	time.Sleep(5 * time.Second)
	if after := b.pods("long"); after != before || before == "" {
		var now v1alpha1.Plan
		err := b.k.Get(ctx, client.ObjectKey{Name: "train"}, &now)
		b.Fatalf("pods %v, want those that ran before: %v; the plan: %+v, %v", after, before, now.Spec.Allocations, err)
	}
	if err := b.k.Delete(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "long", Namespace: "default"}}, client.PropagationPolicy("Background")); err != nil {
		b.Fatal(err)
	}
	b.runs("waits", 2)
}

func (b *bench) patch(change string) {
	b.Helper()
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "train"}}
	if err := b.k.Patch(b.Context(), q, client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
		b.Fatal(err)
	}
}

// Loans need a right that may be kept from the scheduler: then a queue that wants them says so.
func (b *bench) refusesLoans() {
	q := Queue("borrows", v1alpha1.Resize, "oxgang")
	q.Spec.NodeSelector = map[string]string{"nobody": "has"}
	q.Spec.Loans = &v1alpha1.Lender{NodeSelector: q.Spec.NodeSelector}
	b.create(q)
	defer b.remove(q.Name)
	says := func(reason string) func() error {
		return func() error {
			err := b.k.Get(b.Context(), client.ObjectKeyFromObject(q), q)
			if err != nil || len(q.Status.Conditions) == 0 || q.Status.Conditions[0].Reason != reason {
				return errNot("%v, %v", q.Status.Conditions, err)
			}
			return nil
		}
	}
	Until(b.Context(), b, within, "a queue that borrows is served", says("Serving"))
	right := &rbacv1.ClusterRoleBinding{}
	right.Name = "oxgang-loans"
	if err := b.k.Delete(b.Context(), right); err != nil {
		b.Fatal(err)
	}
	Until(b.Context(), b, within, "without the right it says so", says("Forbidden"))
}

func (b *bench) event(uid types.UID, reason string) error {
	var all eventsv1.EventList
	if err := b.k.List(b.Context(), &all); err != nil {
		return err
	}
	for i := range all.Items {
		if all.Items[i].Regarding.UID == uid && all.Items[i].Reason == reason {
			return nil
		}
	}
	return errNot("%d events, and none of it that says %s", len(all.Items), reason)
}
