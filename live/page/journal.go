package page

import (
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// statusOf returns the state at one time of a journal.
func statusOf(o *explain.Overview, title string) *status.Status {
	at := func(s journal.Seconds) time.Time { return o.Begun.Add(time.Duration(s)) }
	s := &status.Status{Backend: status.Journal, Title: title, At: at(o.At), Policy: o.Policy}
	q := status.Queue{Policy: o.Policy}
	for i := range o.Types {
		t := &o.Types[i]
		s.GPUs = append(s.GPUs, status.GPUs{Type: t.Type, Total: t.GPUs, Held: t.GPUs - t.Free, Starting: t.Starting})
		q.GPUs, q.Held = q.GPUs+t.GPUs, q.Held+t.GPUs-t.Free
		if t.Price != nil {
			q.Prices = append(q.Prices, status.Price{Type: t.Type, Price: *t.Price})
		}
	}
	on := make(map[job.ID][]status.Share)
	for i := range o.Nodes {
		n := nodeOf(&o.Nodes[i])
		for _, h := range n.Held {
			on[h.Job] = append(on[h.Job], status.Share{Node: n.Name, GPUs: h.GPUs})
		}
		s.Nodes = append(s.Nodes, n)
	}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		v := status.Job{
			ID: j.ID, Name: j.Name, Phase: j.Phase, Asked: j.Asked, Submitted: at(j.Submitted), Since: at(j.Since), Reason: j.Reason, Sentence: j.Sentence,
			Restarts: j.Restarts, Progress: j.Progress, Target: j.Target, Nodes: on[j.ID],
		}
		hold(&v, j.Holds)
		if v.GPUs > 0 {
			q.Running++
		} else {
			q.Waiting++
		}
		s.Jobs = append(s.Jobs, v)
	}
	for _, e := range o.Ended {
		s.Ended = append(s.Ended, status.Job{ID: e.Job, Name: string(e.Job), Phase: e.Outcome, Outcome: outcomes[e.Outcome], Finished: at(e.At), Detail: e.Detail})
	}
	s.Queues = []status.Queue{q}
	return s
}

var outcomes = map[string]string{job.Completed.String(): "done", job.Failed.String(): "failed", job.Cancelled.String(): "cancelled"}

func nodeOf(o *explain.OverviewNode) status.Node {
	n := status.Node{Name: string(o.ID), Type: o.Type, GPUs: o.GPUs}
	for _, h := range o.Held {
		n.Held, n.Used = append(n.Held, status.Holder{Job: h.Job, GPUs: h.GPUs}), n.Used+h.GPUs
	}
	return n
}

func hold(v *status.Job, h *explain.Holding) {
	if h == nil {
		return
	}
	v.GPUs, v.GPUType = h.GPUs, h.Type
	if a := h.Also; a != nil {
		v.Also = &status.Other{GPUs: a.GPUs, GPUType: a.Type, Nodes: a.Nodes}
	}
}
