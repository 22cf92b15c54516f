package load

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// A queue of 500 jobs on 400 GPUs: what starting them is written, what they cost while nothing
// happens, what their reports cost, and how long it takes to plan for all of them.
func TestCrowd(t *testing.T) {
	long(t, "the writes of 400 starts, the cost of an idle queue and of 2,000 reports a second, and the time of a round of Sia's")
	b := start(t, rig.Options{Lean: true, History: true, Nodes: []rig.Nodes{{Type: "a100", Count: 50}}})
	w := b.follow()
	b.serve()
	b.ok(b.k.Create(t.Context(), e2e.Queue("train", v1alpha1.Resize, "fifo")))
	b.epoch(0)
	var jobs []*batchv1.Job
	for i := range 500 {
		jobs = append(jobs, e2e.Job(fmt.Sprintf("j%d", i), "train", 1, 1, map[string]string{v1alpha1.MinGPUs: "1", v1alpha1.MaxGPUs: "4", v1alpha1.ResizeBy: "Restart"}))
	}
	for _, s := range []struct {
		name string
		run  func(*bench, *audit.Watcher, []*batchv1.Job)
	}{{"starts", starts}, {"idle", idles}, {"reports", speaks}, {"oxgang", plans}} {
		t.Run(s.name, func(t *testing.T) { one := *b; one.TB = t; s.run(&one, w, jobs) })
	}
}

// follow audits the cluster until the test ends.
func (b *bench) follow() *audit.Watcher {
	b.Helper()
	return audit.Follow(b.Etcd(b), audit.New())
}

// ourNames are what the API server calls the scheduler: by its patches, and by all else.
var ourNames = []string{"oxgang", "oxgang-scheduler"}

// starts: what is written to start jobs is twice for each job, which is started and told of, and
// a little for plans: jobs on one node say so in their template.
func starts(b *bench, w *audit.Watcher, jobs []*batchv1.Job) {
	from, err := w.Sync(b.Context())
	b.ok(err)
	rounds := b.metric("oxgang_rounds_total")
	took := b.until(400, func() { b.submit(jobs) })
	to, err := w.Sync(b.Context())
	b.ok(err)
	rounds = b.metric("oxgang_rounds_total") - rounds
	n := 0
	w.Look(func(a *audit.Auditor) {
		for _, name := range ourNames {
			n += a.Log.By(name, from, to)
		}
		b.Log(a.Log.Between(from, to))
	})
	most := 2*500 + 5*rounds
	b.Logf("400 of 500 jobs run after %v and %v rounds: %d writes, %.2f for each pod and job, want at most %.0f", took.Round(100*time.Millisecond), rounds, n, float64(n)/900, most)
	if float64(n) > most {
		b.Errorf("%d writes, want at most %.0f", n, most)
	}
}

// idles: where nothing happens nothing is written, and next to nothing is spent.
func idles(b *bench, w *audit.Watcher, _ []*batchv1.Job) {
	b.rests(w)
	from, err := w.Sync(b.Context())
	b.ok(err)
	before, began := b.spent(), time.Now()
	b.rounds(10)
	used := b.spent().since(before)["oxgang-scheduler"]
	to, err := w.Sync(b.Context())
	b.ok(err)
	w.Look(func(a *audit.Auditor) {
		for _, name := range ourNames {
			for _, f := range a.Log.Quiet(name, from, to) {
				b.Error(f)
			}
		}
	})
	share := used.Seconds() / time.Since(began).Seconds()
	b.Logf("400 running jobs, 100 waiting, a round a second: %.1f %% of a core", 100*share)
	if share > 0.1 {
		b.Errorf("%.1f %% of a core, want at most 2, and here at most 10", 100*share)
	}
}

// rests waits until five rounds in a row have written nothing.
func (b *bench) rests(w *audit.Watcher) {
	b.Helper()
	e2e.Until(b.Context(), b, within, "nothing is written in five rounds", func() error {
		from, err := w.Sync(b.Context())
		b.ok(err)
		b.rounds(5)
		to, err := w.Sync(b.Context())
		b.ok(err)
		w.Look(func(a *audit.Auditor) {
			for _, name := range ourNames {
				if n := a.Log.By(name, from, to); n > 0 {
					err = fmt.Errorf("%s wrote %d times", name, n)
				}
			}
		})
		return err
	})
}

// rounds waits until so many rounds more have come to their end. It asks every two seconds: an
// answer costs the scheduler as much as a pass.
func (b *bench) rounds(more float64) {
	b.Helper()
	want, began := b.metric("oxgang_rounds_total")+more, time.Now()
	for n := want - more; n < want; n = b.metric("oxgang_rounds_total") {
		if time.Since(began) > within {
			b.Fatalf("%v rounds of %v after %v", n, want, within)
		}
		select {
		case <-b.Context().Done():
			b.Fatal(b.Context().Err())
		case <-time.After(2 * time.Second):
		}
	}
}

// metric returns the sum over the series of a metric of the scheduler's.
func (b *bench) metric(name string) float64 {
	b.Helper()
	m, err := e2e.Scrape(b.Context(), b.metrics)
	b.ok(err)
	return m.Sum(name)
}

// plans: Sia plans for all 500 jobs in less than a second.
func plans(b *bench, _ *audit.Watcher, _ []*batchv1.Job) {
	var q v1alpha1.Queue
	b.ok(b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &q))
	epoch := b.epoch(0)
	q.Spec.Policy.Name = "oxgang"
	b.ok(b.k.Update(b.Context(), &q))
	b.epoch(epoch)
	b.rounds(3)
	before, rounds := b.metric("oxgang_round_duration_seconds_sum"), b.metric("oxgang_rounds_total")
	spent := b.spent()
	b.rounds(10)
	n := b.metric("oxgang_rounds_total") - rounds
	each := (b.metric("oxgang_round_duration_seconds_sum") - before) / n
	b.Logf("a round of Sia's for 500 jobs takes %.2f s in the mean of %v; the scheduler used %.2f s for each", each, n, b.spent().since(spent)["oxgang-scheduler"].Seconds()/n)
	if each > 5 {
		b.Errorf("a round takes %.2f s, want at most 1, and here at most 5", each)
	}
}
