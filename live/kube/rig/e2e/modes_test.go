package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// Whatever a scheduler does, its crash, its restart and the loss of nodes leave no job behind
// and no GPU given twice.
func TestScheduler_on_fake_nodes(t *testing.T) { shortScenes(t, rig.Options{}) }

// shortScenes plays the short scenes on two nodes of a type and one of another.
func shortScenes(t *testing.T, o rig.Options) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	o.Nodes = []rig.Nodes{{Type: "a100", Count: 2}, {Type: "h100", Count: 1}}
	c := rig.Start(t, o)
	Prepare(t.Context(), t, c)
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	p := Serve(t, c, Setup{})
	for _, s := range []struct {
		name string
		run  func(*bench, *rig.Process)
	}{
		{"observe writes nothing", observes},
		{"a kill loses nothing", survives},
		{"the shorter job preempts, and the longer goes on", preempts},
		{"what is as planned is left alone", rests},
		{"a lost node's job goes on elsewhere", moves},
		{"what cannot be is said", complains},
		{"what would help is said", foretells},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(&bench{T: t, Cluster: c, k: b.k}, p) })
	}
}

type bench struct {
	*testing.T
	*rig.Cluster
	k client.Client
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.k.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

// remove deletes a queue, all jobs and their pods, and waits until those are gone.
func (b *bench) remove(queue string) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	if err := b.k.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace("default"), client.PropagationPolicy("Background")); err != nil {
		b.Fatal(err)
	}
	if err := b.k.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace("default"), client.GracePeriodSeconds(0)); err != nil {
		b.Fatal(err) // they are not waited for
	}
	for _, o := range []client.Object{&v1alpha1.Queue{}, &v1alpha1.Plan{}} {
		o.SetName(queue)
		Until(ctx, b, within, "the plan can be deleted, because the queue is gone", func() error { return client.IgnoreNotFound(b.k.Delete(ctx, o)) })
	}
	Until(ctx, b, within, "all pods are gone", func() error {
		var pods corev1.PodList
		if err := b.k.List(ctx, &pods, client.InNamespace("default")); err != nil || len(pods.Items) > 0 {
			return errNot("%d pods, %v", len(pods.Items), err)
		}
		return nil
	})
}

func (b *bench) runs(job string, want int) time.Duration {
	b.Helper()
	return Until(b.Context(), b, within, fmt.Sprintf("%d pods of %s run", want, job), func() error {
		if n := podsOf(b.T, b.k, job, corev1.PodRunning); n != want {
			return errNot("%d do; %s", n, b.state())
		}
		return nil
	})
}

// state says how things stand, for people.
func (b *bench) state() string {
	var plans v1alpha1.PlanList
	var jobs batchv1.JobList
	if err := errors.Join(b.k.List(b.Context(), &plans), b.k.List(b.Context(), &jobs)); err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, p := range plans.Items {
		fmt.Fprintf(&text, "plan %s epoch %d round %d:", p.Name, p.Spec.Epoch, p.Spec.Round)
		for _, a := range p.Spec.Allocations {
			fmt.Fprintf(&text, " %s generation %d: %d GPUs on %v (%s);", a.Name, a.Generation, a.GPUs, a.Nodes, a.Reason)
		}
	}
	for _, j := range jobs.Items {
		fmt.Fprintf(&text, "\n%s: suspended %v, %d active, %v", j.Name, *j.Spec.Suspend, j.Status.Active, j.Status.Conditions)
	}
	return text.String()
}

// observes: a job that somebody else runs is watched, and nothing is written.
func observes(b *bench, _ *rig.Process) {
	b.create(Queue("watch", v1alpha1.Observe, "fifo"))
	defer b.remove("watch")
	j := Job("seen", "watch", 2, 4, nil)
	j.Spec.Suspend = nil
	b.create(j)
	b.runs("seen", 2)
	time.Sleep(3 * time.Second) // three rounds, in which it might
	for _, o := range []client.Object{&v1alpha1.Queue{}, &batchv1.Job{}} {
		key := client.ObjectKey{Name: "watch"}
		if _, is := o.(*batchv1.Job); is {
			key = client.ObjectKey{Namespace: "default", Name: "seen"}
		}
		if err := b.k.Get(b.Context(), key, o); err != nil {
			b.Fatal(err)
		}
		for _, f := range o.GetManagedFields() {
			if strings.Contains(f.Manager, "oxgang") {
				b.Errorf("%T was written by %s", o, f.Manager)
			}
		}
	}
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: "watch"}, &v1alpha1.Plan{}); client.IgnoreNotFound(err) != nil || err == nil {
		b.Errorf("got %v, want that there is no Plan", err)
	}
}

