package serve

import (
	"cmp"
	"context"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A state is what is known of all jobs at one time.
type state struct {
	snapshot *policy.Snapshot // of the last round; nil before the first
	plan     *policy.Plan
	live     map[job.ID]local.Live
	said     *explain.Reasons
	etas     map[job.ID]whatif.ETA
	from     time.Time // of etas
	refused  map[job.ID]int
	names    map[int]string // of users, by uid
}

// name returns the name of a user, which is looked up once.
func (s *state) name(u *account.User) string {
	if s.names[u.UID] == "" {
		s.names[u.UID] = u.Name()
	}
	return s.names[u.UID]
}

// state returns the state now. It may take whatif.Patience: it predicts once a round.
func (c *controller) state(ctx context.Context) *state {
	s := &state{said: explain.Now(nil, nil), live: make(map[job.ID]local.Live), refused: make(map[job.ID]int), names: make(map[int]string)}
	if s.snapshot, s.plan = c.backend.LastRound(); s.snapshot != nil {
		s.said = explain.Now(s.snapshot, s.plan)
	}
	for _, l := range c.backend.Live() {
		s.live[l.Spec.ID] = l
	}
	for id, q := range c.agents.Quarantined() {
		s.refused[id] = int(q.Count)
	}
	s.etas, s.from = c.driver.Look(ctx)
	return s
}

// Jobs implements control.Service.
func (c *controller) Jobs(all bool) []control.View {
	jobs, err := c.store.Jobs(all)
	if err != nil {
		c.say("jobs: %v", err)
		return nil
	}
	s := c.state(context.Background())
	views := make([]control.View, len(jobs))
	for i, j := range jobs {
		views[i] = s.view(j)
	}
	return views
}

// Job implements control.Service.
func (c *controller) Job(id job.ID) (control.View, error) {
	j, err := c.job(id)
	if err != nil {
		return control.View{}, err
	}
	return c.state(context.Background()).view(j), nil
}

// job returns a job as the store has it, or a control.Error that names those that may have
// been meant.
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

// view returns a job as people see it.
func (s *state) view(j *store.Job) control.View {
	v := control.View{
		ID: j.Spec.ID, Name: j.Spec.Name, MinGPUs: max(1, j.Spec.MinGPUs), MaxGPUs: max(j.Spec.GPUs, j.Spec.MaxGPUs), Target: j.Spec.Target,
		Command: j.Request.Command, Quarantined: s.refused[j.Spec.ID],
	}
	if u := j.Request.User; u != nil {
		v.UID, v.User = u.UID, s.name(u)
	}
	if c := j.Checkpoint; c != nil {
		v.Checkpoint = &control.CheckpointView{Step: c.Step, At: c.At, Progress: c.Progress}
	}
	status := j.Status
	row, why := s.row(j.Spec.ID)
	if row != nil && j.Ended == nil {
		status, v.Reason, v.Goodput = row.Status, why.String(), goodput(row)
		if j.Status.Since.After(status.Since) { // that round changed it, after its snapshot
			status = j.Status
			status.Progress, v.Goodput = max(status.Progress, row.Progress), 0
		}
	}
	v.Phase, v.Progress, v.Restarts = status.Phase.String(), status.Progress, status.Restarts
	v.Submitted, v.Started, v.Since = status.Submitted, status.FirstStarted, status.Since
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
	v.GPUs, v.GPUType, v.Batch = status.Allocation.GPUs, status.Allocation.GPUType, status.Batch.PerReplica()*status.Allocation.GPUs
	l, live := s.live[j.Spec.ID]
	v.Trouble = l.Trouble
	if l.Withheld != "" {
		v.Reason = "waiting: quota"
	}
	v.Profiling = l.Spoke && l.Up && row != nil && row.Perf == nil
	if status.Phase == job.Restoring && (l.Up && !l.Spoke || !live) { // a program without the client never says that it trains; or it has just ended
		v.Phase = job.Running.String()
	}
	if v.Sentence = cmp.Or(l.Withheld, s.said.Text(j.Spec.ID)); v.Sentence == "" {
		v.Sentence = "no round has decided on it yet; the next one does"
	}
	s.foresee(&v)
	return v
}

// row returns a job as in the last round, and why it has what it has; nil if it was not there.
func (s *state) row(id job.ID) (*policy.Job, policy.Kind) {
	i := s.snapshot.Index(id)
	if i < 0 {
		return nil, policy.Unexplained
	}
	return s.snapshot.Jobs[i], s.plan.Jobs[i].Why.Kind
}

// goodput returns what a job achieves where it is, in samples per second at the efficiency
// of its first batch size; 0 if that is not known.
func goodput(j *policy.Job) float64 {
	if j.Perf == nil || !j.Holding() || j.Status.Batch.Local == 0 {
		return 0
	}
	total := float64(j.Status.Batch.PerReplica() * j.Allocation.GPUs)
	return j.Perf.Throughput(j.Allocation, j.Status.Batch) * j.Perf.Efficiency(total)
}

// foresee adds when a job is predicted to start and end.
func (s *state) foresee(v *control.View) {
	eta, ok := s.etas[v.ID]
	if !ok {
		return
	}
	at := func(d time.Duration) *time.Time {
		t := s.from.Add(d)
		return &t
	}
	if v.GPUs == 0 && eta.Start.Why == whatif.Known {
		v.StartEarly, v.StartLikely, v.StartLate = at(eta.Start.Early), at(eta.Start.Likely), at(eta.Start.Late)
	}
	if eta.End.Why == whatif.Known {
		v.EndEarly, v.EndLikely, v.EndLate = at(eta.End.Early), at(eta.End.Likely), at(eta.End.Late)
	}
}

// Top implements control.Service.
func (c *controller) Top() control.Top {
	t := control.Top{Machine: c.machine.Name, Policy: c.o.Policy, Banner: c.backend.Banner()}
	if t.Banner == "" {
		t.Banner = c.driver.Trouble()
	}
	t.CPUs.Total, t.Memory.Total = c.machine.CPUs, float64(c.machine.Memory)
	for i, slot := range c.machine.Slots {
		t.Slots = append(t.Slots, control.SlotView{Index: i, Type: c.machine.Type, Visible: slot.Visible})
	}
	for _, l := range c.backend.Live() {
		if len(l.Held) == 0 {
			t.Waiting++
			continue
		}
		t.Running++
		t.CPUs.Used += l.Status.Allocation.CPUs
		t.Memory.Used += float64(l.Status.Allocation.Memory)
		for rank, s := range l.Held {
			t.Slots[s].Job, t.Slots[s].Generation, t.Slots[s].Rank = l.Spec.ID, l.Generation, rank
		}
	}
	if snapshot, plan := c.backend.LastRound(); snapshot != nil {
		t.Round = snapshot.Round
		for _, price := range plan.Prices {
			t.Prices = append(t.Prices, control.Price{Resource: string(price.Type), Price: price.Price})
		}
	}
	return t
}
