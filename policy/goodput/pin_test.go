package goodput

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// What a pinned job gets of a server is no longer there for the next one.
func TestPin_gives_nothing_twice(t *testing.T) {
	p, s := newProgram(t), &policy.Snapshot{Cluster: servers(t, 1)}
	holds := onFour("holds")
	holds.NonPreemptive = true
	holds.Allocation.CPUs, holds.Allocation.Memory = 20, 400e9
	waits := onFour("reserved")
	waits.Status = job.Status{Phase: job.Waiting}
	waits.Reservation = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}
	third := onFour("third")
	third.Status = job.Status{Phase: job.Waiting}
	third.Reservation = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
	s.Jobs = []*policy.Job{holds, waits, third}
	rows, err := p.Prepare(s, alike(Worth{Weight: 1, Base: 1.1, Factor: 0.5}))
	if err != nil {
		t.Fatal(err)
	}
	first, second := rows[0].share, rows[1].share
	if first.CPUs != 20 || first.Memory != 400e9 || second.CPUs != 4 || second.Memory != 100e9 || !rows[2].pin.IsZero() {
		t.Errorf("shares %+v, %+v, third %v; want 20 and 4 of 24 CPUs, 400 and 100 of 500 GB, and no GPU for the third", first, second, rows[2].pin)
	}
}

// A job with a reservation runs only there: a claim of GPUs elsewhere gives it none.
func TestPin_claims_nothing_beside_a_reservation(t *testing.T) {
	p, s := newProgram(t), &policy.Snapshot{Cluster: servers(t, 1)}
	waits := onFour("waits")
	waits.Status = job.Status{Phase: job.Waiting}
	waits.Reservation = cluster.Configuration{Nodes: 2, GPUs: 12, GPUType: "v100"} // more than there are
	s.Jobs = []*policy.Job{waits}
	rows, err := p.Prepare(s, func(rows []*Row) {
		alike(Worth{Weight: 1, Base: 1.1, Factor: 0.5})(rows)
		rows[0].Claim = Claim{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}, Rate: 1}
	})
	if err != nil {
		t.Fatal(err)
	}
	rows[0].firm = true
	if pinner.pin(pinner{p}, rows); !rows[0].pin.IsZero() {
		t.Errorf("pinned to %v, want nothing", rows[0].pin)
	}
}
