package parse

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/oxgang/oxgang/simulate/workload"
)

// Check returns all errors in a job, joined: violations of rules 1 to 4 of package trace (except uniqueness), and
// fields out of range.
func Check(a *workload.Arrival) error {
	var errs []error
	s := &a.Spec
	if s.ID == "" || !utf8.ValidString(string(s.ID)) {
		errs = append(errs, fmt.Errorf("id %q, want a name in UTF-8", s.ID))
	}
	if s.GPUs < 1 || s.GPUs > MaxCount {
		errs = append(errs, fmt.Errorf("gpus %d, want 1 to %d", s.GPUs, MaxCount))
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"at_s", a.At}, {"duration_s", a.Duration}, {"cancel_after_s", a.CancelAfter}, {"latency_s", s.Latency}, {"restart_overhead_s", s.RestartOverhead}} {
		if d.d < 0 || d.d > MaxSeconds*time.Second {
			errs = append(errs, fmt.Errorf("%s %v, want %s", d.name, d.d.Seconds(), WantSeconds))
		}
	}
	for _, x := range []struct {
		name string
		x    float64
	}{{"weight", s.Weight}, {"priority", s.Priority}, {"cpus", s.CPUs}, {"target_samples", s.Target}, {"input.storage_samples_per_s", s.Input.Storage}} {
		if math.IsNaN(x.x) || math.IsInf(x.x, 0) || x.x < 0 {
			errs = append(errs, fmt.Errorf("%s %v, want a finite number of at least 0", x.name, x.x))
		}
	}
	for _, n := range []struct {
		name string
		n    int
	}{
		{"batch_size", s.BatchSize},
		{"min_gpus", s.MinGPUs},
		{"max_gpus", s.MaxGPUs},
		{"worker_gpus", s.WorkerGPUs},
		{"micro_batches", s.MicroBatches},
		{"memory_bytes", int(s.Memory)},
		{"input.working_bytes", int(s.Input.Working)},
		{"input.dataset_bytes", int(s.Input.Dataset)},
		{"batch.init", s.Batch.Init},
		{"batch.max", s.Batch.Max},
		{"batch.local_min", s.Batch.LocalMin},
		{"reservation.nodes", s.Reservation.Nodes},
		{"reservation.gpus", s.Reservation.GPUs},
	} {
		if n.n < 0 {
			errs = append(errs, fmt.Errorf("%s %d, want at least 0", n.name, n.n))
		}
	}
	return errors.Join(append(errs, checkWorkers(a), s.Schedule.Validate())...)
}

func checkWorkers(a *workload.Arrival) error {
	var errs []error
	s := &a.Spec
	if s.MaxGPUs > 0 && s.MinGPUs > s.MaxGPUs {
		errs = append(errs, fmt.Errorf("min_gpus %d, want at most max_gpus, %d", s.MinGPUs, s.MaxGPUs))
	}
	if s.WorkerGPUs > 0 && s.GPUs%s.WorkerGPUs != 0 {
		errs = append(errs, fmt.Errorf("gpus %d, want whole workers, a multiple of worker_gpus, %d", s.GPUs, s.WorkerGPUs))
	}
	for _, t := range slices.Sorted(maps.Keys(s.Equivalents)) {
		if n := s.Equivalents[t]; n < 1 || n > MaxCount {
			errs = append(errs, fmt.Errorf("equivalents of %s: %d, want 1 to %d", t, n, MaxCount))
		}
	}
	if !(a.ScalingLoss >= 0 && a.ScalingLoss <= 1) {
		errs = append(errs, fmt.Errorf("scaling_loss %v, want 0 to 1", a.ScalingLoss))
	}
	if !(s.MixedSpeed >= 0 && s.MixedSpeed <= 1) {
		errs = append(errs, fmt.Errorf("mixed_speed %v, want 0 to 1", s.MixedSpeed))
	}
	return errors.Join(errs...)
}

// A Field names a part of a job for which Options.Check may reject the job.
type Field uint8

// Fields with a column in most formats.
const (
	Application Field = iota
	GPUs
	GPUTypes
)

var columnsOf = [...][]string{
	Application: {"application", "job_type", "model"},
	GPUTypes:    {"gpu_types", "gpu_spec"},
	GPUs:        {"num_replicas", "gpus", "gpu_num", "num_gpu", "scale_factor", "reqtres", "alloctres", "reqgres", "allocgres"},
}

// A FieldError is an error about one field of a job.
type FieldError struct {
	Field Field
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Blame adds file, line and column to err, an error about a field of the row.
func (r *Row) Blame(err error) *Error {
	column := 0
	if e, ok := errors.AsType[*FieldError](err); ok {
		if i := slices.IndexFunc(columnsOf[e.Field], r.Has); i >= 0 {
			column = r.column[columnsOf[e.Field][i]] + 1
		}
	}
	return &Error{File: r.O.File, Line: r.Line, Column: column, Problem: err.Error(), Err: err}
}

// BlameJSON returns the column, in a JSON line, of the key that caused err, a *FieldError, or 0 if the line lacks the
// key.
func BlameJSON(line []byte, err error) int {
	if e, ok := errors.AsType[*FieldError](err); ok {
		for _, key := range columnsOf[e.Field] {
			if i := bytes.Index(line, []byte(`"`+key+`"`)); i >= 0 {
				return i + 1
			}
		}
	}
	return 0
}
