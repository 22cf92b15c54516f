package run

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
)

// loaded returns the inputs of a trace in our own format, on one server.
func loaded(t *testing.T, c *config.Config, lines ...string) *Inputs {
	t.Helper()
	c.Cluster, c.Trace = "box8", "t.jsonl"
	folder := fstest.MapFS{c.Trace: {Data: []byte(strings.Join(lines, "\n"))}}
	in, err := Load(c, Files{Open: func(name string) (io.ReadCloser, error) { return folder.Open(name) }})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A run ends at its horizon, not at the last round before it.
func TestHorizon(t *testing.T) {
	for horizon, want := range map[time.Duration]int{30 * time.Second: 1, 90 * time.Second: 2, 2 * time.Minute: 3, 0: 3} {
		c := config.Default()
		c.Horizon = horizon
		in := loaded(t, c, `{"id":"a","at_s":20,"duration_s":60,"gpus":1}`, `{"id":"b","at_s":80,"duration_s":60,"gpus":1}`, `{"id":"c","at_s":120,"duration_s":60,"gpus":1}`)
		run, err := Simulate(context.Background(), c, in, "fifo")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(run.Result.Jobs); got != want || run.Unfinished != (horizon > 0) {
			t.Errorf("horizon %v: got %d jobs, unfinished %v, want %d", horizon, got, run.Unfinished, want)
		}
	}
}

// The truth about a job is that of its application, whatever its class is.
func TestApplicationOfAClass(t *testing.T) {
	c := config.Default()
	in := loaded(t, c,
		`{"id":"plain","application":"bert","gpus":1}`,
		`{"id":"named","application":"bert","class":"large","gpus":1}`,
		`{"id":"misled","application":"bert","class":"cifar10","gpus":1}`,
		`{"id":"steady","duration_s":60,"class":"cifar10","gpus":1}`)
	alone := isolated(in)
	want := alone(&in.Arrivals[0].Spec, "a100", 2)
	for i := range in.Arrivals {
		spec := &in.Arrivals[i].Spec
		app, name := in.application(spec), ""
		if app != nil {
			name = app.Name
		}
		if name != in.Arrivals[i].Application {
			t.Errorf("job %s: got application %q, want %q", spec.ID, name, in.Arrivals[i].Application)
		}
		if got := alone(spec, "a100", 2); app != nil && got != want {
			t.Errorf("job %s: got %v alone, want %v", spec.ID, got, want)
		}
	}
}

// Only jobs of the applications asked for are there, read or generated; what is wrong
// with others does not matter.
func TestApplications(t *testing.T) {
	c := config.Default()
	c.Jobs.Applications = []string{"bert", "cifar10"}
	in := loaded(t, c,
		`{"id":"a","application":"bert","gpus":1}`,
		`{"id":"b","application":"yolov3","gpus":1}`,
		`{"id":"c","application":"nowhere","gpus":1}`,
		`{"id":"d","duration_s":60,"gpus":1}`,
		`{"id":"e","application":"cifar10","gpus":1}`)
	var got []job.ID
	for _, a := range in.Arrivals {
		if got = append(got, a.Spec.ID); a.Spec.Target == 0 {
			t.Errorf("job %s is not complete", a.Spec.ID)
		}
	}
	if want := []job.ID{"a", "e"}; !slices.Equal(got, want) {
		t.Errorf("got jobs %v, want %v", got, want)
	}
	c.Trace, c.Cluster = "", config.Default().Cluster
	if in, err := Load(c, Files{}); err != nil || len(in.Arrivals) < 100 || len(in.Arrivals) > 155 { // of 160, 93 % in the mean
		t.Errorf("generated: got %v and error %v, want most of 160 jobs", in, err)
	}
	for _, wrong := range [][]string{{"gpt_pmp"}, {"bert", "nowhere"}} {
		c.Jobs.Applications = wrong
		if _, err := Load(c, Files{}); err == nil || !strings.Contains(err.Error(), wrong[len(wrong)-1]) {
			t.Errorf("applications %v: got error %v, want one that names the last", wrong, err)
		}
	}
}

// The jobs of a trace come anew in bursts, those of other applications left out
// before; not so if all come at once.
func TestBurstiness(t *testing.T) {
	c := config.Default()
	c.Jobs.Applications = []string{"bert"}
	plain, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	c.Jobs.Burstiness = 4
	in, err := Load(c, Files{})
	if err != nil || len(in.Arrivals) != len(plain.Arrivals) {
		t.Fatalf("got %d jobs and error %v, want %d", len(in.Arrivals), err, len(plain.Arrivals))
	}
	last := len(in.Arrivals) - 1
	for i := range in.Arrivals {
		a, was := &in.Arrivals[i], &plain.Arrivals[i]
		if a.Spec.ID != was.Spec.ID || (a.At == was.At) != (i == last) {
			t.Errorf("job %s at %v, want job %s, at %v if it is the last and else at another time", a.Spec.ID, a.At, was.Spec.ID, was.At)
		}
	}
	c.Jobs.Applications, c.Generate.Kind, c.Cluster = nil, "synergy-static", "synergy32"
	if _, err := Load(c, Files{}); err == nil || !strings.Contains(err.Error(), "burstiness") {
		t.Errorf("all jobs at the start: got error %v", err)
	}
}

// A limit on the GPUs of all jobs does not lift a job's own.
func TestMaxGPUs(t *testing.T) {
	c := config.Default()
	c.Jobs.MaxGPUs = 4
	in := loaded(t, c,
		`{"id":"free","application":"bert","gpus":1,"adaptivity":["gpu_count"]}`,
		`{"id":"less","application":"bert","gpus":1,"max_gpus":2,"adaptivity":["gpu_count"]}`,
		`{"id":"more","application":"bert","gpus":1,"max_gpus":8,"adaptivity":["gpu_count"]}`)
	want := map[job.ID]int{"free": 4, "less": 2, "more": 4}
	for _, a := range in.Arrivals {
		if a.Spec.MaxGPUs != want[a.Spec.ID] {
			t.Errorf("job %s: got at most %d GPUs, want %d", a.Spec.ID, a.Spec.MaxGPUs, want[a.Spec.ID])
		}
	}
}
