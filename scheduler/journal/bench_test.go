package journal

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A measurement with all its digits.
func measured(id job.ID) scheduler.Reported {
	return scheduler.Reported{Report: job.Report{
		Job: id, Interval: 30 * time.Second, Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"},
		Batch: job.BatchSize{Local: 128, Accumulation: 1}, StepTime: 123456789, SyncTime: 23456789,
		GradSqr: 1 / 3.0, GradVar: math.Pi / 100, Progress: 123456.78901234567, Epoch: 17,
	}}
}

func BenchmarkEvent(b *testing.B) {
	var bytes counter
	w := NewWriter(&bytes, testHeader(b))
	ev := measured("cifar10-17")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w.Event(after(time.Duration(n)*time.Millisecond), ev)
		n++
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(bytes)/float64(n), "B/record")
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// round is one of 100 jobs, a tenth of which change.
func round(i int, s *policy.Snapshot, p *policy.Plan) {
	s.Round, s.Now = i, after(time.Duration(i)*time.Minute)
	for k := i % 10; k < len(p.Jobs); k += 10 {
		p.Jobs[k].Why.Value = 1 + 1/float64(i+k+1)
	}
}

func hundred() (*policy.Snapshot, *policy.Plan) {
	s := &policy.Snapshot{}
	p := &policy.Plan{Prices: []policy.TypePrice{{Type: "a100", Price: 1.8}}, Stats: policy.Stats{Iterations: 40, Objective: 97.123456, Bound: 97.2}}
	for i := range 100 {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprintf("cifar10-%d", i))}})
		p.Jobs = append(p.Jobs, started)
	}
	return s, p
}

func BenchmarkRound(b *testing.B) {
	var bytes counter
	w := NewWriter(&bytes, testHeader(b))
	s, p := hundred()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		round(n, s, p)
		w.Round(s, p, nil)
		n++
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(bytes)/float64(n), "B/record")
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	w := NewWriter(&text, testHeader(b))
	for i := range 1000 {
		w.Event(after(time.Duration(i)*time.Second), measured(job.ID(fmt.Sprintf("cifar10-%d", i%40))))
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(text.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Records() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
