package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/train"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// Jobs of all kinds come under Sia, train, grow, shrink, move and end: every one of them, with
// no invariant broken at any revision, and the decisions come out again from the journal.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := Crowd{Nodes: [3]int{6, 3, 3}, Jobs: 24, Most: 16, Window: 30 * time.Second, Round: 2 * time.Second, Speed: 60}
	c.run(t, 5*time.Minute)
}

func TestCrowd_of_160_jobs_on_100_nodes(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("takes five minutes: OXGANG_LONG=1 go test ./e2e -run TestCrowd_of -v; docs/experiments/kubernetes.md has what it showed")
	}
	c := Crowd{Nodes: [3]int{40, 30, 30}, Jobs: 160, Most: 64, Window: 45 * time.Second, Round: 2 * time.Second, Speed: 40}
	c.run(t, 20*time.Minute)
}

// many is of how many jobs some are bound to have met every fate.
const many = 100

// run lets a crowd come and train to its end.
func (c *Crowd) run(t *testing.T, within time.Duration) {
	l := c.Start(t)
	ctx := t.Context()
	agents := Address(t)
	p := Serve(t, l.Cluster, Setup{Agents: agents, Names: []string{AgentName}, Metrics: l.Metrics, Journals: l.Journal})
	from := l.observed(ctx)
	if err := l.Client.Create(ctx, l.queue(v1alpha1.Resize)); err != nil {
		t.Fatal(err)
	}
	e := l.train(train.Options{URL: "https://" + agents, Client: Trusting(ctx, t, l.Client, "default"), Token: Token(ctx, l.Cluster.Client())})
	all, err := c.submissions(profiles.Default())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := l.submit(ctx, all, func(*batchv1.Job) {}); err != nil {
		t.Fatal(err)
	}
	look := time.Now()
	Until(ctx, t, within, "all jobs are complete", func() error {
		if time.Since(look) > 10*time.Second {
			look = time.Now()
			l.tell(e, began)
		}
		return l.ended()
	})
	t.Logf("all were complete %v after the first came", time.Since(began).Round(time.Second))
	l.tell(e, began)
	l.errors()
	l.settles(ctx, from)
	l.trained(e)
	if err := p.Terminate(ctx); err != nil {
		t.Error(err)
	}
	l.replays(ctx)
}

// errors logs how wrong the speeds are that were believed.
func (l *Trial) errors() {
	l.Helper()
	m, err := Scrape(l.Context(), l.Metrics)
	if err != nil {
		l.Fatal(err)
	}
	const name = "oxgang_throughput_error_ratio"
	n := m.Sum(name+"_count", `queue="crowd"`)
	l.Logf("%.0f reports; the speed believed was within 10 %% of %.0f %%, within 50 %% of %.0f %%", n,
		100*m.Sum(name+"_bucket", `queue="crowd"`, `le="0.1"`)/n, 100*m.Sum(name+"_bucket", `queue="crowd"`, `le="0.5"`)/n)
	for key, x := range m {
		if strings.HasPrefix(key, "oxgang_decisions_total{") && strings.Contains(key, `queue="crowd"`) && x > 0 {
			l.Logf("%s %.0f", key, x)
		}
	}
}

// settles holds that no invariant was broken, and that the end is as the plan has it. It logs
// who wrote how much after a revision.
func (l *Trial) settles(ctx context.Context, from int64) {
	l.Helper()
	var rest []audit.Finding
	Until(ctx, l, within, "nothing is left of the jobs", func() error {
		if _, err := l.Audit.Sync(ctx); err != nil {
			return err
		}
		l.Audit.Look(func(a *audit.Auditor) { rest = audit.Settled(a.State) })
		if len(rest) > 0 {
			return errNot("%v", rest)
		}
		return nil
	})
	l.Audit.Look(func(a *audit.Auditor) {
		for _, n := range a.Log.Between(from, a.State.Revision) {
			if n.Writes > 100 || strings.HasPrefix(n.Manager, "oxgang") {
				l.Logf("writes: %6d %s by %q", n.Writes, n.Resource, n.Manager)
			}
		}
	})
	found, err := l.Audit.Stop(ctx)
	if err != nil {
		l.Fatal(err)
	}
	for i, f := range found {
		if i < 20 {
			l.Error(f)
		}
	}
	n := *l.Census
	n.held = nil
	l.Logf("census: %+v", n)
	if n.Started != l.Jobs || n.Grown == 0 || n.Restarted == 0 {
		l.Errorf("%+v, want %d starts, and jobs that grew and that were restarted", n, l.Jobs)
	}
	if l.Jobs >= many && (n.InPlace == 0 || n.Moved == 0) {
		l.Errorf("%+v, want jobs that moved to another type and were resized in place, too", n)
	}
}

// trained holds that trainings went on from what they had saved.
func (l *Trial) trained(e *train.Emulator) {
	l.Helper()
	starts, lost, done := 0, 0.0, 0
	for id, s := range e.States() {
		starts += s.Starts
		lost = max(lost, s.Lost/s.Target)
		if s.Done {
			done++
		}
		if s.Trouble != nil {
			l.Logf("job %s: the last trouble: %v", id, s.Trouble)
		}
	}
	l.Logf("%d jobs trained to the end, after %d starts; the most that one lost by stops is %.0f %% of its training", done, starts, 100*lost)
	if done != l.Jobs {
		l.Errorf("%d jobs trained to the end, want %d", done, l.Jobs)
	}
}

// replays holds that the decisions of the run come out again from its journal.
func (l *Trial) replays(ctx context.Context) {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(l.Journal, "*", "*.oxj"))
	if err != nil || len(files) == 0 {
		l.Fatalf("journals %v, %v, want one at least", files, err)
	}
	for _, name := range files {
		got, err := replay(ctx, name)
		switch {
		case err != nil:
			l.Errorf("%s: %v", name, err)
		case got.First != nil:
			l.Errorf("%s: after %d rounds: %v", name, got.Rounds, got.First)
		default:
			l.Logf("%s: %d rounds, %d actions: identical", filepath.Base(name), got.Rounds, got.Asked)
		}
	}
}

func replay(ctx context.Context, name string) (*whatif.Replayed, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		return nil, err
	}
	h := r.Header()
	again, err := run.Again(&h, "", run.Files{})
	if err != nil {
		return nil, err
	}
	return whatif.Replay(ctx, r, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler})
}

// tell logs how the crowd stands.
func (l *Trial) tell(e *train.Emulator, began time.Time) {
	l.Helper()
	m, err := Scrape(l.Context(), l.Metrics)
	if err != nil {
		l.Logf("metrics: %v", err)
		return
	}
	rounds := m.Sum("oxgang_rounds_total")
	l.Logf("%4.0f s: jobs %.0f waiting, %.0f running; %.0f rounds of %.0f ms (policy %.0f, apply %.0f ms); requests %.0f, refused as stale %.0f; CPU %.0f s, %.0f MB",
		time.Since(began).Seconds(), m.Sum("oxgang_jobs", `phase="waiting"`), m.Sum("oxgang_jobs", `phase="running"`), rounds,
		1000*m.Sum("oxgang_round_duration_seconds_sum")/rounds, 1000*m.Sum("oxgang_round_stage_duration_seconds_sum", `stage="policy"`)/rounds,
		1000*m.Sum("oxgang_round_stage_duration_seconds_sum", `stage="apply"`)/rounds,
		m.Sum("rest_client_requests_total"), m.Sum("rest_client_requests_total", `code="409"`),
		m.Sum("process_cpu_seconds_total"), m.Sum("process_resident_memory_bytes")/1e6)
	l.believes(e)
}
