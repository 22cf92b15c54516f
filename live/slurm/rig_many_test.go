package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/live/status"
)

// manyNodes are 200 nodes, each with a slurmd, all on this machine.
var manyNodes = []slurmtest.Group{{Prefix: "a", Nodes: 100, Type: "a100", GPUs: 8}, {Prefix: "h", Nodes: 100, Type: "h100", GPUs: 8}}

// With 200 nodes that each have a slurmd, a user without rights observes all of them, and what runs and waits there; a
// round of mode order has the shortest job first, of 300, and is undone.
func TestRig_many(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: 200 slurmd")
	}
	begin := time.Now()
	r := slurmtest.Start(t, slurmtest.Options{Groups: manyNodes, Lines: []string{"PriorityType=priority/basic"}})
	t.Logf("200 slurmd are there after %v", time.Since(begin).Round(time.Second))
	const runs, waits = 200, 300
	for range runs {
		r.Submit(t, "sleep 600", "--gres=gpu:8", "--time=60")
	}
	if err := slurmtest.Await(t.Context(), "jobs that run", func() (bool, error) { return states(t, r)[client.Running] == runs, nil }); err != nil {
		t.Fatal(err)
	}
	for i := range waits {
		r.Submit(t, "sleep 1", "--gres=gpu:4", "--time="+strconv.Itoa(1000-i), "--comment=oxgang:order")
	}
	before := places(t, r)
	took, used := time.Now(), spent(t)
	l, err := view.Take(t.Context(), &client.Client{Run: r.As("nobody")}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	now := view.StatusOf(l, nil, "not asked")
	idle := slices.DeleteFunc(slices.Clone(now.Nodes), func(n status.Node) bool { return n.Cause == "" })
	t.Logf("a look takes %v, %v of a processor", time.Since(took).Round(time.Millisecond), spent(t)-used)
	if len(l.Nodes) != 200 || len(now.Jobs) != runs+waits || len(idle) != 0 {
		t.Errorf("%d nodes, %d jobs, %d idle nodes, want 200, %d and none", len(l.Nodes), len(now.Jobs), len(idle), runs+waits)
	}
	c := config()
	c.Partition, c.Commands = "all", 1000
	o := orderer(t, r.Client(), c)
	took, used = time.Now(), spent(t)
	if err := o.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("a round takes %v, %v of a processor", time.Since(took).Round(time.Millisecond), spent(t)-used)
	want := idsOf(before)
	slices.Reverse(want)
	if diff := cmp.Diff(want, idsOf(places(t, r))); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	if err := o.release(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, places(t, r)); diff != "" {
		t.Errorf("undone (-before +after):\n%s", diff)
	}
}

// states returns how many jobs are in each state.
func states(t *testing.T, r *slurmtest.Rig) map[client.State]int {
	t.Helper()
	jobs, err := r.Client().Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[client.State]int{}
	for i := range jobs {
		all[jobs[i].State]++
	}
	return all
}

// spent returns what this process and the commands that it ran have used.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return processor(t) + time.Duration(u.Utime.Nano()+u.Stime.Nano())
}

// TestRig_load runs rounds of mode order, by default settings, with 10,000 waiting jobs on 1,000 nodes, most
// without a slurmd. slurmctld may use 2 % of a processor, and our side, including Slurm's commands, at most twice
// what squeue needs to print the jobs. The time of a round, with a goal of 2 s, is logged.
func TestRig_load(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: 10,000 jobs")
	}
	const jobs, nodes, rounds = 10_000, 1000, 4
	r := slurmtest.Start(t, slurmtest.Options{Groups: []slurmtest.Group{
		{Prefix: "a", Nodes: 1, Type: "a100", GPUs: 8}, {Prefix: "gone", Nodes: nodes - 1, Type: "h100", GPUs: 8, Absent: true},
	}, Lines: []string{"SlurmdTimeout=0", "PriorityType=priority/basic"}})
	first := r.Submit(t, "sleep 3600", "--gres=gpu:8", "--time=600")
	r.Until(t, first, "runs", func(j *client.Job) bool { return j.State == client.Running })
	id := r.Submit(t, "true", "--gres=gpu:8", "--comment=oxgang:order", fmt.Sprintf("--array=0-%d", jobs-1))
	for i := range 10 { // all but the last become records of their own, and later ones are shorter
		r.Call(t, "scontrol", "update", fmt.Sprintf("jobid=%v_[%d-%d]", id, i*jobs/10, min((i+1)*jobs/10-1, jobs-2)), "timelimit="+strconv.Itoa(100-i))
	}
	if n := states(t, r)[client.Pending]; n != jobs {
		t.Fatalf("%d jobs wait, want %d", n, jobs)
	}
	c := config()
	c.Partition = "all"
	quiet := controller(t, r)
	time.Sleep(10 * time.Second)
	idle := float64(controller(t, r)-quiet) / float64(10*time.Second)
	printed := printing(t, r)
	o := orderer(t, r.Client(), c)
	for range rounds {
		before, used, begin := controller(t, r), spent(t), time.Now()
		if err := o.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		took, own, asked := time.Since(begin), spent(t)-used, controller(t, r)-before
		share := asked.Seconds() / c.Round.Seconds()
		t.Logf("a round takes %v, %v of a processor, squeue alone %v; slurmctld uses %v meanwhile, %.2f %% of a processor at a round in %v; by itself %.2f %%",
			took.Round(time.Millisecond), own, printed, asked, 100*share, c.Round, 100*idle)
		if own > 2*printed || share > 0.02 {
			t.Errorf("a round takes %v of a processor, squeue %v, and of slurmctld's %.2f %%, want at most twice as much and 2 %%", own, printed, 100*share)
		}
	}
}

// printing returns what squeue uses to print all jobs.
func printing(t *testing.T, r *slurmtest.Rig) time.Duration {
	t.Helper()
	before := spent(t)
	r.Call(t, "squeue", "--json")
	return spent(t) - before
}

// controller returns what slurmctld has used.
func controller(t *testing.T, r *slurmtest.Rig) time.Duration {
	t.Helper()
	d, err := r.ProcessorTime("slurmctld")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
