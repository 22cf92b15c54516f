package run

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
)

// lending returns inputs without jobs: two servers of a training cluster, and two that an
// inference cluster lends.
func lending(t *testing.T) *Inputs {
	t.Helper()
	var nodes []cluster.Node
	for i := range 4 {
		n := cluster.Node{ID: cluster.NodeID(fmt.Sprint("n", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8}}
		if i >= 2 {
			n.GPUType, n.Tenure, n.Group = "t4", cluster.Loaned, "t4"
		}
		nodes = append(nodes, n)
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &Inputs{Cluster: c, equivalents: map[cluster.GPUType]int{"t4": 3}}
}

// completed returns a hundred jobs of an hour on four GPUs, changed and then completed with
// some keys set.
func completed(t *testing.T, change func(*workload.Arrival), settings ...[2]string) *Inputs {
	t.Helper()
	c, in := config.Default(), lending(t)
	for _, kv := range settings {
		if err := c.Set(kv[0], kv[1], "test"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		a := workload.Arrival{Duration: time.Hour, Spec: job.Spec{ID: job.ID(fmt.Sprint("j", i)), GPUs: 4}}
		change(&a)
		if err := in.complete(c, &a); err != nil {
			t.Fatal(err)
		}
		in.Arrivals = append(in.Arrivals, a)
	}
	in.note()
	return in
}

// share returns the share of jobs of which something is true.
func share(in *Inputs, is func(*workload.Arrival) bool) float64 {
	n := 0
	for i := range in.Arrivals {
		if is(&in.Arrivals[i]) {
			n++
		}
	}
	return float64(n) / float64(len(in.Arrivals))
}

func elastic(a *workload.Arrival) bool {
	s := &a.Spec
	return s.Adaptivity == job.StrongScaling && s.Resizes && s.MinGPUs == 4 && s.MaxGPUs == 8 && s.WorkerGPUs > 0
}

func bound(a *workload.Arrival) bool {
	here := cmp.Equal(a.Spec.GPUTypes, []cluster.GPUType{"v100"})
	return a.Bound && here && a.Spec.Equivalents == nil
}

func lent(a *workload.Arrival) bool {
	return !a.Bound && a.Spec.Eligible("t4") && a.Spec.Requested("t4") == 12 && a.Spec.Requested("v100") == 4
}

// mixes reports whether a job may run on its two types at once, at a speed.
func mixes(speed float64) func(*workload.Arrival) bool {
	return func(a *workload.Arrival) bool {
		s := &a.Spec
		return s.Adaptivity.Has(job.Heterogeneous) && s.MixedSpeed == speed && s.Eligible("t4") && s.Eligible("v100") && s.Equivalents["t4"] == 3
	}
}

// Lyra §7.1 to §7.4: shares of jobs of each kind, drawn or as in the trace.
func TestKindsOfJobs(t *testing.T) {
	plain := func(*workload.Arrival) {}
	traced := func(a *workload.Arrival) {
		a.Bound, a.ScalingLoss = true, 0.1
		s := &a.Spec
		s.NoCheckpoint, s.Adaptivity, s.Resizes, s.MinGPUs, s.MaxGPUs, s.WorkerGPUs = true, job.StrongScaling, true, 4, 8, 2
	}
	saves := func(a *workload.Arrival) bool { return !a.Spec.NoCheckpoint }
	loses := func(loss float64) func(*workload.Arrival) bool {
		return func(a *workload.Arrival) bool { return a.ScalingLoss == loss }
	}
	both := func(a *workload.Arrival) { a.Heterogeneous, a.Bound = true, true }
	narrow := func(a *workload.Arrival) {
		both(a)
		a.Spec.GPUTypes = []cluster.GPUType{"v100"}
	}
	slow := func(a *workload.Arrival) { a.Heterogeneous, a.Spec.MixedSpeed = true, 0.5 }
	apart := func(a *workload.Arrival) bool {
		return !a.Spec.Adaptivity.Has(job.Heterogeneous) && a.Spec.MixedSpeed == 0
	}
	rigid := func(a *workload.Arrival) bool { return a.Spec.Adaptivity == job.Rigid && !a.Spec.Resizes }
	for name, tc := range map[string]struct {
		in    *Inputs
		is    func(*workload.Arrival) bool
		least float64
		most  float64
	}{
		"bound in the trace":             {completed(t, traced), bound, 1, 1},
		"not bound in the trace":         {completed(t, plain), lent, 1, 1},
		"none fungible":                  {completed(t, plain, [2]string{"jobs.fungible", "0"}), bound, 1, 1},
		"all fungible":                   {completed(t, traced, [2]string{"jobs.fungible", "1"}), lent, 1, 1},
		"21 % fungible":                  {completed(t, traced, [2]string{"jobs.fungible", "0.21"}), lent, 0.1, 0.3},
		"the others":                     {completed(t, traced, [2]string{"jobs.fungible", "0.21"}), bound, 0.7, 0.9},
		"elastic in the trace":           {completed(t, traced), elastic, 1, 1},
		"none elastic":                   {completed(t, plain), elastic, 0, 0},
		"all made elastic":               {completed(t, plain, [2]string{"jobs.elastic", "1"}), elastic, 1, 1},
		"a third made elastic":           {completed(t, plain, [2]string{"jobs.elastic", "0.33"}), elastic, 0.2, 0.45},
		"made rigid":                     {completed(t, traced, [2]string{"jobs.rigid", "1"}), rigid, 1, 1},
		"half made rigid":                {completed(t, traced, [2]string{"jobs.rigid", "0.5"}), rigid, 0.35, 0.65},
		"half rigid, the others elastic": {completed(t, traced, [2]string{"jobs.rigid", "0.5"}), elastic, 0.35, 0.65},
		"no checkpoints in the trace":    {completed(t, traced), saves, 0, 0},
		"80 % with checkpoints":          {completed(t, traced, [2]string{"jobs.checkpoints", "0.8"}), saves, 0.7, 0.9},
		"none with checkpoints":          {completed(t, plain, [2]string{"jobs.checkpoints", "0"}), saves, 0, 0},
		"a loss in the trace":            {completed(t, traced), loses(0.1), 1, 1},
		"a loss of the elastic":          {completed(t, plain, [2]string{"jobs.scaling-loss", "0.2"}, [2]string{"jobs.elastic", "0.33"}), loses(0.2), 0.2, 0.45},
		"none on two types":              {completed(t, both), apart, 1, 1},
		"and bound":                      {completed(t, both), bound, 1, 1},
		"on two types in the trace":      {completed(t, both, [2]string{"jobs.heterogeneous", "-1"}), mixes(0.7), 1, 1},
		"of one type in the trace":       {completed(t, narrow, [2]string{"jobs.heterogeneous", "-1"}), mixes(0.7), 1, 1},
		"of a speed in the trace":        {completed(t, slow, [2]string{"jobs.heterogeneous", "-1"}), mixes(0.5), 1, 1},
		"not in the trace":               {completed(t, plain, [2]string{"jobs.heterogeneous", "-1"}), apart, 1, 1},
		"all, ideal":                     {completed(t, plain, [2]string{"jobs.heterogeneous", "1"}, [2]string{"jobs.mixed-speed", "1"}), mixes(1), 1, 1},
		"10 %, and none fungible":        {completed(t, plain, [2]string{"jobs.heterogeneous", "0.1"}, [2]string{"jobs.fungible", "0"}), mixes(0.7), 0.04, 0.2},
		"the others are bound":           {completed(t, plain, [2]string{"jobs.heterogeneous", "0.1"}, [2]string{"jobs.fungible", "0"}), bound, 0.8, 0.96},
	} {
		if got := share(tc.in, tc.is); got < tc.least || got > tc.most {
			t.Errorf("%s: %g of the jobs, want %g to %g", name, got, tc.least, tc.most)
		}
	}
}

// A larger share has the jobs of a smaller one.
func TestKindsOfJobs_larger_shares_contain_smaller_ones(t *testing.T) {
	plain := func(*workload.Arrival) {}
	few, more := completed(t, plain, [2]string{"jobs.elastic", "0.3"}), completed(t, plain, [2]string{"jobs.elastic", "0.6"})
	for i := range few.Arrivals {
		if elastic(&few.Arrivals[i]) && !elastic(&more.Arrivals[i]) {
			t.Errorf("job %s is elastic at 0.3 and not at 0.6", few.Arrivals[i].Spec.ID)
		}
	}
}

// Workers are whole, of a server at most, and as the trace has them.
func TestWorkersOfJobsMadeElastic(t *testing.T) {
	in, c := lending(t), config.Default()
	c.Jobs.Elastic = 1
	for gpus, want := range map[int]int{1: 1, 4: 4, 6: 6, 8: 8, 12: 6, 16: 8} {
		a := workload.Arrival{Duration: time.Hour, Spec: job.Spec{ID: "j", GPUs: gpus}}
		if err := in.complete(c, &a); err != nil || a.Spec.WorkerGPUs != want {
			t.Errorf("%d GPUs: got workers of %d, error %v, want %d", gpus, a.Spec.WorkerGPUs, err, want)
		}
	}
	a := workload.Arrival{Duration: time.Hour, Spec: job.Spec{ID: "j", GPUs: 8, WorkerGPUs: 2}}
	if err := in.complete(c, &a); err != nil || a.Spec.WorkerGPUs != 2 {
		t.Errorf("workers of 2 in the trace: got %d, error %v", a.Spec.WorkerGPUs, err)
	}
}

// A job that is bound to the training cluster is refused where it could only run on loan, as
// is one that would have to wait for nodes on loan.
func TestJobsThatNeverFit(t *testing.T) {
	in, c := lending(t), config.Default()
	for name, tc := range map[string]struct {
		a    workload.Arrival
		want string
	}{
		"bound, on loan only": {workload.Arrival{Bound: true, Spec: job.Spec{GPUs: 4, GPUTypes: []cluster.GPUType{"t4"}}}, `job j: cannot run on loaned nodes, and the training cluster has none of its GPU types, ["t4"]`},
		"on loan only":        {workload.Arrival{Spec: job.Spec{GPUs: 4, GPUTypes: []cluster.GPUType{"t4"}}}, "the training cluster has no GPU type that it may use"},
		"too large":           {workload.Arrival{Spec: job.Spec{GPUs: 24}}, "needs 24 GPUs of one eligible type, can get at most 16 of the training cluster"},
		"worker too large":    {workload.Arrival{Spec: job.Spec{GPUs: 16, WorkerGPUs: 16}}, "a worker needs 16 GPUs of one node, the largest of the training cluster that it may use has 8"},
	} {
		tc.a.Duration, tc.a.Spec.ID = time.Hour, "j"
		if err := in.complete(c, &tc.a); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want %q", name, err, tc.want)
		}
	}
}

// Table 9: of some jobs another time is believed, at most a quarter longer or shorter. What is
// fair to them, and when they end, is by the truth.
func TestWrongTimes(t *testing.T) {
	in := completed(t, func(*workload.Arrival) {}, [2]string{"jobs.wrong-times", "0.6"}, [2]string{"policy", "fifo"})
	hour := time.Hour.Seconds()
	wrong, sum := share(in, func(a *workload.Arrival) bool { return a.Spec.Target != hour }), 0.0
	alone := isolated(in)
	for i := range in.Arrivals {
		s := &in.Arrivals[i].Spec
		if off := s.Target/hour - 1; math.Abs(off) > 0.25 || in.Arrivals[i].Duration != time.Hour {
			t.Errorf("job %s: %g s believed of %v, want 2700 to 4500 of an hour", s.ID, s.Target, in.Arrivals[i].Duration)
		}
		sum += math.Abs(s.Target/hour - 1)
		if got := alone(s, "v100", 4); got != time.Hour+workload.DefaultRestartDelay {
			t.Errorf("job %s: %v alone, want an hour and a start", s.ID, got)
		}
	}
	if mean := sum / wrong / 100; wrong < 0.5 || wrong > 0.7 || mean < 0.1 || mean > 0.15 {
		t.Errorf("%g of the jobs wrong by %g in the mean, want 0.6 by 0.125", wrong, mean)
	}
}

// The truth of an elastic job's speed has its losses.
func TestTruthOfImperfectScaling(t *testing.T) {
	in := completed(t, func(*workload.Arrival) {}, [2]string{"jobs.elastic", "1"}, [2]string{"jobs.scaling-loss", "0.2"})
	s := &in.Arrivals[0].Spec
	for n, want := range map[int]float64{2: 0.5, 4: 1, 8: 1.8} {
		at := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: n, GPUType: "v100"}}
		if got := in.truth(s)(at, job.BatchSize{Local: 1}); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d GPUs: speed %g, want %g", n, got, want)
		}
	}
}

