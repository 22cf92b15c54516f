package boa_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
)

// A randomCluster is a rentedCluster in which nodes come late, are refused and are taken back,
// and jobs come, go on and end at random. Tables do not change in it.
type randomCluster struct {
	*rentedCluster
	t      *rapid.T
	names  int
	widths map[job.Class][]int
	causes map[job.ID]int // starts and moves that a job may have
	short  bool           // jobs once wanted more than there is
}

// scarce reports whether jobs want more nodes than there are at most, each its own.
func (w *randomCluster) scarce(jobs []*policy.Job) bool {
	nodes := 0
	for _, j := range jobs {
		row := w.widths[j.Class]
		nodes += (max(j.GPUs, j.Allocation.GPUs, row[min(j.Epoch, len(row)-1)]) + 3) / 4
	}
	return nodes > w.most
}

func (w *randomCluster) chance(of string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(w.t, of) < percent
}

// newRandomCluster draws classes; with a budget, widths are of two tables.
func newRandomCluster(t *rapid.T, tb testing.TB, budget float64) *randomCluster {
	w := &randomCluster{t: t, widths: map[job.Class][]int{}, causes: map[job.ID]int{}}
	var classes []*perf.ClassStats
	for _, class := range []job.Class{"a", "b", "c"} {
		w.widths[class] = rapid.SliceOfN(rapid.IntRange(1, 10), 1, 4).Draw(t, "widths")
		c := stats(class, w.widths[class]...)
		c.Restart = time.Duration(rapid.IntRange(0, 1).Draw(t, "minutes of a restart")) * time.Minute
		classes = append(classes, c)
	}
	o := boa.DefaultOptions()
	o.Budget, o.Horizon, o.Recompute = budget, 0, 1e4*time.Hour
	p, err := boa.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.rentedCluster = newRentedCluster(tb, p, rapid.IntRange(3, 20).Draw(t, "most"), classes...)
	return w
}

// happen lets one thing happen.
func (w *randomCluster) happen() {
	for range rapid.IntRange(0, 3).Draw(w.t, "arrivals") {
		w.arrive()
	}
	if len(w.jobs) == 0 {
		return
	}
	j := rapid.SampledFrom(w.jobs).Draw(w.t, "job")
	switch rapid.IntRange(0, 5).Draw(w.t, "what") {
	case 0:
		w.end(j.ID)
	case 1, 2:
		if j.Holding() {
			w.change(j.ID, func(j *policy.Job) { j.Epoch, j.Progress = j.Epoch+1, 86400*float64(j.Epoch+1) })
			w.causes[j.ID]++
		}
	case 3:
		if len(w.ready) > 0 && w.chance("break", 30) {
			w.lose(rapid.SampledFrom(w.ready).Draw(w.t, "node"))
		}
	}
}

// arrive submits a job that adapts, adapts up to a limit, or does not.
func (w *randomCluster) arrive() {
	w.names++
	id := job.ID(fmt.Sprintf("j%03d", w.names))
	w.submit(id, rapid.SampledFrom([]job.Class{"a", "b", "c"}).Draw(w.t, "class"))
	w.causes[id] = 1
	spec := w.jobs[len(w.jobs)-1].Spec
	switch rapid.IntRange(0, 3).Draw(w.t, "kind") {
	case 0:
		spec.GPUs, spec.Adaptivity = rapid.IntRange(1, 6).Draw(w.t, "GPUs"), 0
	case 1:
		spec.MaxGPUs = rapid.IntRange(1, 6).Draw(w.t, "most GPUs")
	}
}

// lose takes a node away, and its GPUs from the jobs on it.
func (w *randomCluster) lose(id cluster.NodeID) {
	w.ready = slices.DeleteFunc(w.ready, func(n cluster.NodeID) bool { return n == id })
	for _, j := range slices.Clone(w.jobs) {
		if slices.ContainsFunc(j.Placement, func(s cluster.Share) bool { return s.Node == id }) {
			w.change(j.ID, func(row *policy.Job) {
				row.Phase, row.Allocation, row.Placement = job.Waiting, cluster.Allocation{}, nil
			})
			w.causes[j.ID]++
		}
	}
}

