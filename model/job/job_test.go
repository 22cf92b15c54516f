package job

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestAttainedService(t *testing.T) {
	start := time.Unix(1000, 0)
	s := Status{Since: start, Service: time.Minute, GPUService: 3 * time.Minute}
	later := start.Add(2 * time.Minute)
	if s.AttainedService(later) != time.Minute || s.AttainedGPUService(later) != 3*time.Minute {
		t.Error("a job that holds nothing attains no service")
	}
	s.Allocation.GPUs = 4
	if got := s.AttainedService(later); got != 3*time.Minute {
		t.Errorf("got %v, want 1m before and 2m since", got)
	}
	if got := s.AttainedGPUService(later); got != 11*time.Minute {
		t.Errorf("got %v, want 3m before and 4 GPUs for 2m since", got)
	}
	s.Allocation.Also.GPUs = 3
	if got := s.AttainedGPUService(later); got != 17*time.Minute {
		t.Errorf("got %v, want 3m before and 7 GPUs of both types for 2m since", got)
	}
}

// Lyra §7.5: three GPUs of an inference server do the work of one of a training server.
func TestSpec_Worth(t *testing.T) {
	s := Spec{MinGPUs: 4, Equivalents: map[cluster.GPUType]int{"t4": 3, "k80": 2}}
	for _, test := range []struct {
		own, also cluster.Configuration
		want      float64
		enough    bool
	}{
		{cluster.Configuration{GPUs: 3, GPUType: "v100"}, cluster.Configuration{}, 3, false},
		{cluster.Configuration{GPUs: 4, GPUType: "v100"}, cluster.Configuration{}, 4, true},
		{cluster.Configuration{GPUs: 11, GPUType: "t4"}, cluster.Configuration{}, 11.0 / 3, false},
		{cluster.Configuration{GPUs: 3, GPUType: "v100"}, cluster.Configuration{GPUs: 3, GPUType: "t4"}, 4, true},
		{cluster.Configuration{GPUs: 3, GPUType: "v100"}, cluster.Configuration{GPUs: 2, GPUType: "t4"}, 11.0 / 3, false},
		{cluster.Configuration{GPUs: 6, GPUType: "t4"}, cluster.Configuration{GPUs: 4, GPUType: "k80"}, 4, true},
		{cluster.Configuration{GPUs: 0, GPUType: "v100"}, cluster.Configuration{GPUs: 12, GPUType: "t4"}, 4, true},
	} {
		a := cluster.Allocation{Configuration: test.own, Also: test.also}
		if got := s.Worth(&a); got != test.want || s.Enough(&a) != test.enough {
			t.Errorf("%v: worth %g, enough %v, want %g and %v", a, got, s.Enough(&a), test.want, test.enough)
		}
	}
}

func TestSpec(t *testing.T) {
	s := Spec{MinGPUs: 4, GPUTypes: []cluster.GPUType{"a100", "rtx"}, GPUsPerReplica: map[cluster.GPUType]int{"a100": 2, "rtx": 8}}
	if s.Min("a100") != 4 || s.Min("rtx") != 8 || s.ReplicaGPUs("t4") != 1 {
		t.Errorf("got %d, %d, %d, want 4, 8, 1", s.Min("a100"), s.Min("rtx"), s.ReplicaGPUs("t4"))
	}
	if !s.Eligible("rtx") || s.Eligible("t4") {
		t.Error("want rtx eligible, t4 not")
	}
	if !(&Spec{}).Eligible("t4") || (&Spec{GPUsPerReplica: map[cluster.GPUType]int{"rtx": 8}}).Eligible("t4") {
		t.Error("want any type eligible if none is named, and only types with a replica size if some have one")
	}
}

func TestPhases(t *testing.T) {
	for p := Profiling; p <= Cancelled; p++ {
		if p.String() == "" || p.Terminal() != (p >= Completed) {
			t.Errorf("%d: %q, terminal %v", p, p, p.Terminal())
		}
	}
	if (BatchSize{Local: 8, Accumulation: 3}).PerReplica() != 32 {
		t.Error("3 accumulating passes and a synchronising one of 8 samples are 32")
	}
}

func TestReport_Validate(t *testing.T) {
	good := Report{Progress: 10, Epoch: 1, StepTime: time.Second, GradSqr: 0.5}
	if err := good.Validate(); err != nil {
		t.Errorf("good report: %v", err)
	}
	bad := Report{Progress: math.NaN(), GradVar: math.Inf(1), Epoch: -1}
	want := "gradient variance +Inf, want finite and at least 0\nprogress NaN, want finite and at least 0\nepoch -1, want finite and at least 0"
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for name, bad := range map[string]Report{
		"interval -1":         {Interval: -time.Second},
		"CPUs NaN":            {CPUs: math.NaN()},
		"memory -1":           {Memory: -1},
		"local batch size -1": {Batch: BatchSize{Local: -1}},
		"accumulation -1":     {Batch: BatchSize{Accumulation: -1}},
		"step time -1":        {StepTime: -time.Second},
		"sync time -1":        {SyncTime: -time.Second},
	} {
		if err := bad.Validate(); err == nil || err.Error() != name+", want finite and at least 0" {
			t.Errorf("got %v, want a complaint about %s", err, name)
		}
	}
}

// A step is one pass with gradient exchange, and before it those that only compute.
func TestReportStep(t *testing.T) {
	for _, c := range []struct {
		r    Report
		want time.Duration
	}{
		{Report{StepTime: 3 * time.Second, SyncTime: time.Second}, 3 * time.Second},
		{Report{StepTime: 3 * time.Second, SyncTime: time.Second, Batch: BatchSize{Accumulation: 2}}, 7 * time.Second},
		{Report{StepTime: time.Second, SyncTime: 2 * time.Second, Batch: BatchSize{Accumulation: 2}}, time.Second},
	} {
		if got := c.r.Step(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.r, got, c.want)
		}
	}
}
