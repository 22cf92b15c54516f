package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// A theatre is a real Slurm of two nodes of four GPUs, with a scheduler in mode resize.
type theatre struct {
	*slurmtest.Rig
	t     *testing.T
	gpus  int // of a node
	dir   string
	jobs  map[string]client.ID
	stop  context.CancelFunc
	gone  chan error
	bad   chan string   // what the checker has found
	limit time.Duration // of jobs
	with  func(*Config) // changes the configuration of its schedulers
}

// program is what a worker does: until the notice, or until the file done is there, it holds a lock that
// only one start of the job can have.
const program = `if [ "$RANK" = 0 ]; then
  exec 9>DIR/NAME.lock; flock -n 9 || echo "NAME runs twice" >>DIR/wrong
  echo "$OXGANG_GENERATION $WORLD_SIZE" >>DIR/NAME.starts
fi
while :; do
  [ ! -e DIR/NAME.done ] || exit 0
  [ ! -e "$OXGANG_NOTICE" ] || exit 75
  sleep 0.2
done`

// newTheatre starts it without accounting. with changes the configuration of its schedulers.
func newTheatre(t *testing.T, with func(*Config)) *theatre { return newTheatreOf(t, false, with) }

// newTheatreOf starts it, with accounting or without.
func newTheatreOf(t *testing.T, accounting bool, with func(*Config)) *theatre {
	return newTheatreOn(t, slurmtest.Options{
		Groups: []slurmtest.Group{{Prefix: "a", Nodes: 2, Type: "a100", GPUs: 4}}, Lines: []string{"KillWait=5", "SlurmctldTimeout=10", "MinJobAge=3600"},
		Accounting: accounting,
	}, 4, with)
}

