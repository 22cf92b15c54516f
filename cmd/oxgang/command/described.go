package command

import (
	"time"

	"github.com/oxgang/oxgang/simulate/trace"
)

type description struct {
	Format     string      `json:"format"`
	Rows       int         `json:"rows"`
	BadRows    int         `json:"bad_rows"`
	Notes      []noted     `json:"notes"`
	Jobs       int         `json:"jobs"`
	First      float64     `json:"first_s"`
	Last       float64     `json:"last_s"`
	Users      int         `json:"users"`
	Queues     int         `json:"queues"`
	Cancelled  int         `json:"cancelled"`
	Known      int         `json:"jobs_of_known_time"`
	GPUHours   float64     `json:"gpu_hours"`
	Times      durations   `json:"running_time_s"`
	Began      string      `json:"time_zero,omitempty"` // a date; empty: the trace has no calendar
	Started    int         `json:"jobs_of_known_wait"`
	Waits      durations   `json:"wait_s"`
	Adaptivity []named     `json:"adaptivity"`
	GPUTypes   []named     `json:"gpu_types"`
	Classes    []named     `json:"applications"`
	Sizes      []ofSize    `json:"sizes"`
	Hours      []submitted `json:"hours"`
}

type noted struct {
	Text string `json:"text"`
	Rows int    `json:"rows"`
}

type named struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"`
}

type ofSize struct {
	GPUs     int     `json:"gpus"`
	Jobs     int     `json:"jobs"`
	GPUHours float64 `json:"gpu_hours"`
}

type submitted struct {
	Hour     int     `json:"hour"`
	Jobs     int     `json:"jobs"`
	GPUHours float64 `json:"gpu_hours"`
}

type durations struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P10  float64 `json:"p10"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func described(d *trace.Description) *description {
	all := &description{
		Format: d.Summary.Format, Rows: d.Summary.Rows, BadRows: d.Summary.Bad, Notes: []noted{},
		Jobs: d.Jobs, First: d.First.Seconds(), Last: d.Last.Seconds(), Users: d.Users, Queues: d.Queues, Cancelled: d.Cancelled, Known: d.Known, GPUHours: d.GPUHours,
		Times: durationsOf(&d.Durations), Started: d.Started, Waits: durationsOf(&d.Waits),
		Adaptivity: names(d.Adaptivity), GPUTypes: names(d.GPUTypes), Classes: names(d.Applications), Sizes: []ofSize{}, Hours: []submitted{},
	}
	if began := d.Summary.Began; !began.IsZero() {
		all.Began = began.UTC().Format(time.RFC3339)
	}
	for _, n := range d.Summary.Notes {
		all.Notes = append(all.Notes, noted{n.Text, n.Count})
	}
	for _, s := range d.Sizes {
		all.Sizes = append(all.Sizes, ofSize{s.GPUs, s.Jobs, s.GPUHours})
	}
	for _, h := range d.Hours {
		all.Hours = append(all.Hours, submitted{h.Hour, h.Jobs, h.GPUHours})
	}
	return all
}

func durationsOf(q *trace.Quantiles) durations {
	return durations{Mean: q.Mean.Seconds(), Min: q.Min.Seconds(), P10: q.P10.Seconds(), P50: q.P50.Seconds(), P90: q.P90.Seconds(), P99: q.P99.Seconds(), Max: q.Max.Seconds()}
}

func names(counts []trace.NameCount) []named {
	all := []named{}
	for _, c := range counts {
		all = append(all, named{c.Name, c.Jobs})
	}
	return all
}
