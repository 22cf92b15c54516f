package allocate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// A scenario is jobs before pools, and what they are to get.
type scenario struct {
	name string
	jobs []allocate.Job
	c    allocate.Capacity
	want []allocate.Grant
}

// play compares what the jobs of each scenario get.
func play(t *testing.T, o allocate.Options, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if d := cmp.Diff(s.want, must(t, s.jobs, s.c, o).Grants); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func runs(own, loaned int) allocate.Grant {
	return allocate.Grant{Has: allocate.Workers{own, loaned}, Why: allocate.Runs}
}

// waits are the grants of jobs that get nothing.
var (
	noRoom = allocate.Grant{Why: allocate.NoRoom}
	behind = allocate.Grant{Why: allocate.Behind}
)

// elastic is a job of two to four workers of one GPU each that has so many.
func elastic(id job.ID, work time.Duration, has int) allocate.Job {
	return allocate.Job{ID: id, GPUs: 1, Min: 2, Max: 4, Work: work, Has: allocate.Workers{has}}
}

// A job that does not fit holds up all behind it, on both sides, whatever they need. Source:
// Lyra §7.1, "a FIFO cluster scheduler".
func TestAllocate_FIFO(t *testing.T) {
	o := allocate.DefaultOptions()
	o.Order, o.Growth = allocate.FIFO, allocate.None
	fungible := rigid("b", 1, hour)
	fungible.Fungible = true
	play(t, o, []scenario{
		{"as given, not by length", []allocate.Job{rigid("a", 4, 2*hour), rigid("b", 4, hour)}, loan(4, 0), []allocate.Grant{runs(1, 0), noRoom}},
		{"what does not fit holds up the others", []allocate.Job{rigid("a", 5, hour), rigid("b", 4, hour), rigid("c", 5, hour)}, loan(4, 0), []allocate.Grant{noRoom, behind, behind}},
		{"on both sides", []allocate.Job{rigid("a", 5, hour), fungible}, loan(4, 12), []allocate.Grant{noRoom, behind}},
		{"but not if it can never fit", []allocate.Job{rigid("a", 65, hour), rigid("b", 4, hour)}, loan(4, 0), []allocate.Grant{noRoom, runs(1, 0)}},
		{"nor those that run", []allocate.Job{rigid("a", 5, hour), elastic("b", hour, 2)}, loan(4, 0), []allocate.Grant{noRoom, runs(2, 0)}},
	})
}

// Elastic jobs prefer training as inelastic ones do, and what is free there: not all they could
// have on loan. Source: Lyra §7.2, Table 6, "places them to training servers first just like
// inelastic jobs".
func TestAllocate_training_first(t *testing.T) {
	may := fungible(elastic("a", hour, 0))
	lent := may
	lent.Has = allocate.Workers{0, 2}
	play(t, allocate.Options{TrainingFirst: true}, []scenario{
		{"on training", []allocate.Job{may}, loan(3, 12), []allocate.Grant{runs(3, 0)}},
		{"on loan if it does not fit", []allocate.Job{may}, loan(1, 12), []allocate.Grant{runs(0, 4)}},
		{"who runs on loan stays", []allocate.Job{lent}, loan(9, 3), []allocate.Grant{runs(0, 3)}},
	})
	play(t, allocate.Options{}, []scenario{
		{"otherwise on loan", []allocate.Job{may}, loan(3, 12), []allocate.Grant{runs(0, 4)}},
	})
}

// Source: Lyra §7.3, "without elastic scaling".
func TestAllocate_no_growth(t *testing.T) {
	play(t, allocate.Options{Growth: allocate.None}, []scenario{
		{"base demand", []allocate.Job{elastic("a", hour, 0), elastic("b", hour, 2), elastic("c", hour, 4)}, loan(9, 9), []allocate.Grant{runs(2, 0), runs(2, 0), runs(2, 0)}},
	})
}

// Source: Lyra §7.1, "the period when there are available resources but no pending jobs".
func TestAllocate_Gandiva(t *testing.T) {
	play(t, allocate.Options{Growth: allocate.Gandiva}, []scenario{
		{"one worker at a time, in turn", []allocate.Job{elastic("a", hour, 2), elastic("b", 9*hour, 2)}, loan(3, 0), []allocate.Grant{runs(4, 0), runs(3, 0)}},
		{"who has more keeps it", []allocate.Job{elastic("a", hour, 2), elastic("b", hour, 4)}, loan(1, 0), []allocate.Grant{runs(3, 0), runs(4, 0)}},
		{"nobody grows while a job waits", []allocate.Job{elastic("a", hour, 2), rigid("b", 4, hour)}, loan(3, 0), []allocate.Grant{runs(2, 0), noRoom}},
		{"nor shrinks in vain", []allocate.Job{elastic("a", hour, 4), rigid("b", 4, hour)}, loan(1, 0), []allocate.Grant{runs(4, 0), noRoom}},
		{"extra workers make room", []allocate.Job{elastic("a", hour, 4), elastic("b", hour, 4), rigid("c", 3, hour), rigid("d", 9, 2*hour)}, loan(0, 0), []allocate.Grant{runs(3, 0), runs(2, 0), runs(1, 0), noRoom}},
	})
}

// With linear speed all gain the same by a worker: the job that ends first grows first. Source:
// Lyra §7.1, "the largest throughput gain per GPU"; AFS §4, of two equals the shorter.
func TestAllocate_AFS(t *testing.T) {
	slow, small := elastic("a", hour, 2), elastic("c", 3*hour, 2)
	slow.Speed = allocate.Lossy(2, 0.2)
	small.GPUs = 2
	single := allocate.Job{ID: "d", GPUs: 1, Min: 1, Max: 3, Work: 9 * hour, Has: allocate.Workers{1}, Speed: allocate.Lossy(1, 0.2)}
	play(t, allocate.Options{Growth: allocate.AFS}, []scenario{
		{"the shorter first", []allocate.Job{elastic("a", 2*hour, 2), elastic("b", hour, 2)}, loan(3, 0), []allocate.Grant{runs(3, 0), runs(4, 0)}},
		{"though the other has more", []allocate.Job{elastic("a", 2*hour, 4), elastic("b", hour, 2)}, loan(0, 0), []allocate.Grant{runs(2, 0), runs(4, 0)}},
		{"of equals the first", []allocate.Job{elastic("a", hour, 0), elastic("b", hour, 0)}, loan(5, 0), []allocate.Grant{runs(3, 0), runs(2, 0)}},
		{"the larger gain", []allocate.Job{slow, elastic("b", 2*hour, 2)}, loan(3, 0), []allocate.Grant{runs(3, 0), runs(4, 0)}},
		{"rounding decides nothing", []allocate.Job{single, slow}, loan(1, 0), []allocate.Grant{runs(1, 0), runs(3, 0)}},
		{"per GPU", []allocate.Job{small, elastic("b", 4*hour, 2)}, loan(3, 0), []allocate.Grant{runs(3, 0), runs(3, 0)}},
		{"base demands first", []allocate.Job{elastic("a", hour, 4), rigid("b", 2, 9*hour)}, loan(0, 0), []allocate.Grant{runs(2, 0), runs(1, 0)}},
	})
}

// Whoever grows one by one stops only where nothing fits.
func TestAllocate_property_one_by_one_to_the_last(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, c := crowd(t)
		for i := range jobs {
			jobs[i].MixedSpeed = 1
		}
		growth := rapid.SampledFrom([]allocate.Growth{allocate.Gandiva, allocate.AFS}).Draw(t, "growth")
		plan, err := allocate.Allocate(context.Background(), jobs, c, allocate.Options{Growth: growth})
		if err != nil {
			t.Fatal(err)
		}
		idle := growth == allocate.Gandiva && (!all(plan.Grants) || anyStarts(jobs))
		for i, g := range plan.Grants {
			if !idle && g.Why == allocate.Runs && g.Has.Total() < jobs[i].Max && room(&jobs[i], g, plan.Left) {
				t.Fatalf("job %+v gets %+v, left are %+v", jobs[i], g, plan.Left)
			}
		}
	})
}

