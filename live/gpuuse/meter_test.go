package gpuuse

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A bench feeds a Meter with one GPU use a minute.
type bench struct {
	m   *Meter
	at  time.Time
	doc func() *status.Status
	own func(*Sample) job.ID
}

func newBench(doc func() *status.Status) *bench {
	return &bench{m: NewMeter(nil, time.Minute), at: time.Unix(1_800_000_000, 0), doc: doc}
}

// minutes passes some minutes with a share of busy time of each GPU of the node; a GPU below 0 is absent.
func (b *bench) minutes(n int, node string, busy ...float64) *status.Status {
	var s *status.Status
	for range n {
		b.at = b.at.Add(time.Minute)
		var all []Sample
		for i, v := range busy {
			if one := unmeasured(); v >= 0 || math.IsNaN(v) {
				one.Node, one.Index, one.UUID, one.Busy = node, i, fmt.Sprint("GPU-", i), v
				all = append(all, one)
			}
		}
		b.m.take(all, nil, b.at)
		s = b.doc()
		s.At = b.at
		b.m.Attach(s, b.own)
	}
	return s
}

func onOneNode(held ...status.Holder) func() *status.Status {
	return func() *status.Status {
		s := &status.Status{Title: "c", Nodes: []status.Node{{Name: "gpu-01.example.org", GPUs: 4, Held: held}}}
		for _, h := range held {
			s.Jobs = append(s.Jobs, status.Job{ID: h.Job, GPUs: h.GPUs, GPUType: "a100"})
		}
		return s
	}
}

// A job that leaves all its GPUs idle for half an hour needs a person. One busy GPU, a restart, or a gap without
// samples begins the time again. Idle GPU-hours add up.
func TestMeter_idle(t *testing.T) {
	const idle = "holds 4 a100 GPUs that have been idle for 30m"
	b := newBench(onOneNode(status.Holder{Job: "a", GPUs: 4}))
	if s := b.minutes(30, "gpu-01", 0, 0, 0.05, 0.01); s.Jobs[0].Trouble != "" || math.Abs(s.Jobs[0].IdleHours-4*29/60.0) > 0.001 {
		t.Errorf("after 29 minutes: %q, %g GPU-hours", s.Jobs[0].Trouble, s.Jobs[0].IdleHours)
	}
	if s := b.minutes(1, "gpu-01", 0, 0, 0, 0); s.Jobs[0].Trouble != idle {
		t.Errorf("after 30 minutes: %q", s.Jobs[0].Trouble)
	}
	if s := b.minutes(1, "gpu-01", 0, 0.06, 0, 0); s.Jobs[0].Trouble != "" || math.Abs(s.Jobs[0].IdleHours-(4*30+3)/60.0) > 0.001 {
		t.Errorf("one GPU works: %q, %g GPU-hours", s.Jobs[0].Trouble, s.Jobs[0].IdleHours)
	}
	b.minutes(20, "gpu-01", 0, 0, 0, 0)
	b.at = b.at.Add(10 * time.Minute) // no samples
	if s := b.minutes(1, "gpu-01", 0, 0, 0, 0); s.Jobs[0].Trouble != "" || s.Jobs[0].IdleHours > (4*30+3+4*20+1)/60.0 {
		t.Errorf("after a gap: %q, %g GPU-hours", s.Jobs[0].Trouble, s.Jobs[0].IdleHours)
	}
	b.minutes(20, "gpu-01", 0, 0, 0, 0)
	doc := b.doc
	b.doc = func() *status.Status { s := doc(); s.Jobs[0].Since = time.Unix(1_800_009_000, 0); return s }
	if s := b.minutes(20, "gpu-01", 0, 0, 0, 0); s.Jobs[0].Trouble != "" {
		t.Errorf("after a restart of the job: %q", s.Jobs[0].Trouble)
	}
	if s := b.minutes(40, "gpu-01", 0, math.NaN(), 0, 0); s.Jobs[0].Trouble != "" {
		t.Errorf("the use of a GPU is unknown: %q", s.Jobs[0].Trouble)
	}
}