// Kinds of jobs change when jobs end: a job that scales to twice its GPUs ends in half the
// time, with a loss of 20 % in 1/1.8 of it.
func TestKindsOfJobs_change_runs(t *testing.T) {
	for _, tc := range []struct {
		settings map[string]string
		want     float64 // seconds
	}{
		{nil, 3600},
		{map[string]string{"jobs.elastic": "1"}, 1800},
		{map[string]string{"jobs.elastic": "1", "jobs.scaling-loss": "0.2"}, 2000},
	} {
		c := config.Default()
		none := time.Duration(0)
		c.Policies, c.Sim.Restart, c.Estimate = []string{"afs"}, &none, "oracle"
		for k, v := range tc.settings {
			if err := c.Set(k, v, "test"); err != nil {
				t.Fatal(err)
			}
		}
		in := loaded(t, c, `{"id":"a","duration_s":3600,"gpus":4}`)
		run, err := Simulate(t.Context(), c, in, "afs")
		if err != nil {
			t.Fatal(err)
		}
		j := run.Result.Jobs[0]
		if got := j.JCT - j.Queued; math.Abs(got-tc.want) > 1 {
			t.Errorf("%v: runs %g s, want %g", tc.settings, got, tc.want)
		}
	}
}

// Lyra §7.3: without checkpoints a job whose GPU fails begins anew.
func TestCheckpoints_change_runs(t *testing.T) {
	finish := func(share float64) float64 {
		c := config.Default()
		c.Jobs.Checkpoints, c.Sim.Checkpoint, c.Sim.Faults.GPUMTBF = share, time.Minute, 20*time.Hour
		in := loaded(t, c, `{"id":"a","duration_s":10800,"gpus":8}`)
		run, err := Simulate(t.Context(), c, in, "fifo")
		if err != nil {
			t.Fatal(err)
		}
		j := run.Result.Jobs[0]
		if j.Restarts == 0 {
			t.Fatal("no GPU failed")
		}
		return (j.JCT - j.Queued) / 3600
	}
	if with, without := finish(1), finish(0); with > 3.2 || without < 3.5 {
		t.Errorf("3 h take %.1f h with checkpoints and %.1f h without, want about 3 and more", with, without)
	}
}

