package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// encoding is a crowd that takes plans: each is encoded as it is sent.
type encoding struct {
	*crowd
	bytes, writes int
}

func (e *encoding) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	text, err := json.Marshal(o)
	e.bytes, e.writes = e.bytes+len(text), e.writes+1
	return err
}

func (e *encoding) Status() client.SubResourceWriter { return encodingStatus{e: e} }

type encodingStatus struct {
	client.SubResourceWriter
	e *encoding
}

func (s encodingStatus) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return s.e.Update(ctx, o)
}

// manyJobs returns a backend of jobs of a GPU each, that wait or run on nodes of eight.
func manyJobs(tb testing.TB, nodes, jobs int) (*Backend, *encoding) {
	tb.Helper()
	c := &encoding{crowd: &crowd{}}
	w := newBackend(tb, c, nil)
	why := said{}
	var rows []*policy.Job
	for i := range jobs {
		uid := fmt.Sprintf("9e3f1c52-0f63-4c0e-a1b5-%012d", i)
		e := &jobstate.Job{Entry: driver.Entry{ID: job.ID(uid)}, Parsed: &jobadapter.Job{UID: uid, Kind: "Job", Namespace: "default", Name: fmt.Sprintf("j%d", i)}, Spec: &job.Spec{ID: job.ID(uid)}}
		e.Parsed.PerWorker.GPUs = 1
		if i < 8*nodes {
			e.Held = grantOn(fmt.Sprintf("a100-%d", i/8))
		}
		e.Status = job.Status{Submitted: time.Unix(1e9, int64(i)), Since: time.Unix(1e9, int64(i))}
		w.table.ByID[e.ID] = e
		w.table.Order = append(w.table.Order, e)
		why[e.ID] = [2]string{"waiting: capacity", "no node has a GPU left for it, and 1999 jobs are before it"}
		rows = append(rows, &policy.Job{Spec: e.Spec, Status: e.Status})
	}
	w.o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons { return why }
	w.o.Expect = func() map[job.ID]jobstate.Expected { return nil }
	w.Jobs = func(time.Time) []*policy.Job { return rows }
	w.Round(&policy.Snapshot{}, &policy.Plan{}, nil)
	return w, c
}

func grantOn(node string) jobstate.Grant {
	a := v1alpha1.JobAllocation{Generation: 1, GPUs: 1, GPUType: "a100", Nodes: []v1alpha1.NodeShare{{Name: node, GPUs: 1}}, MilliCPUs: 12000, MemoryBytes: 1 << 37}
	return jobstate.GrantOf(&a)
}

// What a round costs the scheduler whose plan of 10,000 jobs has changed, and how many bytes it sends.
func BenchmarkCommit(b *testing.B) {
	w, c := manyJobs(b, 1000, 10000)
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		w.table.Order[0].Phase = jobstate.Vacated
		if err := w.Do(b.Context(), []scheduler.Action{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.bytes)/float64(b.N), "sent-B/op")
}