// Jobs that share a node: with owners each has its own GPUs. Without, only what must be idle counts.
func TestMeter_shared_node(t *testing.T) {
	b := newBench(onOneNode(status.Holder{Job: "a", GPUs: 2}, status.Holder{Job: "b", GPUs: 2}))
	if s := b.minutes(60, "gpu-01", 0, 0, 1, 1); s.Jobs[0].IdleHours != 0 || s.Jobs[0].Trouble != "" {
		t.Errorf("without owners: %+v", s.Jobs)
	}
	if s := b.minutes(61, "gpu-01", 0, 0, 1, 0); s.Jobs[0].IdleHours != 1.017 || s.Jobs[1].IdleHours != 1.017 || s.Jobs[0].Trouble != "" {
		t.Errorf("without owners, one GPU works: %+v", s.Jobs)
	}
	b = newBench(onOneNode(status.Holder{Job: "a", GPUs: 2}, status.Holder{Job: "b", GPUs: 2}))
	b.own = func(s *Sample) job.ID { return map[bool]job.ID{true: "a", false: "b"}[s.Index < 2] }
	s := b.minutes(61, "gpu-01", 0, 0, 1, 0)
	if a, other := &s.Jobs[0], &s.Jobs[1]; a.IdleHours != 2 || other.IdleHours != 1 || a.Trouble == "" || other.Trouble != "" {
		t.Errorf("with owners: %+v", s.Jobs)
	}
	if s := b.minutes(40, "gpu-01", 0, math.NaN(), 1, 1); s.Jobs[0].Trouble != "" {
		t.Errorf("with owners, the use of a GPU is unknown: %q", s.Jobs[0].Trouble)
	}
	if u := s.Nodes[0].Use; len(u) != 4 || u[0].Job != "a" || u[3].Job != "b" || *u[2].Busy != 1 {
		t.Errorf("use %+v", u)
	}
}

// A GPU that no longer reports while others of its node do is named, until it is back. Reads that fail or stop are told,
// and their last values are not shown as present.
func TestMeter_gone(t *testing.T) {
	b := newBench(onOneNode(status.Holder{Job: "a", GPUs: 4}))
	b.minutes(5, "gpu-01", 1, 1, 1, 1)
	if s := b.minutes(2, "gpu-01", 1, -1, 1, 1); len(s.Attention) > 0 {
		t.Errorf("after two reads: %q", s.Attention)
	}
	if s := b.minutes(1, "gpu-01", 1, -1, 1, 1); len(s.Attention) != 1 || !strings.HasPrefix(s.Attention[0], "GPU 1 of node gpu-01.example.org has not reported since 2027-01-15") {
		t.Errorf("after three reads: %q", s.Attention)
	}
	if s := b.minutes(1, "gpu-01", 1, 1, 1, 1); len(s.Attention) > 0 {
		t.Errorf("it is back: %q", s.Attention)
	}
	b.m.take(nil, errors.New("connection refused"), b.at)
	s := b.doc()
	s.At = b.at.Add(4 * time.Minute)
	if b.m.Attach(s, nil); len(s.Nodes[0].Use) > 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "connection refused") {
		t.Errorf("reads fail: %+v, %q", s.Nodes[0].Use, s.Notes)
	}
}

// Power is computed from the energy counter if it is not measured. A counter that begins again gives no power.
func TestMeter_power_from_energy(t *testing.T) {
	b := newBench(onOneNode())
	for i, joules := range []float64{1000, 7000, 100, 6100} {
		b.at = b.at.Add(time.Minute)
		one := unmeasured()
		one.Node, one.UUID, one.Index, one.Joules = "gpu-01", "GPU-0", 0, joules
		b.m.take([]Sample{one}, nil, b.at)
		s := b.doc()
		s.At = b.at
		b.m.Attach(s, nil)
		if want := []float64{0, 100, 0, 100}[i]; s.Nodes[0].Use[0].Watts != want {
			t.Errorf("%g J: %g W, want %g", joules, s.Nodes[0].Use[0].Watts, want)
		}
	}
}
