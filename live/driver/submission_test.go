package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
)

// A diary is an Observer that writes down rounds and starts, by the time since the backend began, and
// complains of what submission rounds must not do.
type diary struct {
	*testing.T
	begun     time.Time
	regular   time.Duration // between regular rounds
	rounds    []time.Duration
	starts    map[job.ID]time.Duration
	extra     int // rounds between regular ones
	disturbed []string
}

func newDiary(t *testing.T, w Backend, regular time.Duration) *diary {
	return &diary{T: t, begun: w.Now(), regular: regular, starts: map[job.ID]time.Duration{}}
}

// Event implements scheduler.Observer.
func (*diary) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (d *diary) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	at := s.Now.Sub(d.begun)
	d.rounds = append(d.rounds, at)
	submission := at%d.regular != 0
	if submission {
		d.extra++
	}
	if p.Refused != "" {
		d.Errorf("at %v: plan refused: %s", at, p.Refused)
	}
	for i, j := range s.Jobs {
		if submission && j.Holding() && p.Jobs[i].Why.Kind == policy.PinnedNonPreempt && !j.NonPreemptive {
			d.Errorf("at %v: job %s is said to be non-preemptive", at, j.ID)
		}
	}
	for _, a := range acts {
		id := a.Topic().Job
		if j := s.Job(id); j != nil && j.Holding() && submission {
			d.disturbed = append(d.disturbed, fmt.Sprintf("%v: %+v", at, a))
		}
		if _, known := d.starts[id]; !known {
			d.starts[id] = at
		}
	}
}

// submissions runs a toy backend of 8 GPUs for six minutes under a policy, while do submits jobs.
func submissions(t *testing.T, name string, do func(submit func(*job.Spec))) (*diary, *Driver) {
	t.Helper()
	nodes, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "h100", Capacity: cluster.Resources{GPUs: 4}}, {ID: "b", GPUType: "h100", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := toyOptions(t)
	o.Policy, o.Predict = name, false
	w, d := newToy(nodes), New(o)
	if err := d.Attach(w, nil); err != nil {
		t.Fatal(err)
	}
	seen := newDiary(t, w, o.Round)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, seen) }()
	do(func(j *job.Spec) {
		w.Lock()
		defer w.Unlock()
		w.submit(j)
	})
	time.Sleep(time.Until(seen.begun.Add(6*time.Minute + time.Second)))
	synctest.Wait()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v, want that it was stopped", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	return seen, d
}

// elastic returns a toy job of 1 to 4 GPUs that can be interrupted.
func elastic(id job.ID, most int) *job.Spec {
	j := toyJob(id)
	j.NonPreemptive, j.MaxGPUs, j.Target = false, most, 2000
	if most > 1 {
		j.Adaptivity = job.StrongScaling
	}
	return j
}

// A job that is submitted to idle GPUs starts within two seconds, under every policy, and no job
// that runs is disturbed by it before the next regular round. The journal replays.
func TestSubmission_starts_at_once(t *testing.T) {
	for _, entry := range registry.Policies() {
		t.Run(entry.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				came := map[job.ID]time.Duration{}
				began := time.Now()
				seen, d := submissions(t, entry.Name, func(submit func(*job.Spec)) {
					for i, at := range []time.Duration{7 * time.Second, 20 * time.Second, 75 * time.Second, 77 * time.Second} {
						time.Sleep(at - time.Since(began))
						j := elastic(job.ID(fmt.Sprintf("j%d", i)), 1+i%2)
						came[j.ID] = at
						submit(j)
					}
				})
				for id, at := range came {
					started, ok := seen.starts[id]
					most := 4 * time.Second // while no other round was a twentieth of a round before
					if id == "j0" {
						most = 2 * time.Second
					} else if !slices.Contains([]string{"oxgang", "sia", "fifo", "easy", "srtf", "las"}, entry.Name) {
						continue // some policies let a job wait for a price or a turn although GPUs are free
					}
					if wait := started - at; !ok || wait > most {
						t.Errorf("job %s started %v after its submission (started: %v), want %v at most", id, wait, ok, most)
					}
				}
				if len(seen.disturbed) > 0 {
					t.Errorf("submission rounds changed jobs that run: %v", seen.disturbed)
				}
				replays(t, d, 6)
			})
		})
	}
}

// Three hundred jobs that are submitted in a row make few rounds, and none once a job waits.
func TestSubmission_burst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, d := submissions(t, "fifo", func(submit func(*job.Spec)) {
			time.Sleep(5 * time.Second)
			for i := range 300 {
				time.Sleep(10 * time.Millisecond)
				submit(elastic(job.ID(fmt.Sprintf("j%03d", i)), 1))
			}
		})
		if seen.extra != 1 || len(seen.starts) < 8 {
			t.Errorf("%d rounds beside the regular ones, at %v, and %d starts; want 1, that fills the machine", seen.extra, seen.rounds, len(seen.starts))
		}
		replays(t, d, 6)
	})
}

// While GPUs are free, submissions are planned together: at most twenty times a round.
func TestSubmission_rounds_are_apart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, _ := submissions(t, "fifo", func(submit func(*job.Spec)) {
			for i := range 7 {
				time.Sleep(time.Second)
				submit(elastic(job.ID(fmt.Sprintf("j%d", i)), 1))
			}
		})
		want := []time.Duration{1500 * time.Millisecond, 4500 * time.Millisecond, 7500 * time.Millisecond}
		if diff := cmp.Diff(want, seen.rounds[:3]); diff != "" || seen.extra != 3 {
			t.Errorf("%d rounds beside the regular ones: %s", seen.extra, diff)
		}
	})
}

// A job does not pass one that a regular round let wait: here the second, which wants all 8 GPUs.
func TestSubmission_passes_nobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wide := elastic("wide", 1)
		wide.GPUs, wide.MinGPUs, wide.MaxGPUs = 8, 8, 8
		seen, _ := submissions(t, "srtf", func(submit func(*job.Spec)) {
			time.Sleep(time.Second)
			first := elastic("first", 1)
			first.NonPreemptive = true
			submit(first)
			time.Sleep(10 * time.Second)
			submit(wide)
			time.Sleep(time.Minute)
			submit(elastic("late", 1))
		})
		if at := seen.starts["late"]; at < 2*time.Minute {
			t.Errorf("a job that came at 1m11s started at %v, past one that waits; want at the next regular round at the earliest", at)
		}
	})
}

// While all GPUs are held there is nothing to plan.
func TestSubmission_needs_free_GPUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, _ := submissions(t, "fifo", func(submit func(*job.Spec)) {
			for i := range 8 {
				submit(elastic(job.ID(fmt.Sprintf("j%d", i)), 1))
			}
			time.Sleep(20 * time.Second)
			submit(elastic("late", 1))
		})
		if seen.extra != 1 {
			t.Errorf("%d rounds beside the regular ones, at %v, want 1, for the first 8 jobs", seen.extra, seen.rounds)
		}
	})
}
