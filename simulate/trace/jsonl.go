package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/strict"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

type jsonArrival struct {
	ID             job.ID                  `json:"id"`
	At             json.Number             `json:"at_s,omitzero"`
	Application    string                  `json:"application,omitzero"`
	Duration       json.Number             `json:"duration_s,omitzero"`
	CancelAfter    json.Number             `json:"cancel_after_s,omitzero"`
	ScalingLoss    float64                 `json:"scaling_loss,omitzero"`
	Bound          bool                    `json:"bound,omitzero"`
	Heterogeneous  bool                    `json:"heterogeneous,omitzero"`
	Name           string                  `json:"name,omitzero"`
	User           string                  `json:"user,omitzero"`
	Queue          string                  `json:"queue,omitzero"`
	Class          job.Class               `json:"class,omitzero"`
	Weight         float64                 `json:"weight,omitzero"`
	Priority       float64                 `json:"priority,omitzero"`
	GPUs           int                     `json:"gpus"`
	BatchSize      int                     `json:"batch_size,omitzero"`
	MinGPUs        int                     `json:"min_gpus,omitzero"`
	MaxGPUs        int                     `json:"max_gpus,omitzero"`
	GPUsPerReplica map[cluster.GPUType]int `json:"gpus_per_replica,omitzero"`
	MicroBatches   int                     `json:"micro_batches,omitzero"`
	Equivalents    map[cluster.GPUType]int `json:"equivalents,omitzero"`
	MixedSpeed     float64                 `json:"mixed_speed,omitzero"`
	WorkerGPUs     int                     `json:"worker_gpus,omitzero"`
	Resizes        bool                    `json:"resizes,omitzero"`
	NoCheckpoint   bool                    `json:"no_checkpoint,omitzero"`
	GPUTypes       []cluster.GPUType       `json:"gpu_types,omitzero"`
	Parts          []job.Part              `json:"parts,omitzero"`
	CPUs           float64                 `json:"cpus,omitzero"`
	Memory         int64                   `json:"memory_bytes,omitzero"`
	Input          jsonInput               `json:"input,omitzero"`
	Adaptivity     []string                `json:"adaptivity,omitzero"`
	Batch          jsonBatch               `json:"batch,omitzero"`
	Schedule       jsonSchedule            `json:"schedule,omitzero"`
	Goal           string                  `json:"goal,omitzero"`
	Latency        json.Number             `json:"latency_s,omitzero"`
	Target         float64                 `json:"target_samples,omitzero"`
	Restart        json.Number             `json:"restart_overhead_s,omitzero"`
	NonPreemptive  bool                    `json:"non_preemptive,omitzero"`
	Reservation    jsonConfiguration       `json:"reservation,omitzero"`
}

// ascending sorts the nodes of each part.
func ascending(parts []job.Part) []job.Part {
	for _, p := range parts {
		slices.Sort(p.Nodes)
	}
	return parts
}

type jsonBatch struct {
	Init     int                     `json:"init,omitzero"`
	Max      int                     `json:"max,omitzero"`
	LocalMin int                     `json:"local_min,omitzero"`
	LocalMax map[cluster.GPUType]int `json:"local_max,omitzero"`
}

type jsonSchedule struct {
	Mode    string       `json:"mode,omitempty"`
	Epochs  int          `json:"epochs,omitzero"`
	Sizes   []int        `json:"batch_sizes,omitempty"`
	Regimes []jsonRegime `json:"regimes,omitempty"`
}

type jsonRegime struct {
	BatchSize int `json:"batch_size"`
	Epochs    int `json:"epochs"`
}

type jsonInput struct {
	Working int64   `json:"working_bytes,omitzero"`
	Dataset int64   `json:"dataset_bytes,omitzero"`
	Storage float64 `json:"storage_samples_per_s,omitzero"`
}

type jsonConfiguration struct {
	Nodes   int             `json:"nodes"`
	GPUs    int             `json:"gpus"`
	GPUType cluster.GPUType `json:"gpu_type"`
}

var (
	adaptivityNames = []string{"gpu_count", "gpu_type", "batch_size"}
	goalNames       = []string{"training", "batch_inference", "latency_bound"}
)

