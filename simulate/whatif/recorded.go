package whatif

import (
	"cmp"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

func (rec *recording) setting(nodes *cluster.Cluster, so scheduler.Options) *setting {
	in := &setting{cluster: nodes, catalog: workload.Catalog{}, options: sim.DefaultOptions(), truths: map[job.ID]*truth{}, outcomes: map[job.ID]*outcome{}}
	in.options.Seed, in.options.Estimate, in.options.Initial = rec.header.Seed, so.Estimate, map[job.ID]*sim.InitialState{}
	in.options.ReportEpochs, in.options.Faults = so.Classes, rec.outages.faults(so.Round)
	if len(rec.usage.at) > 0 {
		in.options.Lender.Busy = rec.usage.of
	}
	if d := rec.interval(); d > 0 {
		in.options.ReportInterval = d
	}
	usual := rec.restart()
	for _, j := range rec.order {
		f := &outcome{start: -1, end: -1}
		in.outcomes[j.spec.ID] = f
		if sim.Fits(in.cluster, j.spec) != nil {
			continue
		}
		if f.awaited = !j.ended.IsZero(); f.awaited {
			in.open++
		}
		in.record(rec, j, usual)
	}
	return in
}

func (in *setting) record(rec *recording, j *learned, usual time.Duration) {
	at := j.came.Sub(rec.header.Start)
	if m, _ := j.belief.Model(); m != nil && j.rate > 0 {
		t := &truth{spec: j.spec, model: m, believed: m, input: j.belief.Sensitivity(), factor: 1 / cmp.Or(j.pace(), 1), pieces: j.pieces, target: j.whole(), each: j.each, profile: j.profile}
		t.delay = cmp.Or(j.measured().Delay, usual, j.spec.RestartOverhead)
		in.arrive(t, at)
	} else {
		in.arrivals = append(in.arrivals, j.steady(at))
	}
	last := &in.arrivals[len(in.arrivals)-1]
	if !j.ended.IsZero() && j.outcome != scheduler.Done {
		last.CancelAfter = j.ended.Sub(j.came)
	}
	if j.restored != nil {
		st := &sim.InitialState{Status: shifted(j.restored.Status, sim.Epoch.Sub(rec.header.Start)), Batch: j.restored.Batch, Reports: j.restored.Reports}
		if st.Status.Phase == job.Restoring {
			st.Restore = max(0, cmp.Or(j.measured().Delay, usual)-j.came.Sub(j.restored.Status.Since))
		}
		if in.truths[j.spec.ID] == nil { // its duration is counted from here on
			st.Status.Progress, st.Status.Epoch = 0, 0
		}
		in.options.Initial[j.spec.ID] = st
	}
}

// whole returns the work of a job in samples. A completed job did what it had done at its last report, and more
// at the same rate. A job that has done its stated work and was not completed has no known end.
func (j *learned) whole() float64 {
	stated := j.spec.Target
	switch {
	case j.outcome == scheduler.Done && !j.ended.IsZero():
		return j.completed()
	case stated > 0 && j.progress >= stated:
		return endless
	}
	return stated
}

// completed returns the work of a completed job: the stated work if the job can have done it since its last
// report. The time to its end counts as additional work.
func (j *learned) completed() float64 {
	tail := j.tail.Seconds()
	trained := max(1, j.progress+tail*j.rate)
	left := j.spec.Target - j.progress
	if left < 0 || left/j.rate > mostFaster*tail+1 {
		return trained
	}
	return max(trained, j.spec.Target)
}

// mostFaster is the assumed maximum factor by which the rate of a job rises between its last report and its
// end.
const mostFaster = 2

func (j *learned) steady(at time.Duration) workload.Arrival {
	a := workload.Arrival{At: at, Spec: *j.spec, Duration: time.Duration(j.used / float64(max(1, j.spec.GPUs)) * float64(time.Second))}
	a.Spec.Schedule = job.BatchSchedule{}
	if j.ended.IsZero() || j.outcome != scheduler.Done {
		a.Duration = endlessly
	}
	a.Duration = max(a.Duration, time.Millisecond)
	return a
}

const endlessly = 100 * 365 * 24 * time.Hour
