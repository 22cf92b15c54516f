package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// ObservedName is the name of the recorded run in tables.
const ObservedName = "observed"

type moment struct {
	at   time.Time
	what int // kind; smaller kinds come first at one time
	job  *parse.Observed
}

const (
	cameAt = iota
	endedAt
	startedAt
)

// ObservedRun converts the recorded times of the simulated jobs into a report.Run on the given nodes, to compare with
// simulations.
func ObservedRun(jobs map[job.ID]*parse.Observed, simulated []workload.Arrival, nodes *cluster.Cluster) (report.Run, error) {
	m, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		return report.Run{}, err
	}
	all := moments(jobs, simulated)
	active, jobSeconds := 0, 0.0
	for i := 0; i < len(all); {
		if i > 0 {
			jobSeconds += float64(active) * all[i].at.Sub(all[i-1].at).Seconds()
		}
		n := i + 1
		for n < len(all) && all[n].at.Equal(all[i].at) {
			n++
		}
		active = record(m, all[i:n], nodes, active)
		i = n
	}
	r := m.Result()
	r.Summary.Rounds = 0 // history has no rounds
	if len(all) > 0 {
		r.Summary.MeanContention = jobSeconds / max(1, all[len(all)-1].at.Sub(all[0].at).Seconds())
	}
	return report.Run{Name: ObservedName, Observed: true, Result: r}, nil
}

func moments(jobs map[job.ID]*parse.Observed, simulated []workload.Arrival) []moment {
	var all []moment
	for i := range simulated {
		o := jobs[simulated[i].Spec.ID]
		if o == nil || o.Started.IsZero() {
			continue
		}
		all = append(all, moment{o.Submitted, cameAt, o}, moment{o.Started, startedAt, o})
		if !o.Ended.IsZero() {
			all = append(all, moment{o.Ended, endedAt, o})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.what, b.what)) })
	return all
}

func record(m *metrics.Recorder, all []moment, nodes *cluster.Cluster, active int) int {
	at := all[0].at
	var starts []scheduler.Action
	var reports []scheduler.Event
	for _, c := range all {
		spec := &c.job.Arrival.Spec
		switch c.what {
		case cameAt:
			m.Event(at, scheduler.Submitted{Spec: spec})
			active++
		case endedAt:
			m.Event(at, scheduler.Exited{Job: spec.ID, Outcome: scheduler.Done})
			active--
		case startedAt:
			held := cluster.Configuration{Nodes: max(1, c.job.Nodes), GPUs: spec.GPUs, GPUType: typeOn(nodes, spec)}
			starts = append(starts, scheduler.Run{Job: spec.ID, Allocation: cluster.Allocation{Configuration: held}})
			reports = append(reports, scheduler.Reported{Report: job.Report{Job: spec.ID}})
		}
	}
	m.Round(&policy.Snapshot{Now: at, Length: time.Second, Cluster: nodes, Jobs: make([]*policy.Job, active)}, nil, starts)
	for _, r := range reports {
		m.Event(at, r)
	}
	return active
}

func typeOn(nodes *cluster.Cluster, spec *job.Spec) cluster.GPUType {
	for _, t := range nodes.Types() {
		if spec.Eligible(t.Type) {
			return t.Type
		}
	}
	return ""
}
