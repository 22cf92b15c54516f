package e2e

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/tenant"
)

// TestTenant_sequences sends random sequences of a tenant's requests to a real API server, for 45 seconds. The auditor
// checks every revision. After each sequence an administrator deletes what the tenant has left, and the plan and the
// accounts agree with the pods that run. The queue has the policy fifo, by which no later job stops the victim's.
// Package tenant does the same with a simulated cluster, a hundred times as fast.
func TestTenant_sequences(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	a := newAttacker(t, "fifo")
	a.clear()
	n := &tenant.Tenant{Client: a.client, Namespace: attackers, Queue: "train", Victim: a.victim, GPU: rig.GPU}
	end := time.Now().Add(45 * time.Second)
	if draws.Long() {
		end = time.Now().Add(time.Hour)
	}
	seed, played := int(draws.Seed(t)>>1), 0
	for ; time.Now().Before(end); played++ {
		steps := tenant.Sequences(8).Example(seed + played)
		for _, s := range steps {
			_ = n.Do(t.Context(), s) // a refusal is an answer, too
			time.Sleep(200 * time.Millisecond)
		}
		a.clear()
		if err := a.agrees(); err != nil {
			t.Fatalf("after sequence %d, %v: %v", played, steps, err)
		}
	}
	t.Logf("%d sequences", played)
	a.judge()
}

// clear deletes what the tenant has created.
func (a *attacker) clear() {
	a.Helper()
	in := client.InNamespace(attackers)
	Until(a.Context(), a, within, "the namespace is empty", func() error {
		var jobs batchv1.JobList
		var pods corev1.PodList
		if err := a.k.List(a.Context(), &jobs, in); err != nil {
			return err
		}
		if err := a.k.List(a.Context(), &pods, in); err != nil {
			return err
		}
		var all []client.Object
		for i := range jobs.Items {
			all = append(all, &jobs.Items[i])
		}
		for i := range pods.Items {
			all = append(all, &pods.Items[i])
		}
		for _, o := range all {
			if p := o.DeepCopyObject().(client.Object); p.GetNamespace() == attackers && len(p.GetFinalizers()) > 0 {
				p.SetFinalizers(nil)
				_ = a.k.Patch(a.Context(), p, client.MergeFrom(o)) // the next look shows whether it has changed
			}
			_ = a.k.Delete(a.Context(), o, client.PropagationPolicy("Background"))
		}
		if len(all) > 0 {
			return errNot("%d objects are left", len(all))
		}
		return a.k.DeleteAllOf(a.Context(), &policyv1.PodDisruptionBudget{}, in)
	})
}

// agrees returns an error unless the plan has the GPUs of the pods that run, within 30 s, and the auditor has found nothing.
func (a *attacker) agrees() error {
	var held, planned int64
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, err := a.watcher.Sync(a.Context()); err != nil {
			return err
		}
		var found []audit.Finding
		a.watcher.Look(func(of *audit.Auditor) {
			held, planned = of.State.Holds("train")
			for _, f := range of.Findings {
				if f.Revision > a.from {
					found = append(found, f)
				}
			}
		})
		switch {
		case len(found) > 0:
			return fmt.Errorf("the auditor found %v", found)
		case held == 16 && planned == 16:
			return nil
		case time.Now().After(end):
			return errNot("%d GPUs held and %d planned, want the 16 of the victim", held, planned)
		}
	}
}
