package control

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func TestNameOf(t *testing.T) {
	for command, want := range map[string]string{
		"python train.py":                       "train",
		"python3.12 -u /src/train.py --lr 0.1":  "train",
		"/opt/venv/bin/python -m imagenet.main": "imagenet",
		"torchrun --nproc-per-node=4 Main_2.py": "main-2",
		"bash -c true":                          "bash",
		"./run.sh data.csv":                     "run",
		"sleep 60":                              "sleep",
		"python":                                "python",
		"./---":                                 "job",
		"./тест":                                "job",
		"./" + strings.Repeat("x", 99):          strings.Repeat("x", 63),
		"":                                      "job",
	} {
		if got := nameOf(strings.Fields(command)); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestBase(t *testing.T) {
	for name, want := range map[string]string{
		"mnist": "mnist", "mnist-2": "mnist", "mnist2": "mnist", "mnist-12": "mnist", "gpt-2-small": "gpt-2-small", "7": "7", "2-3": "2",
	} {
		if got := base(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Whatever a command is called, its name is valid.
func TestNameOf_is_valid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRequest()
		r.Command = []string{rapid.String().Draw(t, "command")}
		r.complete()
		if err := validName("id", r.Name); err != nil {
			t.Fatal(err)
		}
	})
}

// Who names jobs alike says that they are alike; a command's name says nothing.
func TestComplete(t *testing.T) {
	for _, test := range []struct {
		given, want Request
	}{
		{Request{}, Request{Name: "train"}},
		{Request{Class: "digits"}, Request{Name: "train", Class: "digits"}},
		{Request{Name: "mnist-2"}, Request{Name: "mnist-2", Class: "mnist"}},
		{Request{Name: "mnist-2", Class: "digits"}, Request{Name: "mnist-2", Class: "digits"}},
	} {
		got := test.given
		got.Command, test.want.Command = []string{"python", "train.py"}, []string{"python", "train.py"}
		got.complete()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("name %q, class %q (-want +got):\n%s", test.given.Name, test.given.Class, diff)
		}
	}
}

func TestSpec(t *testing.T) {
	r := Request{
		Name: "mnist", Command: []string{"a"}, Dir: "/", GPUs: Range{1, 4}, GPUTypes: []cluster.GPUType{"h200"}, Class: "digits",
		Batch: 128, Samples: 1e6, CPUs: 4, Memory: 8 << 30, Weight: 2, RestartSeconds: 12.5,
	}
	want := &job.Spec{
		ID: "mnist-2", Name: "mnist", Class: "digits", Weight: 2, GPUs: 1, MinGPUs: 1, MaxGPUs: 4, BatchSize: 128,
		Batch: job.BatchLimits{Init: 128, Max: 128}, GPUTypes: r.GPUTypes, CPUs: 4, Memory: 8 << 30, Adaptivity: job.StrongScaling,
		Target: 1e6, NonPreemptive: true, RestartOverhead: 12500 * time.Millisecond,
	}
	if diff := cmp.Diff(want, r.Spec("mnist-2")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.GPUs = Range{2, 2}
	if got := r.Spec("mnist-2"); got.Adaptivity != job.Rigid || got.Requested("h200") != 2 {
		t.Errorf("rigid: got %+v", got)
	}
}

// FuzzRequest: whatever is sent, what is accepted is valid, makes a job, and reads the
// same when it is sent again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"command":["python","train.py"],"dir":"/home/me","gpus":{"min":1,"max":4},"samples":1e6}`))
	f.Add([]byte(`{"command":["a"],"dir":"/","env":["A=b"],"weight":1e-6,"memory":1125899906842624}`))
	f.Add([]byte(`{"command":["a"],"dir":"/","dir":"/"}`))
	f.Add([]byte(`[[[[{"a":{}}]]]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewRequest()
		if decode(bytes.NewReader(text), &r) != nil || r.Validate() != nil {
			return
		}
		r.complete()
		if err := r.Validate(); err != nil {
			t.Fatalf("valid until completed: %v", err)
		}
		if s := r.Spec("a"); s.RestartOverhead < 0 || s.Min("h200") < 1 || s.Most("h200") < s.Min("h200") {
			t.Fatalf("spec %+v", s)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back := NewRequest()
		if err := decode(bytes.NewReader(again), &back); err != nil {
			t.Fatal(err)
		}
		if a, err := json.Marshal(back); err != nil || !bytes.Equal(a, again) {
			t.Fatalf("sent %s, read %s, %v", again, a, err)
		}
	})
}
