package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/history"
)

// A training is one of the examples, at the pace of an accelerator (python/tests/live_train.py).
type training struct {
	name, gpus string
	args       []string
	// loss is the final loss of an uninterrupted run of seed 0, spread the difference between
	// the largest and the least of seeds 0 to 4: of torch 2.15 on one core, by
	// python/tests/live_train.py alone. Another number of workers, a restart and a resize must not show.
	loss, spread float64
}

var trainings = map[string]training{
	"transformer": {"transformer", "2..4", []string{"transformer", "--epochs", "16", "--samples", "4096", "--width", "16"}, 2.1964, 0.3297},
	"cnn":         {"cnn", "1..4", []string{"cnn", "--epochs", "12", "--samples", "2048", "--width", "8"}, 0.0050, 0.0427},
	"mlp":         {"mlp", "1", []string{"mlp", "--epochs", "6", "--samples", "1024"}, 0.3532, 0.0252},
}

// common are the flags of all trainings: 500 samples per second and slot.
var common = []string{"--batch-size", "64", "--pace", "0.002"}

// python returns an interpreter that has torch, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	if os.Getenv("OXGANG_E2E") == "" {
		t.Skip("real trainings take minutes: make live runs them")
	}
	path := os.Getenv("OXGANG_PYTHON")
	if path == "" {
		path = filepath.Join(testdata.Root(t), ".cache", "venv", "bin", "python")
	}
	if err := exec.Command(path, "-c", "import torch").Run(); err != nil {
		t.Fatalf("%s has no torch (%v): make .cache/venv/bin/python makes one that has", path, err)
	}
	return path
}

// A box is a scheduler on four slots of this machine, and those who use it.
type box struct {
	t             *testing.T
	oxgang, state string
	python        string
	serve         *exec.Cmd
}

func newBox(t *testing.T) *box {
	b := &box{t: t, python: python(t), oxgang: filepath.Join(t.TempDir(), "oxgang"), state: filepath.Join(t.TempDir(), "s")}
	if out, err := exec.Command("go", "build", "-o", b.oxgang, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.start()
	return b
}

// start starts the scheduler, which ends with the test.
func (b *box) start() {
	b.serve = exec.Command(b.oxgang, "serve", "--state", b.state, "--slots", "4", "--round", "5s", "--report", "2s", "--grace", "30s")
	b.serve.Stderr = os.Stderr
	if err := b.serve.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.stop)
	b.await("the scheduler", func() bool { _, err := b.run("jobs"); return err == nil })
}

// stop ends all jobs and the scheduler.
func (b *box) stop() {
	for _, v := range b.jobs() {
		_, _ = b.run("cancel", string(v.ID))
	}
	_ = b.serve.Process.Signal(os.Interrupt)
	_ = b.serve.Wait()
}

func (b *box) run(args ...string) (string, error) {
	c := exec.Command(b.oxgang, args...)
	c.Env = append(os.Environ(), "OXGANG_STATE="+b.state, "PYTHONPATH="+filepath.Join(testdata.Root(b.t), "python"))
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("oxgang %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out.String(), err
}

func (b *box) must(args ...string) string {
	b.t.Helper()
	out, err := b.run(args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *box) submit(name string) string {
	b.t.Helper()
	tr := trainings[name]
	script := filepath.Join(testdata.Root(b.t), "python", "tests", "live_train.py")
	args := slices.Concat([]string{"submit", "--name", tr.name, "--gpus", tr.gpus, "--", b.python, script}, tr.args, common)
	return strings.TrimSpace(b.must(args...))
}

func (b *box) jobs(args ...string) []status.Job {
	out, err := b.run(append([]string{"jobs", "-o", "json"}, args...)...)
	var now status.Status
	if err == nil {
		err = json.Unmarshal([]byte(out), &now)
	}
	if err != nil {
		b.t.Errorf("jobs: %v", err)
	}
	return now.All()
}

// runs reports whether a job trains on so many GPUs.
func (b *box) runs(name string, gpus int) bool {
	return slices.ContainsFunc(b.jobs(), func(v status.Job) bool {
		return string(v.ID) == name && v.Phase == "running" && v.GPUs == gpus && v.Goodput > 0
	})
}

// await waits for something, and fails the test if it does not come in three minutes.
func (b *box) await(what string, holds func() bool) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Minute); !holds(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited ten minutes for %s:\n%s", what, b.must("jobs", "--all"))
		}
	}
}

// journal returns the recording of the run.
func (b *box) journal() string {
	b.t.Helper()
	all, err := filepath.Glob(filepath.Join(b.state, "journal", "*.oxj"))
	if err != nil || len(all) != 1 {
		b.t.Fatalf("journals %v (%v), want one", all, err)
	}
	return all[0]
}

// life returns what happened to a job, by kind.
func (b *box) life(name string) map[explain.What]int {
	b.t.Helper()
	f, err := os.Open(b.journal())
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		b.t.Fatal(err)
	}
	story, err := explain.Life(r, job.ID(name))
	if err != nil {
		b.t.Fatal(err)
	}
	count := map[explain.What]int{}
	for _, c := range story.Changes {
		count[c.What]++
	}
	return count
}

// ends returns the final loss that a job printed.
func (b *box) ends(name string) (loss float64) {
	b.t.Helper()
	var last struct {
		Loss *float64 `json:"final_loss"`
	}
	for line := range strings.Lines(b.must("logs", name, "-n", "5")) {
		_ = json.Unmarshal([]byte(line), &last) // of other lines nothing is wanted
	}
	if last.Loss == nil {
		b.t.Fatalf("%s: no final loss in its log:\n%s", name, b.must("logs", name, "-n", "20"))
	}
	return *last.Loss
}