// Plan after plan is what a new Allocator would make of it, and the earlier ones stay as they
// were.
func TestAllocator_property_remembers_nothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a allocate.Allocator
		var plans, fresh [3]*allocate.Plan
		for k := range plans {
			jobs, c := crowd(t)
			o := rules(t)
			var errs [2]error
			plans[k], errs[0] = a.Allocate(context.Background(), jobs, c, o)
			fresh[k], errs[1] = allocate.Allocate(context.Background(), jobs, c, o)
			if err := errors.Join(errs[:]...); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(fresh, plans); d != "" {
			t.Fatalf("-new +used\n%s", d)
		}
	})
}

// all says that all jobs run.
func all(grants []allocate.Grant) bool {
	return !slices.ContainsFunc(grants, func(g allocate.Grant) bool { return g.Why != allocate.Runs })
}

// anyStarts says that a heterogeneous job waits, which others decide before.
func anyStarts(jobs []allocate.Job) bool {
	return slices.ContainsFunc(jobs, func(j allocate.Job) bool { return j.Heterogeneous && j.Has.Total() == 0 })
}

// room says that one more worker of j would fit where it may be.
func room(j *allocate.Job, g allocate.Grant, c allocate.Capacity) bool {
	for s := range c {
		if (j.Heterogeneous || g.Has[s] > 0) && j.GPUs*int(c[s].PerGPU) <= c[s].Free {
			return true
		}
	}
	return false
}

// A worker of a job that loses a fifth saves less: of two such jobs the one without loss has
// the GPU, and shortest job first sees the longer time. Source: Lyra §7.2, "a 20% loss".
func TestAllocate_speed(t *testing.T) {
	slow := func(id job.ID, has int) allocate.Job {
		j := elastic(id, hour, has)
		j.Speed = allocate.Lossy(2, 0.2)
		return j
	}
	play(t, allocate.Options{}, []scenario{
		{"extra workers", []allocate.Job{slow("a", 2), elastic("b", hour, 2)}, loan(1, 0), []allocate.Grant{runs(2, 0), runs(3, 0)}},
		{"the shortest", []allocate.Job{slow("a", 0), elastic("b", hour, 0)}, loan(2, 0), []allocate.Grant{noRoom, runs(2, 0)}},
	})
	plan := must(t, []allocate.Job{slow("a", 2)}, training(2), allocate.Options{})
	if want := 3600 * (1/2. - 1/(2+0.8*2)); !near(plan.Saved, want) {
		t.Errorf("four workers save %g s against two, want %g", plan.Saved, want)
	}
}
