package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
)

// A scene is what users do, and how many GPUs jobs run on when all has come of it.
type scene struct {
	do   func(*drama)
	runs map[string]int
}

const hours = 100 * 3600 // GPU-seconds: long

// dramas are scenes one after another on two nodes of four GPUs.
var dramas = []struct {
	name   string
	scenes []scene
}{
	{"jobs come, grow and shrink", []scene{
		{func(d *drama) { d.submit("a", "oxgang:elastic;min=2;max=8", hours) }, map[string]int{"a": 8}},
		{func(d *drama) { d.submit("b", "oxgang:elastic;min=4;max=4", hours) }, map[string]int{"a": 4, "b": 4}},
		{func(d *drama) { d.cancel("b") }, map[string]int{"a": 8}},
	}},
	{"a job is preempted and goes on", []scene{
		{func(d *drama) { d.submit("a", "oxgang:elastic;min=8;max=8", hours) }, map[string]int{"a": 8}},
		{func(d *drama) { d.foreign("f", 4) }, map[string]int{"a": 8}},
		{func(d *drama) { d.cancel("a") }, map[string]int{"f": 4}},
		{func(d *drama) { d.submit("c", "oxgang:elastic;min=2;max=8", hours) }, map[string]int{"f": 4, "c": 4}},
	}},
	{"a node is lost", []scene{
		{func(d *drama) { d.submit("a", "oxgang:elastic;min=1;max=8", hours) }, map[string]int{"a": 8}},
		{func(d *drama) { d.slurm.SetNode("n1", "DOWN") }, map[string]int{"a": 4}},
		{func(d *drama) { d.slurm.SetNode("n1", "IDLE") }, map[string]int{"a": 8}},
	}},
	{"somebody requeues a job", []scene{
		{func(d *drama) { d.submit("a", "oxgang:elastic;min=1;max=8", hours) }, map[string]int{"a": 8}},
		{func(d *drama) { _ = d.slurm.Requeue(context.Background(), d.ids["a"]) }, map[string]int{"a": 8}},
	}},
}

// A drama is a scheduler on a Slurm in memory that is killed at one of its commands.
type drama struct {
	slurm  *slurmtest.Slurm
	ids    map[string]client.ID
	policy string // none: afs, which moves jobs whenever it may

	mu     sync.Mutex
	writes int
	at     int  // the command at which it is killed; 0: at none
	after  bool // when it was done
	dead   bool
	stop   context.CancelFunc
	gone   chan error
}

// errKilled is what one that was killed does not hear any more.
var errKilled = errors.New("killed")

// play plays scenes, and returns what was wrong, and how many commands there were.
func (d *drama) play(t *testing.T, scenes []scene) (wrong string, writes int) {
	d.slurm, d.ids = twoNodes(), map[string]client.ID{}
	d.slurm.Before = func(string) error { return d.hear(false) }
	d.slurm.After = func(string) error { return d.hear(true) }
	d.lead(t)
	defer func() { _ = d.end() }()
	for i, s := range scenes {
		s.do(d)
		if !d.comes(t, s.runs) {
			return fmt.Sprintf("scene %d does not come to its end: %v, want %v\n%s", i, d.running(), s.runs, d.told()), 0
		}
	}
	if err := d.slurm.Wrong(); err != nil {
		return err.Error(), 0
	}
	return "", d.writes
}

// lead starts a scheduler.
func (d *drama) lead(t *testing.T) {
	w := open(t, d.slurm)
	name, settings := "afs", map[string]string{"steady": "false"}
	if d.policy != "" {
		name, settings = d.policy, nil
	}
	p, err := registry.New(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("best-fit", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := scheduler.DefaultOptions()
	o.Round, o.Profile, o.OnSubmit = 10*time.Second, false, true
	sched, err := scheduler.New(p, placer, w.Cluster(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	d.stop, d.gone = stop, make(chan error, 2)
	gone := d.gone
	go func() { gone <- w.Execute(ctx) }()
	go func() { gone <- sched.Run(ctx, w, w) }()
}

func (d *drama) end() error {
	d.stop()
	return errors.Join(<-d.gone, <-d.gone)
}

// hear is told of a command, before and after it is done.
func (d *drama) hear(after bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !after && !d.dead {
		d.writes++
	}
	if !d.dead && d.at > 0 && d.writes == d.at && after == d.after {
		d.dead = true
		d.stop()
	}
	if d.dead {
		return errKilled
	}
	return nil
}

// comes lets time pass until the jobs run that are to, and three rounds more. A scheduler that was
// killed is started again.
func (d *drama) comes(t *testing.T, runs map[string]int) bool {
	for i, well := 0, 0; i < 900; i++ {
		time.Sleep(time.Second)
		d.mu.Lock()
		dead := d.dead
		d.mu.Unlock()
		if dead {
			_ = d.end()
			d.dead, d.at = false, 0
			d.lead(t)
		}
		if well++; !maps.Equal(d.running(), runs) {
			well = 0
		}
		if well > 30 {
			return true
		}
	}
	return false
}

// running returns on how many GPUs jobs run, by name.
func (d *drama) running() map[string]int {
	n := map[string]int{}
	for name, id := range d.ids {
		if j := d.slurm.Job(id); j.State == client.Running {
			n[name] = j.GPUs.Total()
		}
	}
	return n
}

// told says how the jobs are.
func (d *drama) told() string {
	var all []string
	for name, id := range d.ids {
		j := d.slurm.Job(id)
		all = append(all, fmt.Sprintf("%s: %s %s mark %q starts %q", name, j.State, j.Reason, j.AdminComment, j.Starts))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (d *drama) submit(name, comment string, work float64) {
	d.ids[name] = d.slurm.Submit(slurmtest.Ask{Name: name, Comment: comment, Work: work, Limit: 24 * time.Hour})
}

func (d *drama) foreign(name string, gpus int) {
	d.ids[name] = d.slurm.Submit(slurmtest.Ask{Name: name, PerNode: gpus, Work: hours})
}

func (d *drama) cancel(name string) { _ = d.slurm.Cancel(context.Background(), d.ids[name]) }

// The policy that mode resize has by default brings all scenes to their ends, too.
func TestDefault_policy(t *testing.T) {
	for _, c := range dramas {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := drama{policy: "oxgang"}
				if wrong, _ := d.play(t, c.scenes); wrong != "" {
					t.Error(wrong)
				}
			})
		})
	}
}

// Wherever the scheduler is killed, before a command and, knowing nothing of it, after it was done, the
// jobs come to what they come to without, none is lost, and no GPU is given twice. In short one drama is
// enough. Source: reliability, fault F1.
func TestCrash(t *testing.T) {
	for i, c := range dramas {
		if i > 0 && testing.Short() {
			break
		}
		t.Run(c.name, func(t *testing.T) {
			writes := 0
			t.Run("without", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var wrong string
					if wrong, writes = new(drama).play(t, c.scenes); wrong != "" || writes == 0 {
						t.Fatal(wrong)
					}
				})
			})
			for i := range 2 * writes {
				at, after := i/2+1, i%2 == 1
				if !after && os.Getenv("OXGANG_LONG") == "" {
					continue
				}
				t.Run(fmt.Sprintf("command %d, done %v", at, after), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						d := drama{at: at, after: after}
						if wrong, _ := d.play(t, c.scenes); wrong != "" {
							t.Error(wrong)
						}
					})
				})
			}
		})
	}
}