// The notation of the cluster says which jobs may run where, and what GPUs are worth.
func TestKindsOfJobs_on_a_cluster_that_borrows(t *testing.T) {
	text := "job_id,submit_s,run_s,gpus,fungible\na,0,60,4,0\nb,0,60,4,1\n"
	for spec, worth := range map[string]int{"v100:2x8,t4:2x8/loan@3": 3, "v100:2x8,t4:2x8/loan@1": 1} {
		c := config.Default()
		c.Cluster, c.Trace = spec, "t.csv"
		in, err := Load(c, textFiles(map[string]string{"t.csv": text}))
		if err != nil {
			t.Fatal(err)
		}
		a, b := &in.Arrivals[0].Spec, &in.Arrivals[1].Spec
		if a.Eligible("t4") || !a.Eligible("v100") || !b.Eligible("t4") || b.Requested("t4") != 4*worth || b.Requested("v100") != 4 {
			t.Errorf("%s: got %v and %v with equivalents %v, want the second on t4 too, %d for one", spec, a.GPUTypes, b.GPUTypes, b.Equivalents, worth)
		}
	}
}

// Jobs that run already at the start are not measured, unless asked for.
func TestSkippedQueues(t *testing.T) {
	lines := []string{`{"id":"a","duration_s":60,"gpus":1}`, `{"id":"b","queue":"warm","duration_s":600,"gpus":1}`, `{"id":"c","queue":"x","duration_s":60,"gpus":1}`}
	for skip, want := range map[string]int{"warm": 2, "": 3, "warm,x": 1} {
		c := config.Default()
		if err := c.Set("measure.skip-queues", skip, "test"); err != nil {
			t.Fatal(err)
		}
		in := loaded(t, c, lines...)
		run, err := Simulate(t.Context(), c, in, "fifo")
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Result.Summary.Jobs; got != want || run.Unfinished || in.measured(c) != want {
			t.Errorf("%q skipped: got %d jobs, unfinished %v, want %d", skip, got, run.Unfinished, want)
		}
	}
	c := config.Default()
	in := loaded(t, c, lines[1])
	if _, err := Simulate(t.Context(), c, in, "fifo"); err == nil || !strings.Contains(err.Error(), "measure.skip-queues warm: no job is left to measure") {
		t.Errorf("all skipped: got error %v", err)
	}
}

