package allocate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

const hour = time.Hour

// loan is a training cluster with this much free of 64 GPUs, and as much on loan of 64.
func loan(free, loaned int) allocate.Capacity {
	return allocate.Capacity{{Free: free, Total: 64, PerGPU: 1}, {Free: loaned, Total: 64, PerGPU: 3}}
}

// rigid is an inelastic job of one worker, and runs so long.
func rigid(id job.ID, gpus int, length time.Duration) allocate.Job {
	return allocate.Job{ID: id, GPUs: gpus, Min: 1, Max: 1, Work: length}
}

func TestAllocate(t *testing.T) {
	on := func(j allocate.Job, s allocate.Side, workers int) allocate.Job {
		j.Has = allocate.Workers{}
		j.Has[s] = workers
		return j
	}
	fungible := func(j allocate.Job) allocate.Job {
		j.Fungible = true
		return j
	}
	elastic := allocate.Job{ID: "e", GPUs: 1, Min: 2, Max: 4, Work: 8 * hour}
	training, loaned := allocate.Training, allocate.Loaned
	none := allocate.Grant{Why: allocate.NoRoom}
	runs := func(workers int, s allocate.Side) allocate.Grant {
		g := allocate.Grant{Why: allocate.Runs}
		g.Has[s] = workers
		return g
	}
	tests := []struct {
		name string
		jobs []allocate.Job
		c    allocate.Capacity
		want []allocate.Grant
	}{
		{"nothing", nil, loan(4, 0), []allocate.Grant{}},
		{"the shortest goes first", []allocate.Job{rigid("a", 4, 2*hour), rigid("b", 4, hour)}, loan(4, 0), []allocate.Grant{none, runs(1, training)}},
		{"what does not fit is passed over", []allocate.Job{rigid("a", 5, hour), rigid("b", 4, 2*hour)}, loan(4, 0), []allocate.Grant{none, runs(1, training)}},
		{"equals in the order given", []allocate.Job{rigid("a", 4, hour), rigid("b", 4, hour)}, loan(4, 0), []allocate.Grant{runs(1, training), none}},
		{"elastic jobs go by their shortest time", []allocate.Job{rigid("a", 2, 3*hour), elastic}, loan(2, 0), []allocate.Grant{none, runs(2, training)}},
		{"inelastic jobs prefer training", []allocate.Job{fungible(rigid("a", 4, hour))}, loan(4, 12), []allocate.Grant{runs(1, training)}},
		{"elastic jobs prefer GPUs on loan, of which a worker needs three", []allocate.Job{fungible(elastic)}, loan(4, 9), []allocate.Grant{runs(3, loaned)}},
		{"no job is on both sides", []allocate.Job{fungible(rigid("a", 4, hour))}, loan(3, 11), []allocate.Grant{none}},
		{"only fungible jobs on loan", []allocate.Job{rigid("a", 4, hour)}, loan(3, 12), []allocate.Grant{none}},
		{"running jobs are not preempted", []allocate.Job{on(rigid("a", 4, 9*hour), training, 1), rigid("b", 1, hour)}, loan(0, 0), []allocate.Grant{runs(1, training), none}},
		{"flexible workers make room", []allocate.Job{on(elastic, training, 4), rigid("b", 2, hour)}, loan(0, 0), []allocate.Grant{runs(2, training), runs(1, training)}},
		{"and stay if nobody wants it", []allocate.Job{on(elastic, training, 4), rigid("b", 3, hour)}, loan(0, 0), []allocate.Grant{runs(4, training), none}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if d := cmp.Diff(test.want, must(t, test.jobs, test.c, allocate.DefaultOptions()).Grants); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestAllocate_complains(t *testing.T) {
	bad := func(change func(*allocate.Job)) []allocate.Job {
		j := allocate.Job{ID: "j", GPUs: 1, Min: 1, Max: 2, Work: hour}
		change(&j)
		return []allocate.Job{j}
	}
	good := loan(4, 4)
	tests := []struct {
		name string
		jobs []allocate.Job
		c    allocate.Capacity
		o    allocate.Options
		want string
	}{
		{"min > max", bad(func(j *allocate.Job) { j.Min = 3 }), good, allocate.Options{}, "allocate: job j: 3 to 2 workers of 1 GPUs, want 1 <= min <= max, at least 1 GPU"},
		{"negative work", bad(func(j *allocate.Job) { j.Work = -1 }), good, allocate.Options{}, "allocate: job j: work -1ns, want at least 0"},
		{"too many workers", bad(func(j *allocate.Job) { j.Has[0] = 3 }), good, allocate.Options{}, "allocate: job j: has 3 workers, want 0 or 1 to 2"},
		{"where it may not be", bad(func(j *allocate.Job) { j.Has[allocate.Loaned] = 1 }), good, allocate.Options{}, "allocate: job j: on side 1, where it may not be"},
		{"workers below 0", bad(func(j *allocate.Job) { j.Has = allocate.Workers{-1, 2} }), good, allocate.Options{}, "allocate: job j: has -1 and 2 workers, want at least 0"},
		{"both sides", bad(func(j *allocate.Job) { j.Has, j.Fungible = allocate.Workers{1, 1}, true }), good, allocate.Options{}, "allocate: job j: on both sides, want one or heterogeneous"},
		{"mixed speed", bad(func(j *allocate.Job) { j.Heterogeneous = true }), good, allocate.Options{}, "allocate: job j: mixed speed 0, want more than 0 and at most 1"},
		{"speed", bad(func(j *allocate.Job) { j.Speed = func(n int) float64 { return float64(2 - n) } }), good, allocate.Options{}, "allocate: job j: speed 0 of 2 workers, want finite and more than 0"},
		{"rules", nil, good, allocate.Options{Order: "lifo", Growth: "fast"}, "allocate: order \"lifo\", want sjf or fifo\ngrowth \"fast\", want knapsack, none, gandiva or afs"},
		{"a job twice", append(bad(func(*allocate.Job) {}), bad(func(*allocate.Job) {})...), good, allocate.Options{}, "allocate: job j twice"},
		{"pools", nil, allocate.Capacity{{Free: 2, Total: 1, PerGPU: 1}, {PerGPU: math.NaN()}}, allocate.Options{}, "allocate: side 0: 2 of 1 GPUs free, want 0 to all\nside 1: NaN GPUs for one, want at least 1"},
		{"options", nil, good, allocate.Options{Pause: -1}, "allocate: pause -1ns, want at least 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := allocate.Allocate(context.Background(), test.jobs, test.c, test.o)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// crowd draws jobs, waiting and running, within the pools' totals.
func crowd(t *rapid.T) ([]allocate.Job, allocate.Capacity) {
	c := loan(rapid.IntRange(0, 20).Draw(t, "free"), rapid.IntRange(0, 20).Draw(t, "loaned"))
	jobs := make([]allocate.Job, rapid.IntRange(0, 12).Draw(t, "jobs"))
	for i := range jobs {
		low := rapid.IntRange(1, 3).Draw(t, "min")
		j := allocate.Job{ID: job.ID(fmt.Sprint(i)), GPUs: rapid.IntRange(1, 4).Draw(t, "gpus"), Min: low, Max: low + rapid.IntRange(0, 4).Draw(t, "flexible")}
		j.Work = time.Duration(rapid.IntRange(0, 1000).Draw(t, "work")) * time.Minute
		j.Fungible = rapid.Bool().Draw(t, "fungible")
		if j.Heterogeneous = rapid.Bool().Draw(t, "heterogeneous"); j.Heterogeneous {
			j.MixedSpeed = rapid.SampledFrom([]float64{0.7, 1}).Draw(t, "mixed speed")
		}
		if rapid.Bool().Draw(t, "loss") {
			j.Speed = allocate.Lossy(j.Min, 0.2)
		}
		if rapid.Bool().Draw(t, "running") {
			j.Has = somewhere(t, &j)
		}
		jobs[i] = j
	}
	return jobs, c
}

// somewhere draws workers of a running job where they may be.
func somewhere(t *rapid.T, j *allocate.Job) (w allocate.Workers) {
	n := rapid.IntRange(j.Min, j.Max).Draw(t, "workers")
	switch {
	case j.Heterogeneous:
		w[allocate.Loaned] = rapid.IntRange(0, n).Draw(t, "on loan")
	case j.Fungible && rapid.Bool().Draw(t, "on loan"):
		w[allocate.Loaned] = n
	}
	w[allocate.Training] = n - w[allocate.Loaned]
	return w
}

// rules draws options.
func rules(t *rapid.T) allocate.Options {
	o := allocate.DefaultOptions()
	o.Order = rapid.SampledFrom([]allocate.Order{allocate.SJF, allocate.FIFO}).Draw(t, "order")
	o.Growth = rapid.SampledFrom([]allocate.Growth{allocate.Knapsack, allocate.None, allocate.Gandiva, allocate.AFS}).Draw(t, "growth")
	o.TrainingFirst = rapid.Bool().Draw(t, "training first")
	return o
}

// wrong says what a job may not get.
func wrong(j allocate.Job, g allocate.Grant) string {
	n := g.Has.Total()
	kept := min(j.Min, j.Has[allocate.Training])
	switch {
	case g.Has[0] < 0 || g.Has[1] < 0 || n != 0 && (n < j.Min || n > j.Max):
		return "too few or too many"
	case !j.Heterogeneous && (g.Has.Mixed() || g.Has[allocate.Loaned] > 0 && !j.Fungible):
		return "where it may not be"
	case j.Has.Total() > 0 && (g.Has[allocate.Training] < kept || g.Has[allocate.Loaned] < j.Min-kept):
		return "preempted or moved"
	case (g.Why == allocate.Runs) != (n > 0):
		return "for the wrong reason"
	}
	return ""
}

func TestAllocate_property_nothing_bad_happens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, c := crowd(t)
		plan, err := allocate.Allocate(context.Background(), jobs, c, rules(t))
		if err != nil {
			t.Fatal(err)
		}
		free := [2]int{c[0].Free, c[1].Free}
		for i, g := range plan.Grants {
			if bad := wrong(jobs[i], g); bad != "" {
				t.Fatalf("job %+v gets %+v: %s", jobs[i], g, bad)
			}
			for s := range free {
				free[s] += (jobs[i].Has[s] - g.Has[s]) * jobs[i].GPUs * int(c[s].PerGPU)
			}
		}
		if free[0] < 0 || free[1] < 0 || free[0] != plan.Left[0].Free || free[1] != plan.Left[1].Free || plan.Saved > plan.Bound+1e-6 {
			t.Fatalf("left %v, plan says %v; saves %g, bound %g", free, plan.Left, plan.Saved, plan.Bound)
		}
	})
}

// An item is a group of choices: what a number of GPUs saves.
type item map[int]float64

// program is the knapsack of phase two in the training cluster, by dynamic programming: the
// most seconds saved by so many GPUs. Source: Lyra §5.2.
func program(items []item, capacity int) float64 {
	best := make([]float64, capacity+1)
	for _, it := range items {
		next := slices.Clone(best)
		for weight, value := range it {
			for c := weight; c <= capacity; c++ {
				next[c] = max(next[c], best[c-weight]+value)
			}
		}
		best = next
	}
	return best[capacity]
}

// queued draws elastic jobs of the training cluster that wait, whose base demands fit, and
// the items of their flexible demands.
func queued(count, most int, draw func(n int) int) (jobs []allocate.Job, items []item, base int) {
	for i := range count {
		low := 1 + draw(3)
		j := allocate.Job{ID: job.ID(fmt.Sprint(i)), GPUs: 1 + draw(4), Min: low, Max: low + 1 + draw(most), Work: time.Duration(1+draw(1000)) * time.Minute}
		it := item{}
		for w := j.Min + 1; w <= j.Max; w++ {
			it[(w-j.Min)*j.GPUs] = j.Work.Seconds()/float64(j.Min) - j.Work.Seconds()/float64(w)
		}
		jobs, items, base = append(jobs, j), append(items, it), base+j.Min*j.GPUs
	}
	return jobs, items, base
}

// lossy is the item of a job each of whose extra workers adds 0.8 of one. Source: Lyra §7.2.
func lossy(j *allocate.Job) item {
	it := item{}
	for k := 1; k <= j.Max-j.Min; k++ {
		it[k*j.GPUs] = j.Work.Seconds()/float64(j.Min) - j.Work.Seconds()/(float64(j.Min)+0.8*float64(k))
	}
	return it
}

func TestAllocate_property_phase_two_is_dynamic_programming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "draw") }
		jobs, items, base := queued(1+draw(8), 6, draw)
		for i := range jobs {
			if j := &jobs[i]; draw(2) == 0 {
				j.Speed, items[i] = allocate.Lossy(j.Min, 0.2), lossy(j)
			}
		}
		extra := draw(40)
		plan, err := allocate.Allocate(context.Background(), jobs, training(base+extra), allocate.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		want := program(items, extra)
		if math.Abs(plan.Saved-want) > 1e-6*(1+want) || plan.Bound > want*(1+1e-6)+1e-6 {
			t.Fatalf("saves %g, bound %g, want %g", plan.Saved, plan.Bound, want)
		}
	})
}