// newTheatreOn starts it on other nodes, of so many GPUs each.
func newTheatreOn(t *testing.T, nodes slurmtest.Options, gpus int, with func(*Config)) *theatre {
	r := slurmtest.Start(t, nodes)
	th := &theatre{Rig: r, t: t, gpus: gpus, dir: t.TempDir(), jobs: map[string]client.ID{}, bad: make(chan string, 1), with: with, limit: time.Hour}
	if err := os.Chmod(th.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	go th.check(t.Context())
	th.lead()
	return th
}

// check reads, by scontrol alone, that no GPU is held twice and no job runs twice.
func (th *theatre) check(ctx context.Context) {
	c := th.Client()
	c.Text = true
	for ctx.Err() == nil {
		jobs, err := c.Jobs(ctx)
		held, runs := map[string]int{}, map[client.ID]bool{}
		for i := range jobs {
			if j := &jobs[i]; j.State == client.Running {
				over := false
				for _, h := range j.HeldGPUs {
					held[h.Node] += h.GPUs.Total()
					over = over || held[h.Node] > th.gpus
				}
				if runs[j.ID] || over {
					th.bad <- fmt.Sprintf("job %d runs, and %v are held", j.ID, held)
					return
				}
				runs[j.ID] = true
			}
		}
		if err != nil {
			time.Sleep(time.Second) // slurmctld is down
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// lead starts a scheduler.
func (th *theatre) lead() {
	c := config()
	c.Partition, c.Mode, c.Policy, c.Settings = "all", resize, "afs", map[string]string{"steady": "false"}
	c.Round, c.Poll, c.Grace, c.Commands = 2*time.Second, time.Second, 10*time.Second, 1000
	th.with(c)
	s := &Service{Slurm: th.Client(), Tool: "test", Log: slog.New(slog.NewTextHandler(th.t.Output(), nil)), Read: func() (*Config, error) { return c, nil }}
	ctx, stop := context.WithCancel(context.Background())
	th.stop, th.gone = stop, make(chan error, 1)
	gone := th.gone
	go func() { gone <- s.drive(ctx, c) }()
}

func (th *theatre) kill() {
	th.stop()
	if err := <-th.gone; !errors.Is(err, context.Canceled) {
		th.t.Errorf("the scheduler ends with %v", err)
	}
}

// submit submits an elastic job.
func (th *theatre) submit(name string, least, most int) {
	th.t.Helper()
	text := strings.NewReplacer("DIR", th.dir, "NAME", name).Replace(program)
	th.give(name, least, most, "", "bash", "-c", text)
}

// give submits an elastic job of a command, whose program has a token if it is not empty.
func (th *theatre) give(name string, least, most int, token string, command ...string) {
	th.t.Helper()
	j := client.ElasticJob{
		Request: client.Request{Part: client.Elastic, Min: least, Max: most}, Command: command, Token: token,
		Name: name, Output: filepath.Join(th.dir, name+".out"), Grace: 10 * time.Second, Limit: th.limit,
	}
	script, err := j.Script()
	if err != nil {
		th.t.Fatal(err)
	}
	options, err := j.Options(th.gpus)
	if err != nil {
		th.t.Fatal(err)
	}
	id, err := th.Client().Submit(th.t.Context(), script, append(options, "--chdir="+th.dir)...)
	if err != nil {
		th.t.Fatal(err)
	}
	th.jobs[name] = id
}

// wants waits until the program of a job runs with so many workers.
func (th *theatre) wants(what string, runs map[string]int) {
	th.t.Helper()
	begin, now := time.Now(), ""
	if err := th.await(what, runs, &now); err != nil {
		th.t.Fatalf("%s: %v; %s\n%s%s", what, err, now, th.outputs(), th.Call(th.t, "scontrol", "show", "job"))
	}
	th.t.Logf("%s: %v after %v", what, runs, time.Since(begin).Round(100*time.Millisecond))
	th.unharmed(what)
}

// unharmed fails the test if a job ran twice, or a GPU was held twice.
func (th *theatre) unharmed(what string) {
	th.t.Helper()
	if wrong, err := os.ReadFile(filepath.Join(th.dir, "wrong")); err == nil {
		th.t.Errorf("%s: %s", what, wrong)
	}
	select {
	case bad := <-th.bad:
		th.t.Errorf("%s: %s", what, bad)
	default:
	}
}

// await waits for some minutes: on a busy machine a slurmctld that was started again takes long to hear of its
// nodes. now says how it is.
func (th *theatre) await(what string, runs map[string]int, now *string) (err error) {
	there := func() (bool, error) {
		well := true
		for name, gpus := range runs {
			j := th.Job(th.t, th.jobs[name])
			starts, _ := os.ReadFile(filepath.Join(th.dir, name+".starts"))
			last := strings.Fields("0 0 " + string(starts))
			size := last[len(last)-1]
			well = well && j.State == client.Running && j.GPUs.Total() == gpus && size == fmt.Sprint(gpus)
			*now = fmt.Sprintf("%s: %s, %s, %d GPUs, its program has %s", name, j.State, j.Reason, j.GPUs.Total(), size)
		}
		return well, nil
	}
	for range 3 {
		if err = slurmtest.Await(th.t.Context(), what, there); err == nil {
			break
		}
	}
	return err
}

func (th *theatre) outputs() (all string) {
	files, _ := filepath.Glob(filepath.Join(th.dir, "*.out"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all += f + ":\n" + string(text)
	}
	return all
}

// On a real Slurm elastic jobs grow, shrink and go on, over everything that goes wrong: no job runs twice,
// none is lost, and no GPU is held twice.
func TestRig_resize(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: seven scenes on a real Slurm")
	}
	th := newTheatre(t, func(*Config) {})
	th.submit("a", 1, 8)
	th.wants("it grows", map[string]int{"a": 8})
	th.submit("b", 4, 4)
	th.wants("it shrinks for another", map[string]int{"a": 4, "b": 4})
	th.kill()
	th.lead()
	th.Call(t, "scontrol", "requeue", th.jobs["b"].String())
	th.wants("the scheduler is killed, and somebody requeues a job", map[string]int{"a": 4, "b": 4})
	if err := errors.Join(th.Signal("slurmctld", syscall.SIGKILL), th.StartController(t.Context())); err != nil {
		t.Fatal(err)
	}
	th.Call(t, "scancel", th.jobs["b"].String())
	th.wants("slurmctld is killed, and a user cancels a job", map[string]int{"a": 8})
	if err := th.Signal("slurmd-a2", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	th.Call(t, "scontrol", "update", "NodeName=a2", "State=DOWN", "Reason=test")
	th.wants("a node is down", map[string]int{"a": 4})
	if err := th.StartNode("a2"); err != nil {
		t.Fatal(err)
	}
	th.Call(t, "scontrol", "update", "NodeName=a2", "State=RESUME")
	th.wants("it is there again", map[string]int{"a": 8})
	first := th.gone
	th.lead()
	th.submit("c", 4, 4)
	th.wants("two schedulers", map[string]int{"a": 4, "c": 4})
	if err := <-first; err == nil || !strings.Contains(err.Error(), "another scheduler") {
		t.Errorf("the first scheduler ends with %v", err)
	}
	for _, name := range []string{"a", "c"} {
		if err := os.WriteFile(filepath.Join(th.dir, name+".done"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		th.Until(t, th.jobs[name], "its end", func(j *client.Job) bool { return j.State == client.Completed })
	}
	th.kill()
}
