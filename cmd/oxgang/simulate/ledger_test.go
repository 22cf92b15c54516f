package simulate

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// inParts records a job that has one of eight GPUs for ten minutes, and returns the parts of the journal.
func inParts(t *testing.T) []string {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Tool: "test", Policy: "fifo", Seed: 1, Start: time.Unix(1000, 0).UTC(), Round: time.Minute, Cluster: c}
	r, err := driver.NewRecorder(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	r.PartAge = 3 * time.Minute
	s, err := scheduler.New(queue.New(queue.FIFO()), placement.NewBestFit(), c, scheduler.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	tell := func(now time.Time, ev scheduler.Event) {
		if _, err := s.Step(now, ev); err != nil {
			t.Fatal(err)
		}
		r.Event(now, ev)
	}
	tell(h.Start, scheduler.Submitted{Spec: &job.Spec{ID: "j", GPUs: 1, Adaptivity: job.Rigid, Timed: true, Target: 600}})
	tell(h.Start, scheduler.Profiled{Job: "j"})
	for k := range 10 {
		now := h.Start.Add(time.Duration(k) * time.Minute)
		r.Round(s.Round(t.Context(), now))
		r.Checkpoint(now, s.Memory(), []byte("memory"))
	}
	tell(h.Start.Add(10*time.Minute), scheduler.Exited{Job: "j", Outcome: scheduler.Done})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	parts, err := driver.JournalParts(r.Path())
	if err != nil || len(parts) < 3 {
		t.Fatalf("parts %q, %v, want at least 3", parts, err)
	}
	return parts
}

// total returns the GPU-seconds that "oxgang ledger" says were used, and those that were there.
func total(t *testing.T, files ...string) (used, there string) {
	t.Helper()
	cmd := LedgerCommand()
	var out bytes.Buffer
	cmd.SetArgs(append(files, "-o", "json"))
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Total struct {
			Used json.Number `json:"gpu_seconds"`
		} `json:"total"`
		Pools []struct {
			There json.Number `json:"there_gpu_seconds"`
		} `json:"pools"`
	}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatal(err)
	}
	return said.Total.Used.String(), said.Pools[0].There.String()
}

// TestLedger_parts: a journal counts once, however many of its parts are named; of one whose first parts are gone, the time that is left
// counts, and no other.
func TestLedger_parts(t *testing.T) {
	parts := inParts(t)
	used, there := total(t, parts[0])
	if used != "600" || there != "4800" {
		t.Errorf("a job with one of 8 GPUs for 600 s: used %s, there %s", used, there)
	}
	if again, still := total(t, parts...); again != used || still != there {
		t.Errorf("all parts named: used %s, there %s, want %s and %s", again, still, used, there)
	}
	if err := os.Remove(parts[0]); err != nil {
		t.Fatal(err)
	}
	if used, there := total(t, parts[1]); used != "420" || there != "3360" {
		t.Errorf("without the first part, of 180 s: used %s, there %s, want 420 and 3360", used, there)
	}
}
