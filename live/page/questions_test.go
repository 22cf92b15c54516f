package page

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/chromium"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A night has all that somebody on call asks for: a full cluster, a job that waits, one that failed, one that is idle, and a closed node.
type night struct{ *Watched }

func (night) Log(_ context.Context, _ job.ID, w io.Writer) error {
	_, err := io.WriteString(w, "RuntimeError: CUDA out of memory")
	return err
}

func nightOf(t *testing.T, backend status.Backend) night {
	t.Helper()
	now := time.Now()
	s := &status.Status{
		Backend: backend, Title: "night", At: now, Policy: "oxgang", GPUs: []status.GPUs{{Type: "a100", Total: 16, Held: 8, Unusable: 8}},
		Nodes: []status.Node{{Name: "n1", Type: "a100", GPUs: 8, Used: 8, Held: []status.Holder{{Job: "holds", GPUs: 8}}}, {Name: "n2", Type: "a100", GPUs: 8, Closed: "drained: bad memory"}},
		Jobs: []status.Job{
			{ID: "holds", User: "ada", Phase: "running", GPUs: 8, GPUType: "a100", Since: now.Add(-time.Hour), Nodes: []status.Share{{Node: "n1", GPUs: 8}}, Trouble: "holds 8 a100 GPUs that have been idle for 42m", End: status.Range{Early: now.Add(time.Hour), Late: now.Add(2 * time.Hour), Probability: 0.8}},
			{ID: "waits", User: "bob", Phase: "waiting", MinGPUs: 4, MaxGPUs: 4, Submitted: now.Add(-30 * time.Minute), Since: now.Add(-30 * time.Minute), Sentence: "it needs 4 a100 GPUs, and none is free", Unblock: "the end of job holds", Start: status.Range{Early: now.Add(time.Hour), Likely: now.Add(time.Hour), Late: now.Add(2 * time.Hour)}},
		},
		Ended: []status.Job{{ID: "failed", User: "eve", Phase: "failed", Outcome: "failed", Finished: now.Add(-5 * time.Minute), Detail: "worker 0: exit code 137"}},
	}
	w := NewWatched(func(context.Context) (*status.Status, error) { return s, nil })
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	return night{w}
}

// The questions of docs/guide/on-call.md have their answer on the first screen, or after one click on a job, for each backend.
func TestBrowser_answers_on_call(t *testing.T) {
	ctx := chromium.Open(t)
	for _, backend := range []status.Backend{status.Machine, status.Kubernetes, status.Slurm, status.Journal} {
		s, _ := served(t, nightOf(t, backend))
		s.feed.look(t.Context())
		open, _, _ := strings.Cut(s.URL(), "?")
		does(ctx, t, chromedp.EmulateViewport(1280, 1200), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
		for question, q := range map[string]struct{ click, at, want string }{
			"is the cluster full?":            {"", "#sentence", "All 8 GPUs are held and 1 job waits"},
			"why does a job wait?":            {"", "#waiting", "it needs 4 a100 GPUs, and none is free"},
			"for how long does it wait?":      {"", "#waiting", "(30 min)"},
			"when does it start?":             {"", "#waiting", "\u2248 "},
			"what would help?":                {"#waiting a", "#job", "the end of job holds"},
			"what holds the GPUs?":            {"", "#nodes", "holds"},
			"whose job is that?":              {"", "#running", "ada"},
			"which job failed, and why?":      {"", "#attention", "worker 0: exit code 137"},
			"what did it print?":              {"#attention a[data-job=failed]", "#job", "CUDA out of memory"},
			"which node is closed, and why?":  {"", "#attention", "n2 starts no jobs: drained: bad memory"},
			"does a job leave its GPUs idle?": {"", "#attention", "idle for 42m"},
			"does the scheduler answer?":      {"", "#facts", "live \u00b7 "},
		} {
			var text string
			actions := []chromedp.Action{chromedp.Navigate("about:blank"), chromedp.Navigate(open), chromedp.WaitVisible(ready)}
			if q.click != "" {
				actions = append(actions, chromium.Steady(chromedp.Click(q.click)), chromedp.WaitVisible("#job-title"))
			}
			if does(ctx, t, append(actions, chromedp.Text(q.at, &text))...); !strings.Contains(text, q.want) {
				t.Errorf("%s: %s %s shows %q, want %q", backend, question, q.at, text, q.want)
			}
		}
	}
}
