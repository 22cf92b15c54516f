package agentapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

var heldGPUs = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "h200"}

// The examples are these messages, and these messages are the examples.
func TestGolden(t *testing.T) {
	const sum = "sha256:1573e8e1ae3765a7e3b3680dd3a5c9ffbf86b7195932c046ddd6bb5ebefd75e1"
	for name, want := range map[string]any{
		"hello": &Hello{
			Version: Version, Client: "oxgang-py 0.1.0", Generation: 3, WorldSize: 2,
			Batch:    BatchLimits{Init: 128, Max: 1024, LocalMin: 1, LocalMax: 64},
			Schedule: []regime{{BatchSize: 128, Epochs: 10}}, Epochs: 10, Samples: 1e6,
			Restored: &Restored{Step: 1000, Progress: 128000, Checksum: sum}, RestoreSeconds: 2.1,
		},
		"welcome": &Welcome{Batch: Batch{Local: 32, Accumulation: 1}, ReportSeconds: 30, Profile: []int{8, 16, 32, 64}},
		"report": &Report{
			Generation: 3, Sequence: 17, Step: 1200, Progress: 151000.5, Epoch: 2, Interval: 30,
			Batch: Batch{Local: 32, Accumulation: 1}, StepTime: 0.21, SyncTime: 0.03, WaitTime: 0.01, GradSqr: 0.5, GradVar: 1.5,
		},
		"answer":     &Answer{Batch: Batch{Local: 32, Accumulation: 1}, Notice: &Notice{Deadline: 1760000000.5, Reason: "preempted"}},
		"checkpoint": &Checkpoint{Generation: 3, Step: 1000, Progress: 128000, Epoch: 1, Bytes: 123, Seconds: 0.8, Path: "step-1000", Checksum: sum},
		"error":      &Error{Error: "generation 2, want 3"},
	} {
		t.Run(name, func(t *testing.T) {
			text := golden(t, name)
			if m, isIncoming := want.(message); isIncoming {
				if err := decodeAny(name, []byte(text)); err != nil {
					t.Error(err)
				}
				if err := m.Check(); err != nil {
					t.Error(err)
				}
			}
			got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
			if err := json.Unmarshal([]byte(text), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(withoutFalse(tree(t, text)), tree(t, written(t, want))); diff != "" {
				t.Errorf("written (-example +got):\n%s", diff)
			}
		})
	}
}

// withoutFalse returns JSON without keys that are false: Go leaves them out.
func withoutFalse(v any) any {
	if object, ok := v.(map[string]any); ok {
		maps.DeleteFunc(object, func(_ string, v any) bool { return v == false })
		for key := range object {
			object[key] = withoutFalse(object[key])
		}
	}
	return v
}

func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func tree(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReport_Job(t *testing.T) {
	r := goldenReport(t)
	r.Profile = true
	got := r.Job("j17", heldGPUs, 8, 1<<30)
	want := job.Report{
		Job: "j17", Interval: 30 * time.Second, Configuration: heldGPUs, CPUs: 8, Memory: 1 << 30,
		Batch: job.BatchSize{Local: 32, Accumulation: 1}, StepTime: 210 * time.Millisecond, SyncTime: 30 * time.Millisecond,
		GradSqr: 0.5, GradVar: 1.5, Progress: 151000.5, Epoch: 2, Profile: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}