// readJSONL reads Oxgang's own format, one JSON object per line. Unknown keys are errors.
func readJSONL(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	o = o.Filled()
	return func(yield func(workload.Arrival, error) bool) {
		f := parse.NewFeed(o, "jsonl", true, yield)
		in := parse.NewLines(r, o)
		for {
			line, err := in.Next()
			switch {
			case errors.Is(err, io.EOF):
				f.Finish(in.Number)
				return
			case err != nil && !errors.Is(err, parse.ErrTooLong):
				f.Fail(err)
				return
			case err == nil && len(bytes.TrimSpace(line)) == 0:
				continue
			}
			o.Summary.Rows++
			if !jsonLine(f, line, in.Number, err) {
				return
			}
		}
	}
}

func jsonLine(f *parse.Feed, line []byte, number int, err error) bool {
	if err != nil {
		return f.Reject(err)
	}
	var j jsonArrival
	if err := strict.Decode(line, &j); err != nil {
		return f.Reject(&parse.Error{File: f.O.File, Line: number, Column: jsonOffset(err), Problem: jsonProblem(err), Err: err})
	}
	a, err := j.arrival()
	if err == nil {
		err = parse.Check(&a)
	}
	if err != nil {
		return f.Reject(&parse.Error{File: f.O.File, Line: number, Problem: strings.ReplaceAll(err.Error(), "\n", "; ")})
	}
	if err := f.Check(&a); err != nil {
		return f.Reject(&parse.Error{File: f.O.File, Line: number, Column: parse.BlameJSON(line, err), Problem: err.Error(), Err: err})
	}
	return f.Accept(a, number, 0, "id")
}

func jsonOffset(err error) int {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return int(e.Offset)
	}
	if e, ok := errors.AsType[*strict.AfterError](err); ok {
		return e.Offset + 1
	}
	return 0
}

