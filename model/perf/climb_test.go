package perf_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// borrowed is the estimate of a type whose scaling was not measured. Source: Sia §3.3.2, Eq. 3.1.
type borrowed struct {
	*fitted
	own perf.Params // of one replica
}

func (m *borrowed) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	return m.fitted.Throughput(a, b) * m.Iteration(1, 1, b) / m.own.Iteration(1, 1, b)
}

func (m *borrowed) StepTime(a cluster.Allocation) perf.StepTime {
	t := m.own.StepTime()
	t.Exchange = m.fitted.StepTime(a).Exchange
	t.Slack = 1e-8/t.Compute.At(1) + 1e-8/t.Exchange.At(1)
	return t
}

type counted struct {
	perf.Model
	asked int
}

func (m *counted) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	m.asked++
	return m.Model.Throughput(a, b)
}

// What a model says of its steps changes how often it is asked, and no bit of the answer.
func TestBestBatch_asks_few_and_misses_none(t *testing.T) {
	draws.AtLeast(t, 1000)
	asked, searches, choices := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f, a := drawModel(t), drawAllocation(t)
		var m perf.Model = f
		if rapid.Bool().Draw(t, "borrowed") {
			m = &borrowed{f, drawModel(t).Params}
		}
		if m.StepTime(a).Slack >= 1e-3 {
			t.Skip("nothing counts as known")
		}
		l := &job.BatchLimits{Init: int(f.init), LocalMin: rapid.IntRange(1, 16).Draw(t, "least")}
		l.Max = l.Init * rapid.IntRange(1, 64).Draw(t, "max/init")
		l.LocalMax = map[cluster.GPUType]int{"t4": l.LocalMin + rapid.IntRange(0, 512).Draw(t, "most")}
		c := &counted{Model: m}
		got, b := perf.BestBatch(c, a, a.GPUs, l)
		asked, searches = asked+c.asked, searches+1
		c.asked = 0
		want, w := perf.TryAll(c, a, a.GPUs, l)
		choices += c.asked
		if got != want || b != w {
			t.Fatalf("goodput %v with %+v; of all, %v with %+v", got, b, want, w)
		}
		if found := perf.FindBatch(m, a, a.GPUs, l); found.Goodput != want || found.Batch != w || want > 0 && found.Throughput != m.Throughput(a, w) {
			t.Fatalf("FindBatch finds %+v; of all, %v with %+v", found, want, w)
		}
	})
	if mean := float64(asked) / float64(searches); mean > 4 {
		t.Errorf("%.1f batch sizes are asked for each, of %.1f, want at most 4", mean, float64(choices)/float64(searches))
	}
	t.Logf("%.1f batch sizes are asked for each, of %.1f", float64(asked)/float64(searches), float64(choices)/float64(searches))
}
