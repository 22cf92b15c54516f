package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// asks is a job of the partition gpu with a time limit.
func asks(id client.ID, comment string, gpus int, limit time.Duration) client.Job {
	return client.Job{
		ID: id, Name: "job" + id.String(), Partition: "gpu", State: client.Pending, Reason: "Priority", Priority: 100, Comment: comment,
		PerNode: client.GPUs{"": gpus}, Needed: 1, Requeue: true, Limit: limit, Submit: at.Add(time.Duration(id) * time.Second),
	}
}

func onNode(j client.Job, node string) client.Job {
	j.State, j.Nodes, j.GPUs, j.Start = client.Running, []string{node}, client.GPUs{"": j.PerNode.Total()}, at
	return j
}

func advice(t *testing.T, policy string, jobs ...client.Job) []Advice {
	t.Helper()
	var nodes []client.Node
	for _, name := range []string{"n1", "n2"} {
		nodes = append(nodes, client.Node{Name: name, State: "MIXED", Partitions: []string{"gpu"}, GPUs: client.GPUs{"a100": 4}})
	}
	o := observe(at.Add(time.Minute), jobs, nodes, &Bounds{Partition: "gpu"})
	all, err := advise(t.Context(), o, &Config{Policy: policy, Round: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Jobs that take no part keep what they hold; of the others the shortest is the first.
func TestAdvise(t *testing.T) {
	all := advice(t, "srtf",
		onNode(asks(1, "", 4, time.Hour), "n1"),
		asks(2, "oxgang:order", 4, 4*time.Hour), asks(3, "oxgang:order", 4, 2*time.Hour), asks(4, "oxgang:order", 4, time.Hour),
	)
	want := map[client.ID]string{2: "wait at place 3", 3: "wait at place 2", 4: "start on 4 a100 (n2:4)"}
	if len(all) != len(want) {
		t.Fatalf("advice on %d jobs, want %d", len(all), len(want))
	}
	for i := range all {
		if got := all[i].Does(); got != want[all[i].Job.ID] || all[i].Because() == "" {
			t.Errorf("job %s: %s, because %q; want %s", all[i].Job.ID, got, all[i].Because(), want[all[i].Job.ID])
		}
	}
}

// Nothing is planned for a job that Slurm would not start, or that somebody holds.
func TestAdvise_barred(t *testing.T) {
	depends, held := asks(1, "oxgang:order", 4, time.Hour), asks(2, "oxgang:order", 4, time.Hour)
	depends.Reason = "Dependency"
	held.Priority, held.Reason = 0, "JobHeldUser"
	for i, a := range advice(t, "srtf", depends, held) {
		want := []string{"Dependency", "JobHeldUser"}[i]
		if a.Barred != want || a.Place != 0 || a.Does() != "nothing" || !strings.Contains(a.Because(), want) {
			t.Errorf("%s: barred %q, place %d, %s because %q", a.Job.ID, a.Barred, a.Place, a.Does(), a.Because())
		}
	}
}

// An elastic job that runs would grow on what is free, and shrink for another.
func TestAdvise_elastic(t *testing.T) {
	grows := advice(t, "afs", onNode(asks(1, "oxgang:elastic;min=1;max=8", 4, time.Hour), "n1"))
	if got := grows[0].Does(); got != "grow from 4 to 8 a100 (n1:4 n2:4)" {
		t.Errorf("got %s", got)
	}
	big := asks(1, "oxgang:elastic;min=1;max=8", 4, time.Hour)
	big.State, big.Nodes, big.GPUs, big.Needed, big.Start = client.Running, []string{"n1", "n2"}, client.GPUs{"": 8}, 2, at
	shrinks := advice(t, "afs", big, asks(2, "oxgang:elastic;min=4;max=4", 4, time.Hour))
	if got := shrinks[0].Does(); !strings.HasPrefix(got, "shrink from 8 to 4 a100") {
		t.Errorf("got %s", got)
	}
	if got := shrinks[1].Does(); !strings.HasPrefix(got, "start on 4 a100") {
		t.Errorf("got %s", got)
	}
}