// survives: a scheduler that is killed takes up what it left, and restarts nothing.
func survives(b *bench, p *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "fifo"))
	defer b.remove("train")
	b.create(Job("one", "train", 1, 8, nil))
	b.runs("one", 1)
	before, epoch := b.pods("one"), b.epoch("train")
	if err := p.Restart(); err != nil {
		b.Fatal(err)
	}
	b.create(Job("two", "train", 1, 8, nil))
	took := b.runs("two", 1)
	b.Logf("the next job ran %v after the restart", took.Round(10*time.Millisecond))
	if after := b.pods("one"); after != before {
		b.Errorf("pods %s, want them as before: %s", after, before)
	}
	if now := b.epoch("train"); now <= epoch {
		b.Errorf("epoch %d after %d, want it to grow", now, epoch)
	}
}

// pods returns the uids of a job's pods that run, and are not about to go: those of a start before may take a while.
func (b *bench) pods(job string) string {
	b.Helper()
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
		b.Fatal(err)
	}
	var all []string
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			all = append(all, string(p.UID))
		}
	}
	return strings.Join(all, " ")
}

// moves: a job whose node is lost starts again elsewhere, once its pods are gone for certain.
func moves(b *bench, _ *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "fifo"))
	defer b.remove("train")
	b.create(Job("mover", "train", 1, 8, nil))
	b.runs("mover", 1)
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: "mover"}); err != nil {
		b.Fatal(err)
	}
	node := pods.Items[0].Spec.NodeName
	if err := b.Lose(b.Context(), node); err != nil {
		b.Fatal(err)
	}
	Until(b.Context(), b, within, "the job is suspended", func() error {
		var j batchv1.Job
		if err := b.k.Get(b.Context(), client.ObjectKey{Namespace: "default", Name: "mover"}, &j); err != nil || j.Spec.Suspend == nil || !*j.Spec.Suspend {
			return errNot("suspend %v, %v", j.Spec.Suspend, err)
		}
		return nil
	})
	time.Sleep(2 * time.Second)
	if podsOf(b.T, b.k, "mover", corev1.PodRunning) > 0 {
		b.Error("it was started again while its pod may still run")
	}
	n := &corev1.Node{}
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: node}, n); err != nil {
		b.Fatal(err)
	}
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute})
	if err := b.k.Update(b.Context(), n); err != nil { // fenced: nothing runs there any more
		b.Fatal(err)
	}
	b.runs("mover", 1)
}

// preempts: the job that has less to do comes first, and the other goes on after it.
func preempts(b *bench, _ *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "srtf"))
	defer b.remove("train")
	b.create(Job("long", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "1000000"}))
	b.runs("long", 2)
	b.create(Job("short", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
	b.runs("short", 2)
	b.runs("long", 0)
	finish(b.T, b.Cluster, b.k, "short")
	b.runs("long", 2)
}

// complains: the condition of a job that can never run says why.
func complains(b *bench, _ *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "fifo"))
	defer b.remove("train")
	b.create(Job("odd", "train", 3, 8, map[string]string{v1alpha1.MaxGPUs: "13", v1alpha1.ResizeBy: "Restart"}))
	Until(b.Context(), b, within, "the condition says what is wrong", func() error {
		var j batchv1.Job
		if err := b.k.Get(b.Context(), client.ObjectKey{Namespace: "default", Name: "odd"}, &j); err != nil {
			return err
		}
		for _, c := range j.Status.Conditions {
			if c.Type == v1alpha1.ScheduledCondition && c.Reason == "Misconfigured" && strings.Contains(c.Message, "max-gpus") {
				return nil
			}
		}
		return errNot("conditions %v", j.Status.Conditions)
	})
}
