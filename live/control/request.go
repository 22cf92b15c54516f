package control

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Request describes a job that a user submits. Command and Dir are required. Fields that are missing in JSON have the
// values of NewRequest.
type Request struct {
	Name     string            `json:"name,omitzero"` // default: from the command
	Command  []string          `json:"command"`
	Dir      string            `json:"dir"`           // working directory, absolute
	Env      []string          `json:"env,omitempty"` // NAME=value
	GPUs     Range             `json:"gpus"`
	GPUTypes []cluster.GPUType `json:"gpu_types,omitempty"` // any if empty
	Class    job.Class         `json:"class,omitzero"`      // default: Name without the number at its end
	Batch    int               `json:"batch,omitzero"`      // samples per step, of all workers; 0: reported by the program
	Samples  float64           `json:"samples,omitzero"`    // to completion, at initial efficiency; 0: reported by the program
	CPUs     float64           `json:"cpus,omitzero"`       // of all workers; 0: the machine's share
	Memory   int64             `json:"memory,omitzero"`     // bytes, of all workers; 0: no limit
	Weight   float64           `json:"weight"`
	// Preemptible: it may be stopped after a checkpoint, to continue later or elsewhere.
	Preemptible    bool    `json:"preemptible"`
	RestartSeconds float64 `json:"restart_seconds"` // cost of a restart, until measured
	// User is the user who sent the request if the scheduler serves several users; otherwise nil.
	User *account.User `json:"-"`
}

// A Range is the minimum and maximum number of GPUs of a job.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

func (r Range) String() string {
	if r.Min == r.Max {
		return strconv.Itoa(r.Min)
	}
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}

// NewRequest returns a Request for one GPU, with defaults in all other fields.
func NewRequest() Request {
	return Request{GPUs: Range{1, 1}, Weight: 1, Preemptible: true, RestartSeconds: 30}
}

// Limits of a request, chosen so that sums cannot overflow.
const (
	maxGPUs    = 1 << 12
	maxBatch   = 1 << 30
	maxSamples = 1e18
	maxCPUs    = 1 << 16
	maxMemory  = 1 << 50
	maxWeight  = 1e6
	maxRestart = 24 * 3600
	maxTypes   = 64
)

// complete sets the name and the class if they are empty.
func (r *Request) complete() {
	if r.Class == "" && r.Name != "" {
		r.Class = job.Class(base(r.Name))
	}
	if r.Name == "" {
		r.Name = nameOf(r.Command)
	}
}

// Validate returns all errors of r that do not depend on the machine.
func (r *Request) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(r.Command) == 0 || r.Command[0] == "" {
		bad("command: empty, want a program and its arguments")
	}
	if !filepath.IsAbs(r.Dir) {
		bad("dir %q, want an absolute path", r.Dir)
	}
	for _, s := range slices.Concat(r.Command, r.Env, []string{r.Dir}) {
		if strings.ContainsRune(s, 0) {
			bad("%.40q: contains a zero byte", s)
		}
	}
	for _, e := range r.Env {
		if strings.IndexByte(e, '=') < 1 {
			bad("env %.40q, want NAME=value", e)
		}
	}
	if r.Name != "" {
		errs = append(errs, validName("name", r.Name))
	}
	if r.Class != "" {
		errs = append(errs, validName("class", string(r.Class)))
	}
	errs = append(errs, r.numbers())
	return errors.Join(errs...)
}

func (r *Request) numbers() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.GPUs.Min < 1 || r.GPUs.Max < r.GPUs.Min || r.GPUs.Max > maxGPUs {
		bad("gpus %v, want 1 <= min <= max <= %d", r.GPUs, maxGPUs)
	}
	if len(r.GPUTypes) > maxTypes || slices.Contains(r.GPUTypes, "") {
		bad("gpu_types: %d, want at most %d, and no empty name", len(r.GPUTypes), maxTypes)
	}
	for _, n := range []struct {
		name            string
		got, least, top float64
	}{
		{"batch", float64(r.Batch), 0, maxBatch},
		{"samples", r.Samples, 0, maxSamples},
		{"cpus", r.CPUs, 0, maxCPUs},
		{"memory", float64(r.Memory), 0, maxMemory},
		{"weight", r.Weight, 1 / maxWeight, maxWeight},
		{"restart_seconds", r.RestartSeconds, 0, maxRestart},
	} {
		if math.IsNaN(n.got) || n.got < n.least || n.got > n.top {
			bad("%s %v, want %v to %v", n.name, n.got, n.least, n.top)
		}
	}
	return errors.Join(errs...)
}

// Spec returns the specification of the requested job. The request must be valid and complete.
func (r *Request) Spec(id job.ID) *job.Spec {
	s := &job.Spec{
		ID: id, Name: r.Name, Class: r.Class, Weight: r.Weight,
		GPUs: r.GPUs.Min, MinGPUs: r.GPUs.Min, MaxGPUs: r.GPUs.Max,
		BatchSize: r.Batch, Batch: job.BatchLimits{Init: r.Batch, Max: r.Batch},
		GPUTypes: slices.Clone(r.GPUTypes), CPUs: r.CPUs, Memory: r.Memory,
		Adaptivity: job.StrongScaling, Target: r.Samples, NonPreemptive: !r.Preemptible,
		RestartOverhead: time.Duration(r.RestartSeconds * float64(time.Second)),
	}
	if r.GPUs.Min == r.GPUs.Max {
		s.Adaptivity = job.Rigid
	}
	return s
}
