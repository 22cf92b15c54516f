// Package real runs oxgang-scheduler beside Kueue, JobSet and Kubeflow Trainer, on real nodes:
// kubelets whose pods are processes of this machine.
package real

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
	"github.com/oxgang/oxgang/live/kube/rig/eco"
	"github.com/oxgang/oxgang/live/kube/rig/node"
)

func TestMain(m *testing.M) { node.Main(m) }

// within bounds what is waited for: a machine may be busy with other things.
const within = 3 * time.Minute

// A bench is a cluster of two real nodes with 8 GPUs each, with a scheduler.
type bench struct {
	*testing.T
	*node.Cluster
	k      client.Client
	shared string                // a directory of the machine that pods may write to
	whole  func() ([]run, error) // the training that nobody interrupts, done once

	python, pythonless string // an interpreter that has torch, or why there is none
}

// TestReal: the scheduler works beside other controllers, with programs that really train, and
// on nodes that really fail.
func TestReal(t *testing.T) {
	c := node.Start(t, node.Options{})
	eco.Start(t, c.Cluster)
	e2e.Prepare(t.Context(), t, c.Cluster)
	b := &bench{T: t, Cluster: c, k: e2e.Client(t, c.Config), shared: filepath.Join(c.Dir, "shared")}
	if err := os.Mkdir(b.shared, 0o777); err != nil {
		t.Fatal(err)
	}
	b.python, b.pythonless = interpreter()
	b.whole = sync.OnceValues(b.uninterrupted)
	t.Cleanup(func() { _, _ = b.whole() }) // it ends with the test
	e2e.Serve(t, c.Cluster, e2e.Setup{Agents: node.Gateway + ":8443", Names: []string{agents}})
	b.serve()
	b.apply("runtime.yaml")
	for _, s := range []struct {
		name string
		run  func(*bench)
	}{
		{"Kueue admits what the plan has sized", (*bench).admits},
		{"a TrainJob takes both nodes, and Kueue admits a job of another size than asked", (*bench).spans},
		{"Kueue stops and starts what is preempted", (*bench).yields},
		{"a training is preempted and resized, and its loss goes on", (*bench).trains},
		{"a training goes on when its node is lost", (*bench).recovers},
	} {
		t.Run(s.name, func(t *testing.T) {
			sub := *b
			sub.T = t
			defer sub.explain()
			s.run(&sub)
		})
	}
}

// until waits until ok returns nothing.
func (b *bench) until(what string, ok func() error) {
	b.Helper()
	b.Logf("%s after %v", what, e2e.Until(b.Context(), b, within, what, ok).Round(10*time.Millisecond))
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.k.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) queue(mode v1alpha1.Mode, policy string) {
	b.Helper()
	q := e2e.Queue("train", mode, policy)
	var there v1alpha1.Queue
	if err := b.k.Get(b.Context(), client.ObjectKeyFromObject(q), &there); err != nil {
		b.create(q)
		return
	}
	there.Spec = q.Spec
	if err := b.k.Update(b.Context(), &there); err != nil {
		b.Fatal(err)
	}
}

// apply makes the objects of a file of testdata, with some text replaced.
func (b *bench) apply(file string, replace ...string) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		b.Fatal(err)
	}
	r := strings.NewReplacer(append(replace, "SHARED", b.shared, "QUEUE", "train", ", MORE", "")...)
	if err := eco.Apply(b.Context(), b.Cluster.Cluster, r.Replace(string(text))); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) allocation(name string) (*v1alpha1.JobAllocation, error) {
	var p v1alpha1.Plan
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return nil, err
	}
	for i := range p.Spec.Allocations {
		if p.Spec.Allocations[i].Name == name {
			return &p.Spec.Allocations[i], nil
		}
	}
	return nil, fmt.Errorf("the plan has no %s", name)
}

// pods returns those of a job that have not ended: those whose names begin with its own.
func (b *bench) pods(name string) ([]corev1.Pod, error) {
	var all corev1.PodList
	if err := b.k.List(b.Context(), &all, client.InNamespace("default")); err != nil {
		return nil, err
	}
	var its []corev1.Pod
	for _, p := range all.Items {
		if strings.HasPrefix(p.Name, name+"-") && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			its = append(its, p)
		}
	}
	return its, nil
}

// asPlanned returns nothing if exactly the pods run that the plan gives GPUs, of its
// generation, where it gives them.
func (b *bench) asPlanned(name string, perPod int) error {
	a, err := b.allocation(name)
	if err != nil {
		return err
	}
	pods, err := b.pods(name)
	if err != nil {
		return err
	}
	if a.GPUs == 0 || len(pods) != int(a.GPUs)/perPod {
		return fmt.Errorf("%d pods on %d GPUs: %s", len(pods), a.GPUs, a.Reason)
	}
	left := map[string]int{}
	for _, n := range a.Nodes {
		left[n.Name] += int(n.GPUs)
	}
	for i := range pods {
		p := &pods[i]
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			return fmt.Errorf("pod %s is %s, deleted %v", p.Name, p.Status.Phase, p.DeletionTimestamp)
		}
		if g := p.Labels[v1alpha1.Generation]; g != fmt.Sprint(a.Generation) {
			return fmt.Errorf("pod %s is of generation %q, want %d", p.Name, g, a.Generation)
		}
		if left[p.Spec.NodeName] -= perPod; left[p.Spec.NodeName] < 0 {
			return fmt.Errorf("node %s has more pods of %s than the plan, %v", p.Spec.NodeName, name, a.Nodes)
		}
	}
	return nil
}

// end lets the program of a job end.
func (b *bench) end(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.shared, name), nil, 0o644); err != nil {
		b.Fatal(err)
	}
}
