package slurm

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// A round of four times as many jobs, on four times as many nodes, takes about four times as long, in time of a processor and without
// Slurm's commands; it took sixteen times as long.
func TestOrderer_large(t *testing.T) {
	few, many := roundsOf(t, 2_500, 250), roundsOf(t, 10_000, 1000)
	if t.Logf("%v, %v", few, many); many > 9*few {
		t.Errorf("a round of 10,000 jobs takes %v, and of 2,500 %v: want it no more than nine times as long", many, few)
	}
}

// roundsOf returns the least time of a processor that a round takes of so many jobs that wait on full nodes.
func roundsOf(t *testing.T, jobs, nodes int) time.Duration {
	t.Helper()
	s := crowdOf(jobs, nodes)
	o := orderer(t, s, config())
	least := time.Hour
	for range 3 {
		before := processor(t)
		if err := o.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		least = min(least, processor(t)-before)
	}
	if s.told == 0 {
		t.Error("nothing was told")
	}
	return least
}

// crowdOf returns a Slurm whose nodes are full, and so many jobs that wait.
func crowdOf(jobs, nodes int) *still {
	s := &still{}
	for i := range nodes {
		n := slurmtest.Node(fmt.Sprintf("n%04d", i), "a100", 8)
		s.nodes = append(s.nodes, n)
		s.jobs = append(s.jobs, client.Job{
			ID: client.ID(i + 1), Partition: "gpu", State: client.Running, Limit: 200 * time.Hour, Start: time.Now(),
			GPUs: client.GPUs{"": 8}, Nodes: []string{n.Name}, HeldGPUs: []client.Held{{Node: n.Name, GPUs: client.GPUs{"a100": 8}}},
		})
	}
	for i := range jobs {
		s.jobs = append(s.jobs, client.Job{
			ID: client.ID(nodes + i + 1), Partition: "gpu", State: client.Pending, Reason: "Priority", Comment: "oxgang:order", Submit: time.Now(),
			Limit: time.Duration(1+i*7919%10000) * time.Minute, Needed: 1, PerNode: client.GPUs{"": 1 + i%8}, Priority: uint32(50000 - i),
		})
	}
	return s
}

// A still Slurm shows always the same jobs, whatever it is told.
type still struct {
	Slurm // nil: it is given no other commands
	jobs  []client.Job
	nodes []client.Node
	told  int
}

func (s *still) Jobs(context.Context) ([]client.Job, error)   { return s.jobs, nil }
func (s *still) Nodes(context.Context) ([]client.Node, error) { return s.nodes, nil }
func (s *still) Update(context.Context, client.ID, ...client.Field) error {
	s.told++
	return nil
}

// processor returns what this process has used.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
