package serve

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type state struct {
	snapshot *policy.Snapshot
	plan     *policy.Plan
	at       map[job.ID]int // index in snapshot and plan
	live     map[job.ID]local.Live
	reasons  *explain.Reasons
	etas     map[job.ID]whatif.ETA
	from     time.Time // origin of etas
	refused  map[job.ID]int
	names    map[int]string // of users, by uid
}

func (s *state) name(u *account.User) string {
	if s.names[u.UID] == "" {
		s.names[u.UID] = u.Name()
	}
	return s.names[u.UID]
}

// state may take whatif.Patience once a round, to predict.
func (c *controller) state(ctx context.Context) *state {
	s := &state{reasons: explain.Now(nil, nil), at: make(map[job.ID]int), live: make(map[job.ID]local.Live), refused: make(map[job.ID]int), names: make(map[int]string)}
	if s.snapshot, s.plan = c.backend.LastRound(); s.snapshot != nil {
		s.reasons = explain.Now(s.snapshot, s.plan)
		for i, j := range s.snapshot.Jobs {
			s.at[j.ID] = i
		}
	}
	for _, l := range c.backend.Live() {
		s.live[l.Spec.ID] = l
	}
	s.reasons.Policy = c.o.Policy
	s.reasons.Preemption = func(id job.ID) explain.Preemption {
		if l, ok := s.live[id]; ok {
			return preemption(&l)
		}
		return explain.NotKnown
	}
	for id, q := range c.agents.Quarantined() {
		s.refused[id] = int(q.Count)
	}
	s.etas, s.from = c.driver.Look(ctx)
	return s
}

func (c *controller) Job(id job.ID) (status.Job, error) {
	j, err := c.job(id)
	if err != nil {
		return status.Job{}, err
	}
	return c.state(context.Background()).view(j), nil
}

func (c *controller) job(id job.ID) (*store.Job, error) {
	jobs, err := c.store.Jobs(true)
	if err != nil {
		return nil, err
	}
	known := make([]job.ID, len(jobs))
	for i, j := range jobs {
		if known[i] = j.Spec.ID; known[i] == id {
			return j, nil
		}
	}
	return nil, control.Unknown(id, known)
}

func (s *state) view(j *store.Job) status.Job {
	v := status.Job{
		ID: j.Spec.ID, Name: j.Spec.Name, MinGPUs: max(1, j.Spec.MinGPUs), MaxGPUs: max(j.Spec.GPUs, j.Spec.MaxGPUs), Target: j.Spec.Target,
		Command: j.Request.Command, Quarantined: s.refused[j.Spec.ID],
	}
	if u := j.Request.User; u != nil {
		v.Owner, v.User = u.UID, s.name(u)
	}
	if c := j.Checkpoint; c != nil {
		v.Checkpoint = &status.Checkpoint{Step: c.Step, At: c.At, Progress: c.Progress}
	}
	now := j.Status
	row, why := s.row(j.Spec.ID)
	if row != nil && j.Ended == nil {
		now, v.Reason, v.Goodput = row.Status, why.String(), goodput(row)
		if j.Status.Since.After(now.Since) { // changed by the round
			now = j.Status
			now.Progress, v.Goodput = max(now.Progress, row.Progress), 0
		}
	}
	v.Phase, v.Progress, v.Restarts = now.Phase.String(), now.Progress, now.Restarts
	v.Submitted, v.Started, v.Since = now.Submitted, now.FirstStarted, now.Since
	if v.Since.IsZero() {
		v.Since = v.Submitted
	}
	if v.Checkpoint != nil {
		v.Progress = max(v.Progress, v.Checkpoint.Progress)
	}
	if e := j.Ended; e != nil {
		v.Outcome, v.Detail, v.Finished = e.Outcome.String(), e.Detail, e.At
		return v
	}
	v.GPUs, v.GPUType, v.Batch = now.Allocation.GPUs, now.Allocation.GPUType, now.Batch.PerReplica()*now.Allocation.GPUs
	l, live := s.live[j.Spec.ID]
	v.Trouble = l.Trouble
	if l.Withheld != "" {
		v.Reason = "waiting: quota"
	}
	v.Profiling = l.Spoke && l.Up && row != nil && row.Perf == nil
	if now.Phase == job.Restoring && (l.Up && !l.Spoke || !live) { // a program without the client never reports that it trains; or the job has just ended
		v.Phase = job.Running.String()
	}
	if v.Sentence = cmp.Or(l.Withheld, s.reasons.Text(j.Spec.ID)); v.Sentence == "" {
		v.Sentence = explain.Undecided
	}
	s.foresee(&v)
	return v
}

