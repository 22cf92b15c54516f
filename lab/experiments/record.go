package experiments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A Record is a stored run of an experiment. It has our numbers but no bands, which may change later: see Findings.
type Record struct {
	Experiment string    `json:"experiment"`
	Digest     string    `json:"digest"` // see Experiment.Digest
	Commit     string    `json:"commit"`
	Seed       uint64    `json:"seed"`  // of the first run
	CPU        []float64 `json:"cpu_s"` // processor seconds of this and earlier runs, latest first
	Values     []Value   `json:"-"`     // a line for each in the file
}

// A Value is one of our figures.
type Value struct {
	Row    string  `json:"row"`
	Metric string  `json:"metric"`
	Ours   float64 `json:"ours"`
}

// NewRecord returns the record of a run that took cpu seconds of processor time.
func (e *Experiment) NewRecord(found []Finding, commit string, cpu float64) (*Record, error) {
	configs, err := e.configs(&e.Runs[0], "")
	if err != nil {
		return nil, err
	}
	r := &Record{Experiment: e.Name, Commit: commit, CPU: []float64{math.Round(10*cpu) / 10}, Seed: configs[0].Sim.Seed}
	for _, f := range found {
		r.Values = append(r.Values, Value{f.Row, f.Metric, f.Ours})
	}
	r.Digest, err = e.digest()
	return r, err
}

const keptTimes = 9

const recordFolder = "results/"

// RecordFile returns the path of an experiment's record, relative to the folder of records.
func RecordFile(name string) string { return name + ".jsonl" }

// FindRecord returns the record of an experiment, or nil if it has none.
func FindRecord(name string) (*Record, error) {
	data, err := library.ReadFile(recordFolder + RecordFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	return ReadRecord(name, bytes.NewReader(data))
}

// ReadRecord reads a record: a line about the run, then a line for each figure.
func ReadRecord(name string, r io.Reader) (*Record, error) {
	dec := json.NewDecoder(r)
	var rec Record
	if err := dec.Decode(&rec); err != nil {
		return nil, fmt.Errorf("record of %s: %w", name, err)
	}
	for dec.More() {
		var v Value
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("record of %s, figure %d: %w", name, len(rec.Values), err)
		}
		rec.Values = append(rec.Values, v)
	}
	return &rec, nil
}

// Write writes a record as ReadRecord reads it.
func (r *Record) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	for _, v := range r.Values {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("record of %s: %s of %s: %w", r.Experiment, v.Metric, v.Row, err)
		}
	}
	return nil
}

// After appends the processor times of an earlier record of the same runs, up to nine in all.
func (r *Record) After(earlier *Record) {
	if earlier != nil && earlier.Digest == r.Digest {
		r.CPU = append(r.CPU, earlier.CPU...)
		r.CPU = r.CPU[:min(len(r.CPU), keptTimes)]
	}
}

func (r *Record) seconds() float64 {
	all := slices.Clone(r.CPU)
	slices.Sort(all)
	return metrics.Quantile(all, 0.5)
}

// Time returns the median of CPU as text, such as "300ms", "1.4s" or "2m10s".
func (r *Record) Time() string {
	d := time.Duration(r.seconds() * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// digest returns a hash of what an experiment runs: configurations, policies, traces and seeds. It does not depend on
// bands.
func (e *Experiment) digest() (string, error) {
	data, err := yaml.Marshal(struct {
		Config *yaml.Node
		Runs   []Plan
	}{&e.Config, e.Runs})
	return digest(data), err
}

// findings compares a record with the current bands. It returns an error if the record has other runs or figures than
// the experiment.
func (e *Experiment) findings(r *Record) ([]Finding, error) {
	now, err := e.digest()
	if err != nil {
		return nil, err
	}
	values := r.Values
	found := e.compare(func(*Check, metric) float64 {
		if len(values) == 0 {
			return math.NaN()
		}
		v := values[0]
		values = values[1:]
		return v.Ours
	})
	same := slices.EqualFunc(found, r.Values, func(f Finding, v Value) bool { return f.Row == v.Row && f.Metric == v.Metric })
	if now != r.Digest || !same {
		return nil, fmt.Errorf("%s has changed since its record: run `oxgang lab reproduce %s --record lab/experiments/results`", e.Name, e.Name)
	}
	return found, nil
}

// count returns how many figures have a band, and how many of these are outside their bands.
func count(found []Finding) (checked, outside int) {
	for _, f := range found {
		if f.Verdict != Shown {
			checked++
		}
		if f.Verdict == Outside || f.Verdict == Short {
			outside++
		}
	}
	return checked, outside
}