// Three kinds of real trainings share four slots under the default policy; one is grown, one shrunk, one
// preempted and resumed. All end, with the losses of uninterrupted runs. The journal replays
// to the same plans, and the simulator, told what the run has learned, predicts it.
func TestLive(t *testing.T) {
	b := newBox(t)
	names := []string{b.submit("transformer")}
	b.await("the transformer to have the machine", func() bool { return b.runs("transformer", 4) })
	names = append(names, b.submit("cnn"))
	b.await("the cnn to train", func() bool { return b.runs("cnn", 1) || b.runs("cnn", 2) })
	for range 3 {
		names = append(names, b.submit("mlp"))
	}
	b.await("all to end", func() bool { return len(b.jobs()) == 0 })
	happened := map[explain.What]int{}
	for _, name := range names {
		for what, n := range b.life(name) {
			happened[what] += n
		}
		tr := trainings[strings.TrimRight(name, "-0123456789")]
		loss := b.ends(name)
		t.Logf("%s: final loss %.4f, uninterrupted %.4f, spread of seeds %.4f", name, loss, tr.loss, tr.spread)
		if !(math.Abs(loss-tr.loss) <= tr.spread) {
			t.Errorf("%s: final loss %g, want %g to within %g", name, loss, tr.loss, tr.spread)
		}
	}
	for _, v := range b.jobs("--all") {
		if v.Outcome != "done" {
			t.Errorf("%s: %s (%s), want it done", v.ID, v.Outcome, v.Detail)
		}
	}
	for _, what := range []explain.What{explain.Grown, explain.Shrunk, explain.Preempted, explain.Resumed} {
		if happened[what] == 0 {
			t.Errorf("nothing was %s: %v", what, happened)
		}
	}
	b.keep()
	out := b.must("whatif", b.journal())
	t.Logf("%v\n%s", happened, out)
	if !strings.Contains(out, ": identical") {
		t.Error("the journal does not replay to the same plans")
	}
	b.predicts()
}

// keep puts the journal beside what else the test leaves behind: go test -artifacts.
func (b *box) keep() {
	text, err := os.ReadFile(b.journal())
	if err == nil {
		err = os.WriteFile(filepath.Join(b.t.ArtifactDir(), "live.oxj"), text, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// broken is an error of the simulator that comes of a fault, not of plans that happened to go
// another way: with five jobs, where two plans are as good as each other, which of them waits
// is chance. What is wanted is 10 %; docs/experiments/live.md has what it was.
const broken = 0.5

// unsteady is a factor by which a job's rates on the same number of slots differ only if other programs keep the
// machine busy. The simulator believes one rate for each size, so it cannot predict such a run.
const unsteady = 2

// rates returns the factor between the rates of a job that nine and one in ten of its reports are below, on the
// same number of slots: the largest of any job and number with at least ten reports.
func (b *box) rates() (most float64) {
	b.t.Helper()
	f, err := os.Open(b.journal())
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, all := range ratesOf(r) {
		if slices.Sort(all); len(all) >= 10 {
			most = max(most, all[len(all)*9/10]/all[len(all)/10])
		}
	}
	return most
}

type held struct {
	job   job.ID
	slots int
}

// ratesOf returns the samples per second of each report that follows another on the same slots.
func ratesOf(r *journal.Reader) map[held][]float64 {
	last, all := map[job.ID]job.Report{}, map[held][]float64{}
	for rec, err := range r.Records() {
		if err != nil { // a run that was stopped has no end
			break
		}
		ev, ok := rec.Event.(scheduler.Reported)
		if !ok {
			continue
		}
		was, now := last[ev.Job], ev.Report
		if last[ev.Job] = now; was.Configuration == now.Configuration && now.Interval > 0 && now.Progress > was.Progress {
			at := held{ev.Job, now.Configuration.GPUs}
			all[at] = append(all[at], (now.Progress-was.Progress)/now.Interval.Seconds())
		}
	}
	return all
}

// predicts prints what the simulator says of the mean completion time, of the makespan and
// of the job in the middle, and checks that it is not broken, unless the machine was busy with other programs.
func (b *box) predicts() {
	b.t.Helper()
	var v history.Verdict
	if err := json.Unmarshal([]byte(b.must("whatif", b.journal(), "-o", "json")), &v); err != nil {
		b.t.Fatal(err)
	}
	f := v.Fidelity
	off := func(predicted, actual journal.Seconds) float64 {
		return math.Abs(float64(predicted)/float64(actual) - 1)
	}
	var jobs []float64
	for _, m := range f.Jobs {
		jobs = append(jobs, math.Abs(m.Error))
	}
	slices.Sort(jobs)
	if len(jobs) != 5 {
		b.t.Fatalf("%d jobs were compared, want 5", len(jobs))
	}
	busy := b.rates()
	b.t.Logf("rates on the same slots differ by a factor of %.2f", busy)
	for what, wrong := range map[string]float64{
		"mean completion time": off(f.PredictedJCT, f.RealJCT), "makespan": off(f.Predicted, f.Real), "job in the middle": jobs[2],
	} {
		if b.t.Logf("%s: the simulator is wrong by %.1f %% (10 are wanted)", what, 100*wrong); !(wrong <= broken) && busy < unsteady {
			b.t.Errorf("%s: want at most %.0f %%", what, 100*broken)
		}
	}
}
