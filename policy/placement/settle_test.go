package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

// linear returns a sensitivity that needs so many CPUs a GPU for full speed, 1
// sample per second, and in proportion less for less.
func linear(cpus int) *perf.Sensitivity {
	s := &perf.Sensitivity{Input: job.Input{Working: gb}}
	for c := 1; c <= cpus; c++ {
		s.CPUs = append(s.CPUs, perf.CPURate{CPUs: float64(c), Rate: float64(c) / float64(cpus)})
	}
	return s
}

// A settledJob is one job of a test: where its GPUs are, what it is sensitive to, what
// the plan names of CPUs, and what it gets.
type settledJob struct {
	slots  []placement.Slot
	needs  int // CPUs a GPU for full speed; 0: nothing is known of it
	named  float64
	given  bool // the policy placed it
	pinned bool // non-preemptive, and it holds what is named
	firm   bool // non-preemptive, and it starts
	want   float64
}

func settledRound(n *placement.Nodes, rows []settledJob) (*policy.Snapshot, *policy.Plan) {
	s, p := &policy.Snapshot{Cluster: n.Cluster(), Length: time.Minute}, new(policy.Plan)
	for i, r := range rows {
		gpus := 0
		for _, slot := range r.slots {
			gpus += slot.GPUs
		}
		var d policy.Decision
		d.Allocation.Configuration = cluster.Configuration{Nodes: len(r.slots), GPUs: gpus, GPUType: "v100"}
		d.Allocation.CPUs, d.Allocation.Memory = r.named, int64(gpus)*gb
		d.Placement = n.Placement(r.slots, cluster.Resources{CPUs: r.named / float64(gpus), Memory: gb})
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("j", i)), GPUs: gpus, NonPreemptive: r.pinned || r.firm}}
		if r.needs > 0 {
			j.Sensitivity = linear(r.needs)
			j.Perf = &placementtest.Model{PerGPU: 1, Input: j.Sensitivity}
		}
		if r.pinned {
			j.Phase, j.Allocation, j.Placement = job.Running, d.Allocation, d.Placement
		}
		s.Jobs, p.Jobs = append(s.Jobs, j), append(p.Jobs, d)
	}
	return s, p
}

// settle settles a plan as a placer does that looks at GPUs alone.
func settle(st *placement.Settler, s *policy.Snapshot, p *policy.Plan, rows []settledJob) {
	given := make([]cluster.Placement, len(p.Jobs))
	for i := range p.Jobs {
		given[i] = p.Jobs[i].Placement
		if !rows[i].given {
			p.Jobs[i].Placement = nil
		}
	}
	st.Read(s, p)
	for i := range p.Jobs {
		p.Jobs[i].Placement = given[i]
	}
	st.Follow(p)
	st.Settle()
	st.Write(s, p)
}

