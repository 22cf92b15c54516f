package overview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// clock is how times are written.
const clock = "2006-01-02 15:04:05 UTC"

// since1970 returns a time as an Overview has it; 0 for the zero time.
func since1970(t time.Time) journal.Seconds {
	if t.IsZero() {
		return 0
	}
	return journal.Seconds(t.Sub(time.Unix(0, 0)))
}

// mostEnded bounds how many ends an overview has.
const mostEnded = 20

// overviewOf returns what was seen, as the page shows it.
func overviewOf(at *view.Look) *explain.Overview {
	o := &explain.Overview{At: since1970(at.At), Last: since1970(at.At), Begun: time.Unix(0, 0).UTC(), Policy: policies(at)}
	o.Nodes, o.Types = nodes(at), types(at)
	for i := range at.Jobs {
		o.Jobs = append(o.Jobs, jobOf(at, &at.Jobs[i]))
	}
	for _, e := range at.Ended[:min(len(at.Ended), mostEnded)] {
		end := explain.OverviewEnd{Job: job.ID(e.ID), At: since1970(e.At), Outcome: job.Completed.String()}
		if e.Failed {
			end.Outcome, end.Detail = job.Failed.String(), e.Message
		}
		o.Ended = append(o.Ended, end)
	}
	return o
}

// policies returns the policy of each queue, its mode, and of when its plan is: all that is shown of decisions is as old.
func policies(at *view.Look) string {
	var all []string
	for i := range at.Queues {
		q := &at.Queues[i]
		text := fmt.Sprintf("%s (queue %s, mode %s", q.Spec.Policy.Name, q.Meta.Name, q.Spec.Mode)
		if p := at.Plan(q.Meta.Name); p != nil && p.Spec.Time != nil {
			text += fmt.Sprintf(", round %d of %s", p.Spec.Round, p.Spec.Time.UTC().Format(clock))
		}
		all = append(all, text+")")
	}
	return cmp.Or(strings.Join(all, "; "), "not known")
}

// nodes returns the nodes. Where not all pods are seen, these are the ones that jobs are on, with the GPUs that these have.
func nodes(at *view.Look) []explain.OverviewNode {
	var all []explain.OverviewNode
	if at.Whole {
		for i := range at.Nodes {
			n := &at.Nodes[i]
			v := explain.OverviewNode{ID: cluster.NodeID(n.Name), Type: cluster.GPUType(n.GPUType), GPUs: max(n.GPUs, n.Used), Closed: n.Closed}
			if n.Queue == "" {
				v.Closed = strings.TrimPrefix(v.Closed+", of no queue", ", ")
			}
			for _, h := range n.Held {
				v.Held = append(v.Held, explain.OverviewHolder{Job: job.ID(h.Name), GPUs: h.GPUs})
			}
			all = append(all, v)
		}
		return all
	}
	where := make(map[string]int)
	for i := range at.Jobs {
		for _, h := range at.Jobs[i].Held {
			n, there := where[h.Name]
			if !there {
				n, where[h.Name] = len(all), len(all)
				all = append(all, explain.OverviewNode{ID: cluster.NodeID(h.Name)})
			}
			all[n].GPUs += h.GPUs
			all[n].Held = append(all[n].Held, explain.OverviewHolder{Job: job.ID(at.Jobs[i].ID), GPUs: h.GPUs})
		}
	}
	return all
}

// types returns the GPUs of each queue by type: those that are held, and those that a pod could have. Nothing is known where not all pods are seen.
func types(at *view.Look) []explain.TypeView {
	var all []explain.TypeView
	for i := range at.Nodes {
		n := &at.Nodes[i]
		if n.Queue == "" {
			continue
		}
		t := of(&all, n.Queue, cluster.GPUType(n.GPUType))
		t.GPUs += n.Used
		if n.Closed == "" {
			t.GPUs, t.Free = t.GPUs+n.Idle(), t.Free+n.Idle()
		}
	}
	for i := range all {
		p := at.Plan(all[i].Queue)
		for k := 0; p != nil && k < len(p.Spec.Prices); k++ {
			if p.Spec.Prices[k].GPUType == string(all[i].Type) {
				price := float64(p.Spec.Prices[k].Milli) / 1000
				all[i].Price = &price
			}
		}
	}
	return all
}