// What can never run is refused with its place in the file, or left out.
func TestJobsThatNeverFit_in_a_trace(t *testing.T) {
	const good = "0,8,202,4,2,2,2,0,1,0,0,0\n"
	for row, want := range map[string]string{
		"1,9,202,8,2,4,3,1,1,0,0,0\n":   `t.csv:3:7: w_max "3", want a whole number of at least 4`,
		"1,9,202,8,2,5,8,1,1,0,0,0\n":   `t.csv:3:4: gpus "8", want 10 to 16 (w_min to w_max workers)`,
		"1,9,202,16,16,1,1,0,1,0,0,0\n": "t.csv:3:4: job 1: a worker needs 16 GPUs of one node, the largest of the cluster that it may use has 8",
		"1,9,202,24,8,3,6,1,1,0,0,0\n":  "t.csv:3:4: job 1: needs 24 GPUs of one eligible type, can get at most 16",
	} {
		files := textFiles(map[string]string{"t.csv": "job_id,submit_s,run_s,gpus,gpus_per_worker,w_min,w_max,elastic,fungible,hetero,checkpoint,warm\n" + good + row})
		c := config.Default()
		c.Cluster, c.Trace = "v100:2x8", "t.csv"
		if _, err := Load(c, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", row, err, want)
		}
		c.OnBadRow = "skip"
		if in, err := Load(c, files); err != nil || len(in.Arrivals) != 1 || in.Read.Bad != 1 {
			t.Errorf("%q skipped: got error %v, want the other job", row, err)
		}
	}
}

// What jobs state of their work is wrong where it is asked for, and when they end is not.
func TestMisstate(t *testing.T) {
	c := config.Default()
	app := &workload.Application{Curve: &workload.Curve{}}
	stated := func(app *workload.Application) (logs []float64) {
		for i := range 400 {
			spec := &job.Spec{ID: job.ID(fmt.Sprint("j", i)), Target: 100}
			misstate(c, spec, app)
			logs = append(logs, math.Log(spec.Target/100))
		}
		return logs
	}
	if logs := stated(app); logs[0] != 0 {
		t.Errorf("without an error a job states exp(%g) of its work", logs[0])
	}
	if err := c.Set("jobs.wrong-size", "1", "test"); err != nil {
		t.Fatal(err)
	}
	mean, square := 0.0, 0.0
	for _, x := range stated(app) {
		mean, square = mean+x/400, square+x*x/400
	}
	if math.Abs(mean) > 0.2 || math.Abs(square-1) > 0.25 {
		t.Errorf("errors have mean %g and square %g, want 0 and 1", mean, square)
	}
	if logs := stated(nil); logs[0] != 0 {
		t.Errorf("a job without an application states exp(%g) of its work", logs[0])
	}
}
