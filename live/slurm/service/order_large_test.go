package service

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// A round of 10,000 jobs that wait on 1,000 full nodes takes at most half a second of a processor, without Slurm's commands.
func TestOrderer_large(t *testing.T) {
	const jobs, nodes = 10_000, 1000
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
	o := orderer(t, s, config())
	for range 2 {
		before := processor(t)
		if err := o.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := processor(t) - before
		if s.told == 0 {
			t.Error("nothing was told")
		}
		if t.Logf("%v", took); took > 500*time.Millisecond {
			t.Errorf("a round takes %v of a processor, want at most half a second", took)
		}
	}
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
