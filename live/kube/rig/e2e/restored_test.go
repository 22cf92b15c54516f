package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// TestRestored: etcd is restored from a backup while two schedulers run, which nobody restarts. What the backup says
// that runs is not stopped, the epoch is higher than any before, also than those that the backup does not know, and no GPU
// is given twice.
func TestRestored(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	r := newRestored(t)
	backup, err := r.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := r.running()
	t.Logf("backed up: epoch %d, %v run", r.epoch("train"), before)
	last := r.later()
	began := time.Now()
	if err := r.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	t.Logf("restored after %v: epoch %d, and %d was the last", time.Since(began).Round(100*time.Millisecond), r.epoch("train"), last)
	w := audit.Follow(r.Etcd(t), audit.New(audit.All(time.Minute, time.Minute)...))
	r.goesOn(before, last)
	found, err := w.Stop(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("%v, found:%s", err, lines(found))
	}
}

// A restored is a cluster with two schedulers, of which one leads: three jobs run, and one waits.
type restored struct {
	*bench
	schedulers []*rig.Process
}

func newRestored(t *testing.T) *restored {
	c := rig.Start(t, rig.Options{History: true, Nodes: []rig.Nodes{{Type: "a100", Count: 3}}})
	if err := c.Install(t.Context(), Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	r := &restored{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}}
	for i := range 2 {
		s := Setup{Name: fmt.Sprintf("scheduler-%d", i), Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system", Lease: "3s 2s 500ms"}
		r.schedulers = append(r.schedulers, Serve(t, c, s))
	}
	r.create(Queue("train", v1alpha1.Resize, "fifo"))
	for _, name := range []string{"stays", "ends", "other"} {
		j := Job(name, "train", 1, 8, nil)
		j.Spec.Suspend = nil
		r.awaitRules(j)
		r.runs(name, 1)
	}
	r.create(Job("waits", "train", 1, 8, nil))
	return r
}

// revive starts those schedulers again that have ended, as a Deployment does.
func (r *restored) revive() {
	r.Helper()
	for _, p := range r.schedulers {
		if p.Running() {
			continue
		}
		r.Logf("%s ended, and is started again: %s", p.Name, p.Tail()[max(0, len(p.Tail())-300):])
		if err := p.Start(); err != nil {
			r.Fatal(err)
		}
	}
}

// until waits for something, while schedulers that end are started again.
func (r *restored) until(what string, so func() error) {
	r.Helper()
	Until(r.Context(), r, within, what, func() error {
		r.revive()
		return so()
	})
}

// running returns the pods that run, of the jobs of the backup.
func (r *restored) running() []string {
	var all []string
	for _, name := range []string{"stays", "ends", "other"} {
		all = append(all, r.pods(name))
	}
	return all
}

// busy writes so often to the cluster that watches which begin where they ended do not see what is written in the minutes after
// etcd was restored: its revisions are below.
func (r *restored) busy() {
	r.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "busy", Namespace: "default"}}
	r.create(m)
	for i := range 3000 {
		m.Data = map[string]string{"written": strconv.Itoa(i)}
		if err := r.k.Update(r.Context(), m); err != nil {
			r.Fatal(err)
		}
	}
}

// later is what happens after the backup: a job ends, the one that waits runs, a new one comes, and leaders die, so that
// the epoch grows. It returns the last one.
func (r *restored) later() int64 {
	r.Helper()
	r.busy()
	if err := r.k.Delete(r.Context(), Job("ends", "train", 1, 8, nil), client.PropagationPolicy("Background")); err != nil {
		r.Fatal(err)
	}
	r.runs("waits", 1)
	r.create(Job("later", "train", 1, 8, nil))
	for range 3 {
		epoch := r.epoch("train")
		for _, p := range r.schedulers {
			if err := p.Kill(); err != nil {
				r.Fatal(err)
			}
		}
		r.until("another leads", func() error {
			if r.epoch("train") == epoch {
				return errNot("epoch %d", epoch)
			}
			return nil
		})
	}
	return r.epoch("train")
}

// goesOn: what ran at the backup runs on, the plan has it, its epoch is above the last, and a job that waits runs when
// one has ended.
func (r *restored) goesOn(before []string, last int64) {
	r.Helper()
	r.until("a plan with what runs, and an epoch above the last", func() error {
		var p v1alpha1.Plan
		if err := r.k.Get(r.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
			return err
		}
		var run []string
		for _, a := range p.Spec.Allocations {
			if a.GPUs > 0 {
				run = append(run, a.Name)
			}
		}
		slices.Sort(run)
		if p.Spec.Epoch <= last || strings.Join(run, " ") != "ends other stays" {
			return errNot("epoch %d after %d; %v run", p.Spec.Epoch, last, run)
		}
		return nil
	})
	r.stay(before)
	r.until("a job can be deleted, because the API server has found the kinds of the chart's rules", func() error {
		return r.k.Delete(r.Context(), Job("ends", "train", 1, 8, nil), client.PropagationPolicy("Background"))
	})
	r.until("the job that waits runs", func() error {
		if r.pods("waits") == "" {
			return errNot("%s", r.state())
		}
		return nil
	})
}

// stay fails the test if any of the pods that ran does not run in the next ten seconds.
func (r *restored) stay(before []string) {
	r.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		r.revive()
		if after := r.running(); !slices.Equal(after, before) {
			r.Fatalf("pods %v, want those that ran: %v", after, before)
		}
	}
}
