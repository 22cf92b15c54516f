package run

import (
	"io"
	"io/fs"
	"math"
	"path"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestIsolated: jobs share an answer only if nothing that decides it differs.
func TestIsolated(t *testing.T) {
	c := config.Default()
	c.Generate.Jobs = 1
	in, err := Load(c, osFiles())
	if err != nil {
		t.Fatal(err)
	}
	alone := isolated(in)
	spec := func(change func(*job.Spec)) *job.Spec {
		s := job.Spec{Class: "cifar10", GPUs: 4, BatchSize: 128, Adaptivity: job.Adaptive, Batch: in.Catalog["cifar10"].Batch}
		change(&s)
		return &s
	}
	whole := alone(spec(func(*job.Spec) {}), "a100", 8)
	for name, tc := range map[string]struct {
		got, than float64
	}{
		"a smaller largest batch":     {alone(spec(func(s *job.Spec) { s.Batch.Max = 256 }), "a100", 8).Seconds(), whole.Seconds()},
		"a fixed batch size":          {alone(spec(func(s *job.Spec) { s.Adaptivity = job.StrongScaling }), "a100", 8).Seconds(), whole.Seconds()},
		"fewer GPUs at most":          {alone(spec(func(s *job.Spec) { s.MaxGPUs = 2 }), "a100", 8).Seconds(), whole.Seconds()},
		"half a GPU instead of a GPU": {alone(spec(func(*job.Spec) {}), "a100", 0.5).Seconds(), alone(spec(func(*job.Spec) {}), "a100", 1).Seconds()},
	} {
		if !(tc.got > tc.than) {
			t.Errorf("%s: alone in %.0f s, want more than %.0f s", name, tc.got, tc.than)
		}
	}
	if got := alone(spec(func(*job.Spec) {}), "abacus", 8); got != 0 {
		t.Errorf("on a GPU type that is not there: got %v, want 0", got)
	}
}

// Synergy §1: a job's fair share is the GPU-proportional one, of CPUs and memory
// too: alexnet takes 0.6 s an iteration with 3 CPUs, 0.48 s with 4 (public
// profiles), and 1/4.9 s where nobody counts CPUs.
func TestIsolatedOfAJobThatWaits(t *testing.T) {
	for cluster, want := range map[string]float64{"synergy32": 0.6, "v100:4x8/32c/500g": 0.48, "v100:4x8": 1 / 4.9} {
		c := config.Default()
		c.Cluster, c.Trace = cluster, "trace.csv"
		in, err := Load(c, textFiles(map[string]string{"trace.csv": "job_id,model,arrival_s,total_iters,gpus\na,alexnet,0,1000,4\nb,alexnet,0,2000,4\n"}))
		if err != nil {
			t.Fatal(err)
		}
		alone := isolated(in)
		for i := range in.Arrivals {
			a := &in.Arrivals[i]
			got := alone(&a.Spec, "v100", 4) - workload.DefaultRestartDelay
			if want := want * a.Spec.Target / 4; math.Abs(got.Seconds()-want) > 1e-3 {
				t.Errorf("%s: job %s alone in %.3f s, want %.3f s", cluster, a.Spec.ID, got.Seconds(), want)
			}
		}
	}
}

// textFiles are files that exist only here.
func textFiles(texts map[string]string) Files {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Files{
		Open: func(name string) (io.ReadCloser, error) { return fsys.Open(path.Clean(name)) },
		Dir:  func(name string) fs.FS { sub, _ := fs.Sub(fsys, path.Clean(name)); return sub },
	}
}

// Rho is the static one where all jobs have a schedule, or where it is asked for.
func TestStatic(t *testing.T) {
	for _, tc := range []struct {
		name      string
		scheduled int // jobs of 3
		rho       string
		want      bool
	}{
		{"all have a schedule", 3, "", true},
		{"one has none", 2, "", false},
		{"all have, isolated asked for", 3, "isolated", false},
		{"none has, static asked for", 0, "static", true},
	} {
		c := config.Default()
		c.Generate.Jobs, c.Fairness.Rho = 3, tc.rho
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range tc.scheduled {
			in.Arrivals[i].Spec.Schedule.Mode = job.GNS
		}
		if got := in.static(c); got != tc.want {
			t.Errorf("%s: static %v, want %v", tc.name, got, tc.want)
		}
	}
}

// jobs.restart is what a start costs alone, too.
func TestIsolated_with_another_restart_time(t *testing.T) {
	times := map[string]time.Duration{}
	for _, restart := range []string{"", "0s", "10m"} {
		c := config.Default()
		for _, kv := range [][2]string{{"cluster", "homog64"}, {"generate.jobs", "1"}, {"jobs.restart", restart}} {
			if err := c.Set(kv[0], kv[1], "test"); err != nil {
				t.Fatal(err)
			}
		}
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		spec := &in.Arrivals[0].Spec
		times[restart] = isolated(in)(spec, "t4", 1)
		if restart != "" && spec.RestartOverhead != *c.Sim.Restart {
			t.Errorf("restart %s: the scheduler is told %v", restart, spec.RestartOverhead)
		}
	}
	if got := times["10m"] - times["0s"]; got != 10*time.Minute {
		t.Errorf("10 minutes a start add %v, want 10 minutes", got)
	}
	if times[""] <= times["0s"] {
		t.Errorf("%v alone, want more than the %v without a start", times[""], times["0s"])
	}
}
