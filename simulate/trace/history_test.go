package trace

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// One source of history: Kubernetes' and Slurm's are recognised, packed or not; a trace that does
// not say what was observed is none, and bad input is refused.
func TestReadHistory(t *testing.T) {
	log, err := os.ReadFile("slurm/testdata/epoch.txt")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(log); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(log), packed.String()} {
		h, err := ReadHistory(strings.NewReader(text), "", parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h.Format != "slurm" || len(h.Jobs) != 13 || h.Cluster != "" || h.Taken.Unix() != 1795436019 {
			t.Errorf("got %s of %d jobs until %d; want 13 jobs, the last until 1795436019", h.Format, len(h.Jobs), h.Taken.Unix())
		}
	}
	dump, err := os.Open("testdata/kubernetes.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	h, err := ReadHistory(dump, "", parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h.Format != "kubernetes" || len(h.Jobs) != 9 || h.Cluster == "" {
		t.Errorf("got %s of %d jobs on %q; want 9 jobs of Kubernetes with nodes", h.Format, len(h.Jobs), h.Cluster)
	}
	if h, err := ReadHistory(strings.NewReader("name,time,application,num_replicas,batch_size\n"), "", parse.Options{}); h != nil || err != nil {
		t.Errorf("a trace of sia: %+v, %v, want neither", h, err)
	}
	for _, tc := range []struct{ text, format string }{{"what is this", ""}, {"JobID|Submit\n", "slurm"}, {"", "none"}} {
		if h, err := ReadHistory(strings.NewReader(tc.text), tc.format, parse.Options{}); h != nil || err == nil {
			t.Errorf("%q: %+v, %v, want an error", tc.text, h, err)
		}
	}
}

// The largest use is what was held at once, by type, on nodes of what a job held of one. A job that
// starts when another ends is not at once with it.
func TestLargestUse(t *testing.T) {
	held := func(gpus, nodes, from, to int, types ...cluster.GPUType) parse.Observed {
		o := parse.Observed{Nodes: nodes, Started: time.Unix(int64(from), 0), Ended: time.Unix(int64(to), 0)}
		o.Arrival = workload.Arrival{Duration: time.Duration(to-from) * time.Second, Spec: job.Spec{GPUs: gpus, GPUTypes: types}}
		return o
	}
	running := held(4, 1, 5, 30, "a100")
	running.Ended = time.Time{}
	h := History{Jobs: []parse.Observed{
		held(3, 1, 10, 20, "a100"), held(8, 2, 0, 10, "a100"), running, held(1, 1, 25, 30, "a100"),
		held(16, 1, 0, 5, "h100"), held(2, 0, 0, 5), held(20, 0, 5, 9),
		{Arrival: workload.Arrival{Spec: job.Spec{GPUs: 99}}},
	}}
	if got, want := h.LargestUse(), "a100:3x4,gpu:3x8,h100:1x16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (&History{}).LargestUse(); got != "" {
		t.Errorf("no jobs: %q, want none", got)
	}
}
