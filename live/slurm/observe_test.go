package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
)

var at = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)

// waits is a job of the partition gpu that asks for a GPU.
func waits(id client.ID, comment string) client.Job {
	return client.Job{ID: id, Partition: "gpu", Account: "ml", State: client.Pending, Comment: comment, PerNode: client.GPUs{"": 1}, Needed: 1, Requeue: true}
}

// runs is one that holds GPUs of a node.
func runs(id client.ID, comment, node string, gpus int) client.Job {
	j := waits(id, comment)
	j.State, j.Nodes, j.GPUs, j.Start = client.Running, []string{node}, client.GPUs{"": gpus}, at.Add(-time.Minute)
	return j
}

func node(name, gpuType string, gpus int, flags ...string) client.Node {
	return client.Node{Name: name, State: "MIXED", Flags: flags, Partitions: []string{"gpu"}, GPUs: client.GPUs{gpuType: gpus}}
}

// Jobs of the partition that ask to take part do, all others that hold GPUs are load, whatever their
// partition; a node from which Slurm starts nothing has what is held there.
func TestObserve(t *testing.T) {
	elsewhere := runs(4, "oxgang:order", "n1", 1)
	elsewhere.Partition = "big"
	jobs := []client.Job{waits(3, "oxgang:order"), runs(2, "oxgang:elastic;min=1;max=4", "n1", 2), elsewhere, waits(5, ""), runs(6, "", "n2", 3)}
	o := observe(at, jobs, []client.Node{node("n2", "h100", 4, "DRAIN"), node("n1", "a100", 4)}, &Bounds{Partition: "gpu"})
	var took []client.ID
	for i := range o.Jobs {
		took = append(took, o.Jobs[i].ID)
	}
	if diff := cmp.Diff([]client.ID{2, 3}, took); diff != "" {
		t.Errorf("take part (-want +got):\n%s", diff)
	}
	if len(o.Load) != 2 || o.Load[0].ID != 4 || o.Load[1].ID != 6 || len(o.Others) != 1 || o.Others[0].ID != 5 {
		t.Errorf("load %+v, others %+v", o.Load, o.Others)
	}
	type gpus struct{ all, shared, free int }
	got := map[cluster.NodeID]gpus{}
	for _, n := range o.Nodes {
		got[n.ID] = gpus{all: n.Capacity.GPUs, free: o.Free()[n.ID]}
	}
	for _, n := range o.shared() {
		g := got[n.ID]
		g.shared = n.Capacity.GPUs
		got[n.ID] = g
	}
	want := map[cluster.NodeID]gpus{"n1": {4, 3, 1}, "n2": {3, 0, 0}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(gpus{})); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if c := o.Jobs[0].Configuration; c != (cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}) {
		t.Errorf("job 2 holds %v", c)
	}
	if len(o.Unused) != 1 || !strings.Contains(o.Unused[0], "n2") {
		t.Errorf("left %q, want that n2 is drained", o.Unused)
	}
}

// A job that cannot take part says why.
func TestObserve_says_why_a_job_takes_no_part(t *testing.T) {
	for want, change := range map[string]func(*client.Job){
		"its account is bio; only ml can": func(j *client.Job) { j.Account = "bio" },
		"tasks of an array":               func(j *client.Job) { j.Tasks = "2-9" },
		"a heterogeneous job":             func(j *client.Job) { j.Het = 7 },
		"requests no GPUs":                func(j *client.Job) { j.PerNode = nil },
		"several GPU types":               func(j *client.Job) { j.PerNode = client.GPUs{"a100": 1, "h100": 1} },
		"--no-requeue":                    func(j *client.Job) { j.Requeue = false },
		"max at least min":                func(j *client.Job) { j.Comment = "oxgang:elastic;min=2;max=1" },
		"its AdminComment was not":        func(j *client.Job) { j.AdminComment = "billed" },
		"no longer asks to take part":     func(j *client.Job) { j.Comment, j.AdminComment = "", "oxgang:hold" },
	} {
		j := waits(1, "oxgang:elastic;min=1;max=2")
		change(&j)
		o := observe(at, []client.Job{j}, nil, &Bounds{Partition: "gpu", Accounts: []string{"ml"}})
		if len(o.Jobs) != 1 || !strings.Contains(o.Jobs[0].Trouble, want) || len(o.Others) != 1 {
			t.Errorf("want %q: %+v", want, o.Jobs)
		}
	}
}

// Of a job that waits, what it asks for on each node counts: Slurm shows the sum as it was before an
// update.
func TestWants(t *testing.T) {
	j := waits(1, "")
	j.GPUs, j.PerNode, j.Needed = client.GPUs{"": 8}, client.GPUs{"": 2}, 1
	if got := Wants(j); got != 2 {
		t.Errorf("%d while it waits, want 2", got)
	}
	if j.State = client.Running; Wants(j) != 8 {
		t.Errorf("%d while it runs, want the 8 that it holds", Wants(j))
	}
}