func jsonProblem(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is a JSON %s, want %s", e.Field, e.Value, e.Type)
	}
	if e, ok := errors.AsType[*strict.AfterError](err); ok {
		return parse.Quote(e.Rest) + " after the object, want the end of the line"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "truncated JSON, want a whole object"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (j *jsonArrival) arrival() (workload.Arrival, error) {
	a := workload.Arrival{
		Application: j.Application, ScalingLoss: j.ScalingLoss, Bound: j.Bound, Heterogeneous: j.Heterogeneous,
		Spec: job.Spec{
			ID: j.ID, Name: j.Name, User: j.User, Queue: j.Queue, Class: j.Class, Weight: j.Weight, Priority: j.Priority,
			GPUs: j.GPUs, BatchSize: j.BatchSize, MinGPUs: j.MinGPUs, MaxGPUs: j.MaxGPUs,
			GPUsPerReplica: j.GPUsPerReplica, MicroBatches: j.MicroBatches, GPUTypes: j.GPUTypes, Parts: ascending(j.Parts),
			Equivalents: j.Equivalents, MixedSpeed: j.MixedSpeed, WorkerGPUs: j.WorkerGPUs, Resizes: j.Resizes, NoCheckpoint: j.NoCheckpoint,
			CPUs: j.CPUs, Memory: j.Memory, Input: job.Input(j.Input), Batch: job.BatchLimits(j.Batch), Target: j.Target,
			NonPreemptive: j.NonPreemptive, Reservation: cluster.Configuration(j.Reservation),
		},
	}
	var errs []error
	for _, t := range []struct {
		name string
		text json.Number
		to   *time.Duration
	}{
		{"at_s", j.At, &a.At},
		{"duration_s", j.Duration, &a.Duration},
		{"cancel_after_s", j.CancelAfter, &a.CancelAfter},
		{"latency_s", j.Latency, &a.Spec.Latency},
		{"restart_overhead_s", j.Restart, &a.Spec.RestartOverhead},
	} {
		d, ok := parse.Seconds(string(t.text))
		if t.text != "" && !ok {
			errs = append(errs, fmt.Errorf("%s %s, want %s", t.name, parse.Quote(string(t.text)), parse.WantSeconds))
		}
		*t.to = d
	}
	for _, name := range j.Adaptivity {
		bit := index(adaptivityNames, name, &errs, "adaptivity")
		a.Spec.Adaptivity |= 1 << bit
	}
	mode, err := job.ParseScheduleMode(j.Schedule.Mode)
	if err != nil {
		errs = append(errs, err)
	}
	a.Spec.Schedule = job.BatchSchedule{Mode: mode, Epochs: j.Schedule.Epochs, Sizes: j.Schedule.Sizes}
	for _, r := range j.Schedule.Regimes {
		a.Spec.Schedule.Regimes = append(a.Spec.Schedule.Regimes, job.Regime(r))
	}
	if j.Goal != "" {
		a.Spec.Goal = job.Goal(index(goalNames, j.Goal, &errs, "goal"))
	}
	return a, errors.Join(errs...)
}

func index(names []string, name string, errs *[]error, field string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	*errs = append(*errs, fmt.Errorf("%s %s, want one of %s", field, parse.Quote(name), strings.Join(names, ", ")))
	return 0
}

func newJSONArrival(a *workload.Arrival) (jsonArrival, error) {
	s := &a.Spec
	j := jsonArrival{
		ID: s.ID, Application: a.Application, Name: s.Name, User: s.User, Queue: s.Queue, Class: s.Class, Weight: s.Weight, Priority: s.Priority,
		At: jsonSeconds(a.At), Duration: jsonSeconds(a.Duration), CancelAfter: jsonSeconds(a.CancelAfter),
		ScalingLoss: a.ScalingLoss, Bound: a.Bound, Heterogeneous: a.Heterogeneous,
		GPUs: s.GPUs, BatchSize: s.BatchSize, MinGPUs: s.MinGPUs, MaxGPUs: s.MaxGPUs,
		GPUsPerReplica: s.GPUsPerReplica, MicroBatches: s.MicroBatches, GPUTypes: s.GPUTypes, Parts: s.Parts,
		Equivalents: s.Equivalents, MixedSpeed: s.MixedSpeed, WorkerGPUs: s.WorkerGPUs, Resizes: s.Resizes, NoCheckpoint: s.NoCheckpoint,
		CPUs: s.CPUs, Memory: s.Memory, Input: jsonInput(s.Input), Batch: jsonBatch(s.Batch), Latency: jsonSeconds(s.Latency), Target: s.Target,
		Restart: jsonSeconds(s.RestartOverhead), NonPreemptive: s.NonPreemptive, Reservation: jsonConfiguration(s.Reservation),
	}
	j.Schedule.Epochs, j.Schedule.Sizes = s.Schedule.Epochs, s.Schedule.Sizes
	if int(s.Schedule.Mode) <= int(job.Given) {
		j.Schedule.Mode = s.Schedule.Mode.String()
	}
	for _, r := range s.Schedule.Regimes {
		j.Schedule.Regimes = append(j.Schedule.Regimes, jsonRegime(r))
	}
	for bit, name := range adaptivityNames {
		if s.Adaptivity.Has(1 << bit) {
			j.Adaptivity = append(j.Adaptivity, name)
		}
	}
	switch {
	case s.Adaptivity >= 1<<len(adaptivityNames):
		return j, fmt.Errorf("adaptivity %03b has a bit without a name", s.Adaptivity)
	case int(s.Goal) >= len(goalNames):
		return j, fmt.Errorf("goal %d, want at most %d", s.Goal, len(goalNames)-1)
	case s.Goal != job.Training:
		j.Goal = goalNames[s.Goal]
	}
	return j, parse.Check(a)
}

func jsonSeconds(d time.Duration) json.Number {
	if d == 0 {
		return ""
	}
	return json.Number(parse.FormatSeconds(d))
}

func writeJSONL(w io.Writer, seq iter.Seq2[workload.Arrival, error]) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for a, err := range seq {
		if err != nil {
			return err
		}
		j, err := newJSONArrival(&a)
		if err != nil {
			return fmt.Errorf("write jsonl trace: job %s: %w", a.Spec.ID, err)
		}
		if err := enc.Encode(j); err != nil {
			return fmt.Errorf("write jsonl trace: %w", err)
		}
	}
	return b.Flush()
}
