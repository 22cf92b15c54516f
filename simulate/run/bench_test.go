package run

import (
	"context"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
)

// BenchmarkRun runs whole traces, from the files to the result. docs/experiments/speed.md
// has the figures.
func BenchmarkRun(b *testing.B) {
	b.Run("policy=sia/trace=philly-1", func(b *testing.B) { benchmarkTrace(b, "philly", 160) })
	b.Run("policy=sia/trace=newtrace-1", func(b *testing.B) { benchmarkTrace(b, "newtrace", 960) })
	b.Run("policy=fifo/jobs=50000", func(b *testing.B) {
		c := config.Default()
		c.Cluster, c.Generate.Kind = "t4:438x8", "fixed-duration"
		benchmarkRun(b, c, "fifo", 50_000)
	})
	b.Run("policy=lyra/jobs=50390", func(b *testing.B) { // 15 days in rounds of a minute
		c := config.Default()
		c.Cluster, c.Generate.Kind, c.Placer, c.Scheduler.Profile = "lyra", "lyra", "best-fit", false
		benchmarkRun(b, c, "lyra", 50_390)
	})
}

func benchmarkTrace(b *testing.B, trace string, jobs int) {
	c := config.Default()
	c.Trace = testdata.Path(b, "sia/traces/"+trace+"/workload-1.csv")
	c.Profiles = testdata.Path(b, "sia/profiles")
	benchmarkRun(b, c, "sia", jobs)
}

// benchmarkRun reports jobs per second, and the bytes of the heap for each job
// when the last one has ended, less those of the inputs.
func benchmarkRun(b *testing.B, c *config.Config, name string, jobs int) {
	files := Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  os.DirFS,
	}
	load := func() *Inputs {
		in, err := Load(c, files)
		if err != nil {
			b.Fatal(err)
		}
		return in
	}
	play := func(in *Inputs, obs ...scheduler.Observer) {
		run, err := Simulate(context.Background(), c, in, name, obs...)
		if err != nil {
			b.Fatal(err)
		}
		if got := run.Result.Summary.Done; got != jobs || len(run.Refused) > 0 {
			b.Fatalf("%d jobs done and %d plans refused, want %d and none", got, len(run.Refused), jobs)
		}
	}
	for b.Loop() {
		play(load())
	}
	b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
	in := load()
	w := &weigher{left: jobs, before: heap()}
	play(in, w)
	b.ReportMetric(float64(w.after-w.before)/float64(jobs), "B/job")
}

// A weigher is an observer that weighs the heap when the last job has ended and all
// of the run is still there.
type weigher struct {
	left          int
	before, after int64
}

// Event implements scheduler.Observer.
func (w *weigher) Event(_ time.Time, ev scheduler.Event) {
	if _, ok := ev.(scheduler.Exited); !ok {
		return
	}
	if w.left--; w.left == 0 {
		w.after = heap()
	}
}

// Round implements scheduler.Observer.
func (*weigher) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// heap returns the bytes in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
