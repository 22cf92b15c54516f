package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Both types of a job are told, and counted.
func TestLife_on_two_types(t *testing.T) {
	r, m := newRun(t), time.Minute
	r.submit(0, "j")
	grant := func(at time.Duration, a cluster.Allocation) {
		r.n++
		share := func(id cluster.NodeID, n int) cluster.Share {
			return cluster.Share{Node: id, Resources: cluster.Resources{GPUs: n}}
		}
		run := scheduler.Run{Job: "j", Allocation: a, Placement: cluster.Placement{share("a0", a.GPUs)}, Resized: a.Mixed()}
		if a.Mixed() {
			run.Placement = append(run.Placement, share("t0", a.Also.GPUs))
		}
		s := &policy.Snapshot{Now: start.Add(at), Round: r.n, Jobs: []*policy.Job{{}}}
		s.Jobs[0].Spec = &job.Spec{ID: "j"}
		r.w.Round(s, &policy.Plan{Jobs: []policy.Decision{{Allocation: a, Placement: run.Placement}}}, []scheduler.Action{run})
	}
	one := cluster.Allocation{Configuration: config(1, 4, "a100")}
	two := one
	two.Also = config(1, 2, "t4")
	grant(m, one)
	grant(2*m, two)
	text := r.text()
	s, err := At(reader(t, text), "j", 2*m)
	if err != nil {
		t.Fatal(err)
	}
	want := &Holding{Nodes: 1, GPUs: 4, Type: "a100", Also: &Holding{Nodes: 1, GPUs: 2, Type: "t4"}}
	if diff := cmp.Diff(want, s.Moment.Holds); diff != "" {
		t.Error(diff)
	}
	for _, typ := range s.Moment.Cluster.Types {
		if want := map[cluster.GPUType]int{"a100": 4, "t4": 2}[typ.Type]; typ.Free != want {
			t.Errorf("%s: %d GPUs free, want %d", typ.Type, typ.Free, want)
		}
	}
	life, err := Life(reader(t, text), "j")
	if got := render(t, life, err); !strings.Contains(got, "grew from 4 to 4 a100 GPUs and 2 t4 GPUs while it continued to train: ") || life.Totals.Restarts != 0 {
		t.Errorf("got %s, want both types told, and no restart", got)
	}
}

// A job without checkpoints does not go on where it was.
func TestLife_without_checkpoints(t *testing.T) {
	r, m := newRun(t), time.Minute
	r.w.Event(start, scheduler.Submitted{Spec: &job.Spec{ID: "j", GPUs: 2, NoCheckpoint: true}})
	gone := policy.Reason{Kind: policy.Reclaimed, Config: config(1, 2, "t4")}
	r.round(m, 0, decided{id: "j", holds: config(1, 2, "t4"), node: "t0", change: true})
	r.round(2*m, 0, decided{id: "j", why: gone, change: true})
	r.round(3*m, 0, decided{id: "j", holds: config(1, 2, "t4"), node: "t0", change: true})
	r.exit(4*m, "j", scheduler.Lost, "")
	text := r.text()
	life, err := Life(reader(t, text), "j")
	if got := render(t, life, err); !strings.Contains(got, "; it starts from the beginning: it has no checkpoints") {
		t.Errorf("got %s, want it to begin anew", got)
	}
	s, err := At(reader(t, text), "j", 2*m)
	if got := render(t, s, err); !strings.Contains(got, "its work is lost, because it has no checkpoints") {
		t.Errorf("got %s, want what checkpoints would change", got)
	}
}