func (s *state) row(id job.ID) (*policy.Job, policy.Kind) {
	i, ok := s.at[id]
	if !ok {
		return nil, policy.Unexplained
	}
	return s.snapshot.Jobs[i], s.plan.Jobs[i].Why.Kind
}

func goodput(j *policy.Job) float64 {
	if j.Perf == nil || !j.Holding() || j.Status.Batch.Local == 0 {
		return 0
	}
	total := float64(j.Status.Batch.PerReplica() * j.Allocation.GPUs)
	return j.Perf.Throughput(j.Allocation, j.Status.Batch) * j.Perf.Efficiency(total)
}

func (s *state) foresee(v *status.Job) {
	eta, ok := s.etas[v.ID]
	if !ok {
		return
	}
	if v.GPUs == 0 {
		v.Start = s.expected(&eta.Start, eta.Start.Unreliable())
	}
	v.End = s.expected(&eta.End, eta.Unreliable())
}

func (s *state) expected(g *whatif.Range, why string) status.Range {
	switch {
	case g.Why != whatif.Known:
		return status.Range{}
	case why != "":
		return status.Range{Unknown: why}
	case g.Open:
		return status.Range{Early: s.from.Add(g.Early), Likely: s.from.Add(g.Likely), Probability: calibration.Share}
	}
	return status.Range{Early: s.from.Add(g.Early), Likely: s.from.Add(g.Likely), Late: s.from.Add(g.Late), Probability: calibration.Share}
}

func (c *controller) Status(all bool) *status.Status {
	jobs, err := c.store.Jobs(all)
	if err != nil {
		c.say("jobs: %v", err)
	}
	known := c.state(context.Background())
	s := &status.Status{Backend: status.Machine, Title: c.machine.Name, At: time.Now(), Policy: c.o.Policy, Nodes: []status.Node{c.Node()}}
	for _, j := range jobs {
		v := known.view(j)
		if v.HasEnded() {
			s.Ended = append(s.Ended, v)
		} else {
			s.Jobs = append(s.Jobs, v)
		}
	}
	slices.SortStableFunc(s.Ended, func(a, b status.Job) int { return b.Finished.Compare(a.Finished) })
	if trouble := cmp.Or(c.backend.Banner(), c.driver.Trouble()); trouble != "" {
		s.Attention = append(s.Attention, trouble)
	}
	s.GPUs = []status.GPUs{{Type: c.machine.Type, Total: s.Nodes[0].GPUs, Held: s.Nodes[0].Used}}
	s.Queues = []status.Queue{c.queue(&s.Nodes[0])}
	if c.meter != nil {
		c.meter.Attach(s, nil)
	}
	return s
}

func (c *controller) queue(n *status.Node) status.Queue {
	q := status.Queue{Policy: c.o.Policy, GPUs: n.GPUs, Held: n.Used}
	for _, l := range c.backend.Live() {
		if len(l.Held) == 0 {
			q.Waiting++
		} else {
			q.Running++
		}
	}
	if snapshot, plan := c.backend.LastRound(); snapshot != nil {
		q.Round = int64(snapshot.Round)
		for _, price := range plan.Prices {
			q.Prices = append(q.Prices, status.Price{Type: price.Type, Price: price.Price})
		}
	}
	return q
}

// Node implements control.Service. It returns the machine, with the job in each slot.
func (c *controller) Node() status.Node {
	n := status.Node{Name: c.machine.Name, Type: c.machine.Type, GPUs: len(c.machine.Slots)}
	n.CPUs.Total, n.Memory.Total = c.machine.CPUs, float64(c.machine.Memory)
	for i, slot := range c.machine.Slots {
		n.Slots = append(n.Slots, status.Slot{Index: i, Type: c.machine.Type, Visible: slot.Visible})
	}
	for _, l := range c.backend.Live() {
		if len(l.Held) == 0 {
			continue
		}
		n.Used += len(l.Held)
		n.Held = append(n.Held, status.Holder{Job: l.Spec.ID, GPUs: len(l.Held)})
		n.CPUs.Used += l.Status.Allocation.CPUs
		n.Memory.Used += float64(l.Status.Allocation.Memory)
		for rank, s := range l.Held {
			n.Slots[s].Job, n.Slots[s].Generation, n.Slots[s].Rank = l.Spec.ID, l.Generation, rank
		}
	}
	return n
}
