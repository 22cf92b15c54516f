package metrics

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A script drives a Recorder by hand; times are seconds since epoch.
type script struct {
	*Recorder
	cluster *cluster.Cluster
	rentals []cluster.Rental
	loans   []cluster.Loan
	prices  []policy.TypePrice // of the next plans
	jobs    int                // active, as a snapshot would have them
}

func begin(t testing.TB, opts Options, nodes ...cluster.Node) *script {
	t.Helper()
	r, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return &script{Recorder: r, cluster: newCluster(t, nodes...)}
}

func newCluster(t testing.TB, nodes ...cluster.Node) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func node(id cluster.NodeID, typ cluster.GPUType, gpus int) cluster.Node {
	return cluster.Node{ID: id, GPUType: typ, Capacity: cluster.Resources{GPUs: gpus}}
}

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func (s *script) submit(t float64, id job.ID) {
	s.accept(t, &job.Spec{ID: id, Class: "bert", Batch: job.BatchLimits{Init: 10, Max: 100}})
}

func (s *script) accept(t float64, spec *job.Spec) {
	s.jobs++
	s.Event(at(t), scheduler.Submitted{Spec: spec})
}

func (s *script) report(t float64, id job.ID) {
	s.Event(at(t), scheduler.Reported{Report: job.Report{Job: id}})
}

func (s *script) exit(t float64, id job.ID, how scheduler.Outcome) {
	if how != scheduler.Lost {
		s.jobs--
	}
	s.Event(at(t), scheduler.Exited{Job: id, Outcome: how})
}

// round is one of 60 s.
func (s *script) round(t float64, actions ...scheduler.Action) {
	s.Round(&policy.Snapshot{
		Now: at(t), Length: time.Minute, Cluster: s.cluster, Rentals: s.rentals, Loans: s.loans, Jobs: make([]*policy.Job, s.jobs),
	}, &policy.Plan{Prices: s.prices}, actions)
}

func run(id job.ID, typ cluster.GPUType, gpus int, on cluster.NodeID) scheduler.Run {
	return scheduler.Run{
		Job:        id,
		Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: typ}},
		Placement:  cluster.Placement{{Node: on, Resources: cluster.Resources{GPUs: gpus}}},
	}
}
