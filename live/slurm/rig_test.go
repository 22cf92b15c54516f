package slurm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// On a real Slurm the jobs that take part change places, the one that takes none has one of them before it as it had, and
// all is undone.
func TestRig_order(t *testing.T) {
	r := slurmtest.Start(t, slurmtest.Options{
		Groups: []slurmtest.Group{{Prefix: "a", Nodes: 1, Type: "a100", GPUs: 2}}, Lines: []string{"PriorityType=priority/basic"},
	})
	first := r.Submit(t, "sleep 600", "--gres=gpu:2", "--time=60")
	r.Until(t, first, "runs", func(j *client.Job) bool { return j.State == client.Running })
	var ids []client.ID
	for _, o := range [][]string{{"--time=240", "--comment=oxgang:order"}, {"--time=120", "--comment=oxgang:order", "--nice=5"}, {"--time=1"}, {"--time=60", "--comment=oxgang:order"}} {
		ids = append(ids, r.Submit(t, "sleep 1", append(o, "--gres=gpu:2")...))
	}
	before := places(t, r)
	c := config()
	c.Partition = "all"
	o := orderer(t, r.Client(), c)
	if err := o.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := idsOf(places(t, r)), []client.ID{ids[3], ids[2], ids[1], ids[0]}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v; %v", got, want, places(t, r))
	}
	if mark := r.Job(t, ids[0]).AdminComment; mark == "" {
		t.Error("no mark in AdminComment")
	}
	if err := o.release(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, places(t, r)); diff != "" {
		t.Errorf("undone (-before +after):\n%s", diff)
	}
}

// A placed job is one that waits in a real Slurm.
type placed struct {
	ID       client.ID
	Priority uint32
	Nice     int
	Mark     string
}

// places returns the jobs that wait, by priority.
func places(t *testing.T, r *slurmtest.Rig) []placed {
	t.Helper()
	jobs, err := r.Client().Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []placed
	for i := range jobs {
		if j := &jobs[i]; j.Waits() {
			all = append(all, placed{j.ID, j.Priority, j.Nice, j.AdminComment})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return int(int64(b.Priority) - int64(a.Priority)) })
	return all
}

func idsOf(all []placed) (ids []client.ID) {
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids
}
