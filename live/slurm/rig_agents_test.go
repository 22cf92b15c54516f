package slurm

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// python returns an interpreter that has torch, or skips the test, and sets what trainings need.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OXGANG_PYTHON")
	if path == "" {
		path = filepath.Join(testdata.Root(t), ".cache", "venv", "bin", "python")
	}
	if err := exec.Command(path, "-c", "import torch").Run(); err != nil {
		t.Skipf("%s has no torch (%v): make .cache/venv/bin/python makes one that has", path, err)
	}
	t.Setenv("PYTHONPATH", filepath.Join(testdata.Root(t), "python"))
	t.Setenv("OMP_NUM_THREADS", "1")
	t.Setenv("OXGANG_MASTER_ADDR", "127.0.0.1") // nodes of the rig have no address of their own
	return path
}

// train submits a training of python/tests/live_train.py, at 500 samples per second and GPU.
func (th *theatre) train(python, name string, least, most int, what ...string) {
	command := append([]string{python, filepath.Join(testdata.Root(th.t), "python", "tests", "live_train.py")}, what...)
	th.give(name, least, most, client.NewToken("root"), append(command, "--batch-size", "64", "--pace", "0.002")...)
}

// spoke returns what the program of a job has said to a scheduler.
func (th *theatre) spoke(name string) programState {
	text, err := os.ReadFile(filepath.Join(th.dir, "state", "agents", th.jobs[name].String()+".json"))
	var r programState
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return programState{}
	}
	return r
}

// hears waits until the program of a job has said hello with one of these numbers of workers.
func (th *theatre) hears(name string, workers ...int) programState {
	th.t.Helper()
	begin := time.Now()
	var err error
	for range 3 { // minutes, on a busy machine
		if err = slurmtest.Await(th.t.Context(), "a hello", func() (bool, error) {
			h := th.spoke(name).Hello
			return h != nil && slices.Contains(workers, h.WorldSize), nil
		}); err == nil {
			break
		}
	}
	if err != nil {
		th.t.Fatalf("%s: %v, of %v workers\n%s%s", name, err, workers, th.outputs(), th.Call(th.t, "scontrol", "show", "job"))
	}
	th.t.Logf("%s: hello of %v workers after %v", name, workers, time.Since(begin).Round(100*time.Millisecond))
	return th.spoke(name)
}

// loss waits until a job has ended well, and returns the final loss that it printed.
func (th *theatre) loss(name string) float64 {
	th.t.Helper()
	var err error
	for range 10 { // minutes, on a busy machine
		if err = slurmtest.Await(th.t.Context(), "its end", func() (bool, error) {
			j := th.Job(th.t, th.jobs[name])
			return !j.Waits() && !j.Holds(), nil
		}); err == nil {
			break
		}
	}
	text, err := os.ReadFile(filepath.Join(th.dir, name+".out"))
	if j := th.Job(th.t, th.jobs[name]); err != nil || j.State != client.Completed {
		th.t.Fatalf("%s: %s: %v\n%s", name, j.State, err, th.outputs())
	}
	return lossIn(th.t, text)
}

// lossIn returns the final loss in what a training printed.
func lossIn(t *testing.T, text []byte) float64 {
	t.Helper()
	var last struct {
		Loss *float64 `json:"final_loss"`
	}
	for line := range bytes.Lines(text) {
		_ = json.Unmarshal(line, &last) // of other lines nothing is wanted
	}
	if last.Loss == nil {
		t.Fatalf("no final loss:\n%s", text)
	}
	return *last.Loss
}

// A real training on a real Slurm says over TLS what it is and what it has done, is told to stop, saves a checkpoint,
// and goes on from there on more GPUs. A scheduler that is started anew knows it.
func TestRig_agents(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: a training on a real Slurm")
	}
	interpreter := python(t)
	th := newTheatre(t, func(*Config) {})
	state := filepath.Join(th.dir, "state")
	th.kill()
	th.with = func(c *Config) {
		c.State, c.Agents = state, Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: filepath.Join(th.dir, "share")}
	}
	other := th.Submit(t, "sleep 600", "--gres=gpu:4", "--nodes=1", "--nodelist=a2")
	half := th.Submit(t, "sleep 600", "--gres=gpu:3", "--nodes=1", "--nodelist=a1")
	for _, id := range []client.ID{other, half} {
		th.Until(t, id, "runs", func(j *client.Job) bool { return j.State == client.Running })
	}
	th.lead()
	th.train(interpreter, "a", 1, 2, "mlp", "--epochs", "12", "--samples", "1024")
	first := th.hears("a", 1)
	if want := 12 * 1024.0; first.Hello.Samples != want || first.Hello.Restored != nil {
		t.Errorf("the first hello is %+v, want %v samples, nothing restored", first.Hello, want)
	}
	th.Call(t, "scancel", half.String())
	second := th.hears("a", 2)
	if r := second.Hello.Restored; r == nil || r.Progress <= 0 || second.Hello.Generation <= first.Hello.Generation {
		t.Errorf("the second hello is %+v, want a later start that goes on from a checkpoint", second.Hello)
	}
	th.kill()
	th.lead()
	// Uninterrupted, of seed 0, and the difference between the largest and the least of seeds 0 to 4: torch 2.15, one core.
	const loss, spread = 0.2893, 0.0464
	if got := th.loss("a"); !(math.Abs(got-loss) <= spread) {
		t.Errorf("final loss %v, want %v to within %v", got, loss, spread)
	}
	out, _ := os.ReadFile(filepath.Join(th.dir, "a.out"))
	t.Logf("%s", out)
	if n := strings.Count(string(out), `"epoch": 0,`); n != 1 {
		t.Errorf("the first epoch was trained %d times, want once:\n%s", n, out)
	}
	if err := slurmtest.Await(t.Context(), "the record's end", func() (bool, error) { return th.spoke("a").Hello == nil, nil }); err != nil {
		t.Error(err)
	}
	th.kill()
}

// A program on a real Slurm that has a token and never speaks is noticed, once it has run so long, and that is said where people
// look; another that has none is not.
func TestRig_silence(t *testing.T) {
	th := newTheatre(t, func(*Config) {})
	th.kill()
	th.with = func(c *Config) {
		c.State = filepath.Join(th.dir, "state")
		c.Agents = Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: filepath.Join(th.dir, "share"), Silence: 5 * time.Second}
	}
	th.lead()
	th.give("mute", 1, 1, client.NewToken("root"), "sleep", "600")
	th.give("plain", 1, 1, "", "sleep", "600")
	th.Until(t, th.jobs["mute"], "the mark", func(j *client.Job) bool { return strings.Contains(j.AdminComment, "silent") })
	look, err := view.Take(t.Context(), th.Client(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	noted := map[string]string{}
	for _, j := range view.StatusOf(look, nil, "not asked").Jobs {
		noted[j.Name] = j.Trouble
	}
	if !strings.Contains(noted["mute"], "has sent no messages") || noted["plain"] != "" {
		t.Errorf("told %q, want that mute says nothing, alone", noted)
	}
	if ran := time.Since(th.Job(t, th.jobs["mute"]).Start); ran < 5*time.Second {
		t.Errorf("noticed %v after its start, want 5 s at least", ran)
	}
	th.kill()
}
