package slurm

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A training is one of the examples. The final loss is from an uninterrupted run with seed 0, and spread is the
// range over seeds 0 to 4 (torch 2.15, one core, python/tests/live_train.py). Workers, restarts and resizes must
// not change it.
type training struct {
	least, most  int
	args         []string
	loss, spread float64
}

var trainings = map[string]training{
	"long": {2, 4, []string{"mlp", "--epochs", "60", "--samples", "4096"}, 0.0080, 0.0042},
	"cnn":  {1, 4, []string{"cnn", "--epochs", "12", "--samples", "2048", "--width", "8"}, 0.0050, 0.0427},
	"pair": {2, 2, []string{"mlp", "--epochs", "6", "--samples", "1024"}, 0.3532, 0.0252},
	"mlp":  {1, 1, []string{"mlp", "--epochs", "6", "--samples", "1024"}, 0.3532, 0.0252},
}

// trainingOf returns what a job trains: mlp-2 is an mlp.
func trainingOf(name string) training { return trainings[strings.TrimRight(name, "-0123456789")] }

// Trainings of real programs on a real Slurm, under the policy of mode resize, are grown, shrunk, preempted and resumed
// for each other. All end, with the losses of uninterrupted runs, and the journal replays to the same plans.
func TestRig_trainings(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: seven trainings on a real Slurm")
	}
	interpreter := python(t)
	th := newTheatre(t, func(*Config) {})
	th.kill()
	state := filepath.Join(th.dir, "state")
	th.with = func(c *Config) {
		c.State, c.Agents = state, Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: filepath.Join(th.dir, "share")}
		c.Policy, c.Settings, c.Round, c.Grace = "", nil, 5*time.Second, 30*time.Second // the default policy
	}
	other := th.Submit(t, "sleep 3600", "--gres=gpu:4", "--nodes=1", "--nodelist=a2")
	th.Until(t, other, "runs", func(j *client.Job) bool { return j.State == client.Running })
	th.lead()
	t.Cleanup(func() { th.tell(state) })
	var names []string
	submit := func(name string) {
		tr := trainingOf(name)
		th.train(interpreter, name, tr.least, tr.most, tr.args...)
		names = append(names, name)
	}
	submit("pair")
	th.hears("pair", 2)
	submit("long")
	th.hears("long", 2)
	th.hears("long", 4) // when the pair has ended
	submit("cnn")
	th.hears("cnn", 1, 2)
	th.limit = 2 * time.Minute // that they are short is believed from the beginning
	for _, name := range []string{"mlp", "mlp-2", "mlp-3", "mlp-4"} {
		submit(name)
	}
	th.end(names...)
	for _, name := range names {
		if err := slurmtest.Await(t.Context(), "the record's end", func() (bool, error) { return th.spoke(name).Hello == nil, nil }); err != nil {
			t.Error(err)
		}
	}
	th.kill()
	th.unharmed("trainings")
	happened := th.lives(state)
	t.Logf("what happened: %v", happened)
	for _, what := range []explain.What{explain.Grown, explain.Shrunk, explain.Preempted, explain.Resumed} {
		if happened[what] == 0 {
			t.Errorf("nothing was %s: %v", what, happened)
		}
	}
	th.replays(state)
}

// end waits until trainings have ended, with the losses that they have uninterrupted.
func (th *theatre) end(names ...string) {
	th.t.Helper()
	for _, name := range names {
		tr, loss := trainingOf(name), th.loss(name)
		th.t.Logf("%s: final loss %.4f, uninterrupted %.4f, spread of seeds %.4f; %d starts", name, loss, tr.loss, tr.spread, th.Job(th.t, th.jobs[name]).Restarts+1)
		if !(math.Abs(loss-tr.loss) <= tr.spread) {
			th.t.Errorf("%s: final loss %g, want %g to within %g", name, loss, tr.loss, tr.spread)
		}
	}
}

// recorded calls f with the journal of a state directory, of which only the header has been read.
func (th *theatre) recorded(state string, f func(*journal.Reader)) {
	th.t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "journals", "*"))
	if err != nil || len(files) == 0 {
		th.t.Fatalf("journals %v, %v, want one", files, err)
	}
	parts, err := driver.JournalParts(files[len(files)-1])
	if err != nil {
		th.t.Fatal(err)
	}
	file, err := driver.OpenJournal(nil, parts...)
	if err != nil {
		th.t.Fatal(err)
	}
	defer file.Close()
	r, err := file.Start()
	if err != nil {
		th.t.Fatal(err)
	}
	f(r)
}

// tell keeps the journals of a test that failed, and says what happened to each job, and why.
func (th *theatre) tell(state string) {
	if !th.t.Failed() {
		return
	}
	th.stop()
	select {
	case err := <-th.gone:
		th.t.Logf("the scheduler ends with %v", err)
	case <-time.After(time.Minute): // it had ended before
	}
	th.t.Logf("journals and records: %s", keep(th.t, state))
	for name, id := range th.jobs {
		th.recorded(state, func(r *journal.Reader) {
			story, err := explain.Life(r, job.ID(id.String()))
			if err == nil {
				th.t.Log(name)
				err = story.WriteText(th.t.Output())
			}
			if err != nil {
				th.t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// keep copies a folder to where it stays, and returns that.
func keep(t *testing.T, folder string) string {
	kept, err := os.MkdirTemp("", "oxgang-rig-") //nolint:usetesting // it stays after the test
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(folder))
	}
	if err != nil {
		t.Errorf("state is not kept: %v", err)
	}
	return kept
}

// lives returns what happened to the jobs, by kind.
func (th *theatre) lives(state string) map[explain.What]int {
	th.t.Helper()
	count := map[explain.What]int{}
	for id := range maps.Values(th.jobs) {
		th.recorded(state, func(r *journal.Reader) {
			story, err := explain.Life(r, job.ID(id.String()))
			if err != nil {
				th.t.Fatal(err)
			}
			for _, c := range story.Changes {
				count[c.What]++
			}
		})
	}
	return count
}

// replays fails the test unless the journal replays to the same plans.
func (th *theatre) replays(state string) {
	th.t.Helper()
	th.recorded(state, func(r *journal.Reader) {
		h := r.Header()
		again, err := run.Again(&h, "", run.Files{})
		if err != nil {
			th.t.Fatal(err)
		}
		got, err := whatif.Replay(th.t.Context(), r, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler})
		if err != nil || got.First != nil || got.Rounds == 0 {
			th.t.Fatalf("replayed %+v, %v, want the same plans", got, err)
		}
		th.t.Logf("replayed: %d rounds, %d actions, identical", got.Rounds, got.Asked)
	})
}
