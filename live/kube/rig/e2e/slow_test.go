package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// TestSlow: with an API server that takes 200 ms longer for each call and refuses one of a hundred, jobs are started,
// preempted and ended as with one that does not: no GPU is given twice, and no job is lost.
func TestSlow(t *testing.T) {
	long(t, "0 GPUs over-committed, 0 jobs lost")
	t.Run("as it is", func(t *testing.T) { slow(t, 0, 0) })
	t.Run("200 ms late, 1 % refused", func(t *testing.T) { slow(t, 200*time.Millisecond, 100) })
}

// slow lets 60 jobs go through 48 GPUs.
func slow(t *testing.T, late time.Duration, refused int) {
	c := rig.Start(t, rig.Options{History: true, Nodes: []rig.Nodes{{Type: "a100", Count: 6}}})
	Prepare(t.Context(), t, c)
	proxy, err := fault.New(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	proxy.Rules.Load(late, refused)
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	metrics := Address(t)
	Serve(t, c, Setup{Config: proxy.Config(), Elects: true, Metrics: metrics})
	b.create(Queue("train", v1alpha1.Resize, "srtf"))
	h := b.follow(t, "train")
	began := time.Now()
	for i := range 60 {
		b.create(slowJob(i))
	}
	took := b.allEnd(60)
	m, err := Scrape(t.Context(), metrics)
	if err != nil {
		t.Fatal(err)
	}
	rounds, seconds := m.Sum("oxgang_round_duration_seconds_count"), m.Sum("oxgang_round_duration_seconds_sum")
	found := h.findings()
	t.Logf("60 jobs complete after %v; %.0f rounds, %.2f s in the mean; %d calls refused; %d findings%s",
		took.Sub(began).Round(time.Second), rounds, seconds/rounds, refusedCalls(proxy), len(found), lines(found))
	if len(found) > 0 {
		t.Errorf("%d findings, want none", len(found))
	}
}

// slowJob returns one of 60 jobs: of one to three nodes, or a part of one. Those that come later have less to do, so that
// under srtf they preempt others.
func slowJob(i int) *batchv1.Job {
	shape := [][2]int{{1, 8}, {1, 4}, {2, 8}, {1, 2}, {3, 8}, {2, 4}}[i%6]
	return Job(fmt.Sprintf("slow-%02d", i), "train", shape[0], shape[1], map[string]string{v1alpha1.RunSeconds: fmt.Sprint(100000 - 1000*i)})
}

// allEnd lets each pod succeed that has run for two seconds, until so many jobs are complete, and returns when they are.
func (b *bench) allEnd(jobs int) time.Time {
	b.Helper()
	Until(b.Context(), b, 10*time.Minute, "all jobs are complete", func() error {
		if err := b.endOld(b.Context()); err != nil {
			return err
		}
		var all batchv1.JobList
		if err := b.k.List(b.Context(), &all); err != nil {
			return err
		}
		n := 0
		for i := range all.Items {
			if all.Items[i].Status.CompletionTime != nil {
				n++
			}
		}
		if n < jobs {
			return errNot("%d of %d; %s", n, jobs, b.state())
		}
		return nil
	})
	return time.Now()
}

// endOld lets the pods succeed that have run for two seconds.
func (b *bench) endOld(ctx context.Context) error {
	var all corev1.PodList
	if err := b.k.List(ctx, &all, client.InNamespace("default")); err != nil {
		return err
	}
	for i := range all.Items {
		p := &all.Items[i]
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil || p.Annotations[rig.ExitCode] != "" || time.Since(p.Status.StartTime.Time) < 2*time.Second {
			continue
		}
		if err := b.Exit(ctx, p, 0); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// refusedCalls returns how many of the numbered calls were answered with 429.
func refusedCalls(p *fault.Proxy) (n int) {
	for _, c := range p.Calls() {
		if c.Code == 429 {
			n++
		}
	}
	return n
}
