package jobstate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

const (
	// KeptReports is how many reports of one job are stored.
	KeptReports = 12
	// MostReports is how many reports of all jobs are stored.
	MostReports = 2500
)

// Keep stores a report, and reports whether it is the first for its configuration.
func (e *Job) Keep(r *job.Report) bool {
	if r.StepTime <= 0 || r.Batch.Local < 1 {
		return false
	}
	at := slices.IndexFunc(e.Reports, func(old job.Report) bool {
		return old.Configuration == r.Configuration && old.Batch == r.Batch && old.CPUs == r.CPUs && old.Memory == r.Memory
	})
	if at >= 0 {
		e.Reports = slices.Delete(e.Reports, at, at+1)
	}
	e.Reports = append(e.Reports, *r)
	e.Reports = slices.Delete(e.Reports, 0, max(0, len(e.Reports)-KeptReports))
	return at < 0
}

type measured struct {
	Nodes   int     `json:"n"`
	GPUs    int     `json:"g"`
	Type    string  `json:"t"`
	CPUs    float64 `json:"c,omitempty"`
	Memory  int64   `json:"m,omitempty"`
	Local   int     `json:"l"`
	Passes  int     `json:"a,omitempty"` // accumulated
	Step    int64   `json:"s"`           // ns
	Sync    int64   `json:"y,omitempty"` // ns
	GradSqr float64 `json:"q,omitempty"`
	GradVar float64 `json:"v,omitempty"`
}

// LearnedText returns the job's last reports, up to maxReports, as JSON; "" without reports.
func (e *Job) LearnedText(maxReports int) string {
	last := e.Reports[max(0, len(e.Reports)-maxReports):]
	if len(last) == 0 {
		return ""
	}
	all := make([]measured, len(last))
	for i := range last {
		r := &last[i]
		all[i] = measured{
			r.Configuration.Nodes, r.Configuration.GPUs, string(r.Configuration.GPUType), r.CPUs, r.Memory,
			r.Batch.Local, r.Batch.Accumulation, int64(r.StepTime), int64(r.SyncTime), r.GradSqr, r.GradVar,
		}
	}
	text, err := json.Marshal(all)
	if err != nil || len(text) > longestText {
		return ""
	}
	return string(text)
}

// ReportsOf returns the reports in s, or none if any is invalid.
func ReportsOf(s *v1alpha1.JobState) []job.Report {
	var all []measured
	if s.Reports == "" || json.Unmarshal([]byte(s.Reports), &all) != nil || len(all) > KeptReports {
		return nil
	}
	rs := make([]job.Report, len(all))
	for i, m := range all {
		rs[i] = job.Report{
			Job:           job.ID(s.UID),
			Configuration: cluster.Configuration{Nodes: m.Nodes, GPUs: m.GPUs, GPUType: cluster.GPUType(m.Type)},
			CPUs:          m.CPUs, Memory: m.Memory, Batch: job.BatchSize{Local: m.Local, Accumulation: m.Passes},
			StepTime: time.Duration(m.Step), SyncTime: time.Duration(m.Sync), GradSqr: m.GradSqr, GradVar: m.GradVar,
			Progress: float64(s.ProgressMilli) / 1000, Epoch: int(s.Epoch),
		}
		if rs[i].Validate() != nil || m.Nodes < 1 || m.GPUs < m.Nodes || m.Local < 1 || m.Step < 1 || m.Sync > m.Step {
			return nil
		}
	}
	return rs
}