// of returns the entry of a queue and a type.
func of(all *[]explain.TypeView, queue string, kind cluster.GPUType) *explain.TypeView {
	for i := range *all {
		if t := &(*all)[i]; t.Queue == queue && t.Type == kind {
			return t
		}
	}
	*all = append(*all, explain.TypeView{Queue: queue, Type: kind})
	return &(*all)[len(*all)-1]
}

// phases are the states of a view.Job in the words of the page.
var phases = map[string]string{"waits": "waiting", "starts": "starting", "runs": "running", "stops": "stopping"}

// jobOf returns a job: what exists of it, and what the plan says of it.
func jobOf(at *view.Look, s *view.Seen) explain.OverviewJob {
	j := explain.OverviewJob{
		ID: job.ID(s.ID), Name: s.Name, Queue: s.Queue, Phase: phases[s.State], Asked: cmp.Or(s.Asked, "not known"),
		Submitted: since1970(s.Created), Since: since1970(since(at, s)), Reason: s.Why.Reason, Sentence: sentence(at, s),
		Holds: holding(at, s),
	}
	if s.Why.FromPlan() && s.ETA != nil && at.Mode(s.Queue) != "Recommend" {
		j.End = expected(s.ETA.End, at.At)
		if j.Holds == nil {
			j.Start = expected(s.ETA.Start, at.At)
		}
	}
	return j
}

// since returns from when on a job has been as it is: one with pods since the last of them was made. Not known, it is now.
func since(at *view.Look, s *view.Seen) time.Time {
	for _, t := range []time.Time{s.Since, s.Observed.Since, s.Created} {
		if !t.IsZero() {
			return t
		}
	}
	return at.At
}

// sentence says why a job is as it is, and what is planned where that is something else.
func sentence(at *view.Look, s *view.Seen) string {
	why := cmp.Or(s.Why.Message, s.Why.Reason)
	switch mode := at.Mode(s.Queue); {
	case why == "" && mode == "Observe":
		why = "mode Observe: plans are made, and not shown"
	case why == "" && mode == "Off":
		why = "the queue is off"
	case why == "" && at.Plans == nil:
		why = "no reason is written on it, and you may not list plans"
	case why == "":
		why = "no plan has it yet"
	case mode == "Recommend" && s.Planned:
		why = fmt.Sprintf("planned: %d GPUs, which mode Recommend does not carry out: %s", s.GPUs, why)
	}
	return why
}

// holding returns the GPUs that the pods of a job have; nil: none.
func holding(at *view.Look, s *view.Seen) *explain.Holding {
	if len(s.Held) == 0 {
		return nil
	}
	h := &explain.Holding{Nodes: len(s.Held)}
	for _, share := range s.Held {
		h.GPUs += share.GPUs
		for i := range at.Nodes {
			if n := &at.Nodes[i]; n.Name == share.Name && n.GPUType != "" {
				h.Type = cluster.GPUType(n.GPUType)
			}
		}
	}
	return h
}

// probability is that of the ranges of a plan.
const probability = 0.8

// expected returns a range of a plan, from now on; nil: it has none. What it leaves open is not filled in.
func expected(r *view.Range, now time.Time) *explain.Expected {
	if r == nil || r.Earliest == nil && r.Latest == nil {
		return nil
	}
	in := func(t *time.Time) journal.Seconds { return journal.Seconds(max(0, t.Sub(now).Round(time.Second))) }
	said := func(t *time.Time) string { return t.UTC().Format(clock) }
	switch {
	case r.Latest != nil && r.Latest.Before(now):
		return &explain.Expected{Unknown: "the plan expected it by " + said(r.Latest)}
	case r.Earliest == nil:
		return &explain.Expected{Unknown: fmt.Sprintf("the plan says only that it is by %s (80 %%)", said(r.Latest))}
	case r.Latest == nil:
		return &explain.Expected{Unknown: fmt.Sprintf("the plan says only that it is not before %s", said(r.Earliest))}
	case r.Likely == nil:
		return &explain.Expected{Unknown: fmt.Sprintf("the plan has no median, and %s to %s (80 %%)", said(r.Earliest), said(r.Latest))}
	}
	return &explain.Expected{Early: in(r.Earliest), Likely: in(r.Likely), Late: in(r.Latest), Share: probability}
}