// delay makes nodes late, and refuses some.
func (w *randomCluster) delay() {
	for i := range w.starting {
		w.starting[i] = max(w.starting[i], rapid.IntRange(0, 4).Draw(w.t, "rounds"))
	}
	if n := len(w.starting); n > 0 && w.chance("refuse", 20) {
		w.starting = w.starting[:n-1]
	}
	slices.Sort(w.starting)
}

// Without a budget every job has its width or waits for it; with one, tables do not change.
func TestNobodyMovesForNothing(t *testing.T) {
	for _, budget := range []float64{0, 3} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				w := newRandomCluster(rt, t, budget)
				for range 40 {
					w.happen()
					before := slices.Clone(w.jobs)
					plan := w.play()
					w.short = w.short || w.scarce(before)
					w.delay()
					checkKept(rt, before, plan)
					checkReasons(rt, before, plan)
					if budget == 0 && !w.short {
						checkNodes(rt, before, plan, w.widths)
					}
				}
				for id, n := range w.moves {
					if w.short {
						break // who had to do with less moves again
					}
					if n > w.causes[id] {
						rt.Errorf("job %s: %d starts and moves, want at most %d", id, n, w.causes[id])
					}
				}
			})
		})
	}
}

// checkKept: whose width is unchanged keeps its very placement.
func checkKept(t *rapid.T, jobs []*policy.Job, plan *policy.Plan) {
	for i, j := range jobs {
		d := &plan.Jobs[i]
		if j.Holding() && d.Allocation.GPUs == j.Allocation.GPUs && &d.Placement[0] != &j.Placement[0] {
			t.Errorf("job %s: %d GPUs before and after, on %v, want %v itself", j.ID, d.Allocation.GPUs, d.Placement, j.Placement)
		}
		if j.Holding() && d.Allocation.IsZero() {
			t.Errorf("job %s: its GPUs were taken: %v", j.ID, d.Why)
		}
	}
}

// checkReasons: whoever waits is told for what, in finite numbers.
func checkReasons(t *rapid.T, jobs []*policy.Job, plan *policy.Plan) {
	waits := []policy.Kind{policy.WaitNodes, policy.WaitNoCapacity, policy.WaitBudget, policy.Impossible}
	for i := range jobs {
		d := &plan.Jobs[i]
		if math.IsNaN(d.Why.Value+d.Why.Limit) || math.IsInf(d.Why.Value+d.Why.Limit, 0) || d.Why.Kind == policy.Unexplained {
			t.Errorf("job %s: reason %+v", jobs[i].ID, d.Why)
		}
		if d.Allocation.IsZero() && (!slices.Contains(waits, d.Why.Kind) || d.Why.Config.GPUs < 1) {
			t.Errorf("job %s waits for %+v, want one of %v, with what it is to have", jobs[i].ID, d.Why, waits)
		}
	}
}

// checkNodes: no more nodes are wanted than those that jobs are on and
// those for the jobs that do not have their width; and no fewer than jobs say they wait for.
func checkNodes(t *rapid.T, jobs []*policy.Job, plan *policy.Plan, widths map[job.Class][]int) {
	on, missing, away := map[cluster.NodeID]bool{}, 0, 0
	for i, j := range jobs {
		for _, s := range plan.Jobs[i].Placement {
			on[s.Node] = true
		}
		row := widths[j.Class]
		want := row[min(j.Epoch, len(row)-1)]
		switch {
		case j.Adaptivity == 0:
			want = j.GPUs
		case j.Spec.MaxGPUs > 0:
			want = min(want, j.Spec.MaxGPUs)
		}
		if plan.Jobs[i].Allocation.GPUs != want {
			missing += (want + 3) / 4
		}
		if why := plan.Jobs[i].Why; why.Kind == policy.WaitNodes {
			away = max(away, int(why.Value))
		}
	}
	if got := plan.Capacity["t4-4"]; got < len(on)+away || got > len(on)+missing {
		t.Errorf("%d nodes wanted, want from %d to %d", got, len(on)+away, len(on)+missing)
	}
}