func TestSettle(t *testing.T) {
	on := func(node, gpus int) []placement.Slot { return []placement.Slot{{Node: node, GPUs: gpus}} }
	tests := []struct {
		name     string
		fungible bool
		nodes    []cluster.Resources
		rows     []settledJob
	}{
		{name: "by need: what one does not use, the other gets", fungible: true, rows: []settledJob{
			{slots: on(0, 4), needs: 1, named: 12, want: 4},
			{slots: on(0, 4), needs: 5, named: 12, want: 20},
		}},
		{name: "nobody below the share", fungible: true, rows: []settledJob{
			{slots: on(0, 4), needs: 6, named: 0, want: 12},
			{slots: on(0, 4), needs: 6, named: 24, want: 12},
		}},
		{name: "to whom it does most", fungible: true, rows: []settledJob{
			{slots: on(0, 5), needs: 1, named: 5, want: 5},
			{slots: on(0, 1), needs: 12, named: 3, want: 12},
			{slots: on(0, 2), needs: 12, named: 24, want: 6}, // every step costs it twice as much
		}},
		{name: "a job of which nothing is known has its share", fungible: true, rows: []settledJob{
			{slots: on(0, 4), named: 2, want: 12},
			{slots: on(0, 4), needs: 5, named: 20, want: 12},
		}},
		{name: "what is left over is nobody's", fungible: true, rows: []settledJob{
			{slots: on(0, 2), needs: 4, named: 6, want: 8},
		}},
		{name: "a plan that is not fungible is a limit", rows: []settledJob{
			{slots: on(0, 4), needs: 1, named: 12, want: 12},
			{slots: on(0, 4), needs: 5, named: 12, want: 12},
		}},
		{name: "within which somebody may have to give way", rows: []settledJob{
			{slots: on(0, 4), needs: 6, named: 24, want: 12},
			{slots: on(0, 4), needs: 3, named: 12, want: 12},
		}},
		{name: "what the policy placed is left as it is", fungible: true, rows: []settledJob{
			{slots: on(0, 4), needs: 1, named: 14, given: true, want: 14},
			{slots: on(0, 2), needs: 5, named: 12, want: 10},
		}},
		{name: "so is what may not be preempted", fungible: true, rows: []settledJob{
			{slots: on(0, 4), needs: 1, named: 13, pinned: true, want: 13},
			{slots: on(0, 2), needs: 6, named: 12, want: 10},
		}},
		{name: "who finds nothing is taken back", fungible: true, rows: []settledJob{
			{slots: on(0, 4), needs: 1, named: 23, given: true, want: 23},
			{slots: on(0, 1), needs: 1, named: 1, want: 1},
			{slots: on(0, 1), needs: 1, named: 1},
		}},
		{name: "a job on two nodes has the same on both", fungible: true, nodes: []cluster.Resources{server, server}, rows: []settledJob{
			{slots: []placement.Slot{{Node: 0, GPUs: 1}, {Node: 1, GPUs: 1}}, needs: 12, named: 6, want: 20},
			{slots: on(0, 7), needs: 1, named: 7, want: 7},
			{slots: on(1, 7), needs: 2, named: 21, want: 14}, // leaves 10
		}},
		{name: "the poorer of its nodes decides", fungible: true, nodes: []cluster.Resources{server, server}, rows: []settledJob{
			{slots: []placement.Slot{{Node: 0, GPUs: 1}, {Node: 1, GPUs: 1}}, needs: 6, named: 12, want: 6},
			{slots: on(0, 7), needs: 1, named: 7, want: 7},
			{slots: on(1, 7), needs: 3, named: 21, want: 21},
		}},
		{name: "a job that may not be preempted gets no more than its share", fungible: true, rows: []settledJob{
			{slots: on(0, 1), needs: 6, named: 6, firm: true, want: 3},
		}},
		{name: "richer nodes have more to give", fungible: true, nodes: []cluster.Resources{server, {GPUs: 8, CPUs: 48, Memory: 500 * gb}}, rows: []settledJob{
			{slots: on(0, 8), needs: 6, named: 24, want: 24},
			{slots: on(1, 8), needs: 6, named: 24, want: 48},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.nodes == nil {
				test.nodes = []cluster.Resources{server}
			}
			s, p := settledRound(placement.NewNodes(serversOf(t, test.nodes...)), test.rows)
			p.Fungible = test.fungible
			settle(new(placement.Settler), s, p, test.rows)
			var got, want []float64
			for i := range p.Jobs {
				got, want = append(got, p.Jobs[i].Allocation.CPUs), append(want, test.rows[i].want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("CPUs (-want +got):\n%s", diff)
			}
			if err := policy.CheckPlacement(s, p); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSettleAgainstEveryChoice: on two nodes, with a job on both, no choice of
// cells is worth more by much, and none that is made is below a job's first.
func TestSettleAgainstEveryChoice(t *testing.T) {
	worst := 0.0
	for seed := range uint64(200) {
		kind := placementtest.Mix{Split: [3]int{60, 20, 20}}
		s := placementtest.NewGenerator(kind, seed).Snapshot(1)
		two := serversOf(t, cluster.Resources{GPUs: 4, CPUs: 12, Memory: 250 * gb}, cluster.Resources{GPUs: 4, CPUs: 12, Memory: 250 * gb})
		s.Cluster, s.Jobs = two, s.Jobs[:5]
		spec := *s.Jobs[0].Spec
		spec.GPUs, s.Jobs[0].Spec = 2, &spec
		p, _ := placementtest.Pooled(s)
		var st placement.Settler
		st.Read(s, p)
		st.Jobs[0].Slots = []placement.Slot{{Node: 0, GPUs: 1}, {Node: 1, GPUs: 1}}
		for i := 1; i < 5; i++ {
			st.Jobs[i].Slots = []placement.Slot{{Node: i % 2, GPUs: 1}}
		}
		got := st.Settle()
		if want := every(st.Jobs, []cluster.Resources{two.Nodes()[0].Capacity, two.Nodes()[1].Capacity}); got > want+1e-9 {
			t.Fatalf("seed %d: worth %v, more than the best, %v", seed, got, want)
		} else {
			worst = max(worst, (want-got)/want)
		}
	}
	if worst > 0.01 {
		t.Errorf("%.2f %% below the best choice, want at most 1", 100*worst)
	}
}

// every returns the value of the best cells of jobs.
func every(jobs []placement.Job, free []cluster.Resources) float64 {
	if len(jobs) == 0 {
		return 0
	}
	best := -1e300
cells:
	for _, c := range jobs[0].Cells {
		left := append([]cluster.Resources(nil), free...)
		for _, slot := range jobs[0].Slots {
			left[slot.Node].CPUs -= float64(slot.GPUs) * c.CPUs
			left[slot.Node].Memory -= int64(slot.GPUs) * c.Memory
			if left[slot.Node].CPUs < -1e-9 || left[slot.Node].Memory < 0 {
				break cells
			}
		}
		best = max(best, c.Value+every(jobs[1:], left))
	}
	return best
}

// TestSettleKeepsTheSlice: what a job holds already is not written again.
func TestSettleKeepsTheSlice(t *testing.T) {
	rows := []settledJob{
		{slots: []placement.Slot{{Node: 0, GPUs: 4}}, needs: 1, named: 4},
		{slots: []placement.Slot{{Node: 0, GPUs: 4}, {Node: 1, GPUs: 2}}, needs: 5, named: 30},
	}
	s, p := settledRound(placement.NewNodes(serversOf(t, server, server)), rows)
	p.Fungible = true
	var st placement.Settler
	settle(&st, s, p, rows)
	again := &policy.Plan{Fungible: true}
	for i, j := range s.Jobs {
		j.Allocation, j.Placement = p.Jobs[i].Allocation, p.Jobs[i].Placement
		d := p.Jobs[i]
		d.Placement = append(cluster.Placement(nil), d.Placement...)
		again.Jobs = append(again.Jobs, d)
	}
	settle(&st, s, again, rows)
	for i, j := range s.Jobs {
		if &again.Jobs[i].Placement[0] != &j.Placement[0] {
			t.Errorf("job %d: its placement was written again", i)
		}
	}
}

// TestWriteSpreadsBytesThatDoNotDivide: the shares of a job add up to what it is
// allocated, which stays as it is where nodes do not count it.
func TestWriteSpreadsBytesThatDoNotDivide(t *testing.T) {
	rows := []settledJob{{slots: []placement.Slot{{Node: 0, GPUs: 2}, {Node: 1, GPUs: 1}, {Node: 2, GPUs: 2}}, named: 5}}
	bare := cluster.Resources{GPUs: 2}
	s, p := settledRound(placement.NewNodes(serversOf(t, bare, bare, bare)), rows)
	p.Jobs[0].Allocation.Memory = 14
	settle(new(placement.Settler), s, p, rows)
	want := []int64{5, 3, 6}
	var got []int64
	for _, share := range p.Jobs[0].Placement {
		got = append(got, share.Memory)
	}
	if diff := cmp.Diff(want, got); diff != "" || p.Jobs[0].Allocation.Memory != 14 {
		t.Errorf("allocated %d bytes (-want +got):\n%s", p.Jobs[0].Allocation.Memory, diff)
	}
}

// A reason that speaks of CPUs says what the job gets, not what its policy wished.
func TestWrite_corrects_reasons(t *testing.T) {
	n := placement.NewNodes(serversOf(t, cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500 * gb}))
	at := func(gpus int) []placement.Slot { return []placement.Slot{{Node: 0, GPUs: gpus}} }
	rows := []settledJob{{slots: at(1), needs: 12, named: 12}, {slots: at(1), needs: 1, named: 3}, {slots: at(6), needs: 3, named: 18}}
	s, p := settledRound(n, rows)
	p.Fungible = true
	for i := range p.Jobs {
		p.Jobs[i].Why.Kind = policy.AboveShare
	}
	p.Jobs[2].Why.Kind = policy.Grown // says nothing of CPUs
	settle(new(placement.Settler), s, p, rows)
	var got []policy.Kind
	for i := range p.Jobs {
		got = append(got, p.Jobs[i].Why.Kind)
	}
	if diff := cmp.Diff([]policy.Kind{policy.AboveShare, policy.BelowShare, policy.Grown}, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if above, below := p.Jobs[0].Why.Value, p.Jobs[1].Why.Value; !(above > 1 && above < 4) || below != 1 {
		t.Errorf("speeds %v and %v, want between 1 and 4 as CPUs are short, and 1", above, below)
	}
}
