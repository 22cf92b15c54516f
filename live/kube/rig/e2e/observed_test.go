package e2e

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// spell is how long each worker runs that only kube-scheduler knows of.
const spell = 8 * time.Second

// observed lets the crowd come to kube-scheduler, and holds that oxgang-scheduler plans for it
// all the same, and writes nothing. It returns the revision of the end.
func (l *Trial) observed(ctx context.Context) int64 {
	l.Helper()
	q := l.queue(v1alpha1.Observe)
	q.Name = "watched"
	if err := l.Client.Create(ctx, q); err != nil {
		l.Fatal(err)
	}
	all, err := l.submissions(profiles.Default())
	if err != nil {
		l.Fatal(err)
	}
	from, err := l.Audit.Sync(ctx)
	if err != nil {
		l.Fatal(err)
	}
	err = l.submit(ctx, all, func(j *batchv1.Job) {
		j.Spec.Suspend, j.Labels[v1alpha1.QueueLabel] = nil, "watched"
	})
	if err != nil {
		l.Fatal(err)
	}
	Until(ctx, l, 5*time.Minute, "all jobs are complete without us", func() error { return l.relieve(ctx) })
	l.wouldHave(ctx)
	to, err := l.Audit.Sync(ctx)
	if err != nil {
		l.Fatal(err)
	}
	l.Audit.Look(func(a *audit.Auditor) {
		for _, who := range []string{"oxgang", "oxgang-scheduler"} {
			for _, f := range a.Log.Quiet(who, from, to) {
				l.Error(f)
			}
		}
		others := 0
		for _, n := range a.Log.Between(from, to) {
			others += n.Writes
		}
		l.Logf("observed: %d writes in the meantime", others)
	})
	l.clear(ctx, q)
	return to
}

// relieve lets workers end that have run for a spell, and returns nothing if all jobs have.
func (l *Trial) relieve(ctx context.Context) error {
	var pods corev1.PodList
	if err := l.Client.List(ctx, &pods, client.InNamespace("default")); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		_, told := p.Annotations[rig.ExitCode]
		if told || p.Status.Phase != corev1.PodRunning || time.Since(p.Status.StartTime.Time) < spell {
			continue
		}
		if err := client.IgnoreNotFound(l.Cluster.Exit(ctx, p, 0)); err != nil {
			return err
		}
	}
	return l.ended()
}

// wouldHave holds that the metrics say what would have been done.
func (l *Trial) wouldHave(ctx context.Context) {
	l.Helper()
	m, err := Scrape(ctx, l.Metrics)
	if err != nil {
		l.Fatal(err)
	}
	started := m.Sum("oxgang_decisions_total", `queue="watched"`, `action="started"`)
	l.Logf("observed: %.0f rounds, %.0f starts, of decisions %.0f", m.Sum("oxgang_rounds_total", `queue="watched"`), started,
		m.Sum("oxgang_decisions_total", `queue="watched"`))
	if started < float64(l.Jobs) {
		l.Errorf("%.0f starts of jobs in the metrics, want %d at least", started, l.Jobs)
	}
}

func (l *Trial) clear(ctx context.Context, q *v1alpha1.Queue) {
	l.Helper()
	if err := l.Client.Delete(ctx, q); err != nil {
		l.Fatal(err)
	}
	(&bench{T: l.T, Cluster: l.Cluster, k: l.Client}).remove(q.Name)
}

func TestSeries(t *testing.T) {
	s := Series{`a{x="1",y="2"}`: 3, `a{x="1",y="3"}`: 4, `ab{x="1"}`: 5, `a`: 6}
	for _, c := range []struct {
		labels []string
		want   float64
	}{{nil, 13}, {[]string{`x="1"`}, 7}, {[]string{`x="1"`, `y="2"`}, 3}} {
		if got := s.Sum("a", c.labels...); got != c.want {
			t.Errorf("labels %q: got %v, want %v", c.labels, got, c.want)
		}
	}
}
