package serve

import (
	"context"
	"encoding/json"
	"time"

	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/whatif"
)

// A picture is all that is known of the jobs at one time.
type picture struct {
	snapshot *policy.Snapshot // of the last round; nil before the first
	plan     *policy.Plan
	live     map[job.ID]local.Live
	etas     map[job.ID]whatif.ETA
	from     time.Time // of etas
	refused  map[job.ID]int
}

func (d *desk) picture(ctx context.Context) *picture {
	p := &picture{live: make(map[job.ID]local.Live), refused: make(map[job.ID]int)}
	p.snapshot, p.plan = d.world.Seen()
	for _, l := range d.world.Live() {
		p.live[l.Spec.ID] = l
	}
	for id, q := range d.agents.Quarantined() {
		p.refused[id] = int(q.Count)
	}
	p.etas, p.from = d.ahead.Look(ctx)
	return p
}

// Jobs implements control.Service.
func (d *desk) Jobs(all bool) []control.View {
	jobs, err := d.store.Jobs(all)
	if err != nil {
		d.say("jobs: %v", err)
		return nil
	}
	p := d.picture(context.Background())
	views := make([]control.View, len(jobs))
	for i, j := range jobs {
		views[i] = p.view(j)
	}
	return views
}

// Job implements control.Service.
func (d *desk) Job(id job.ID) (control.View, error) {
	j, err := d.job(id)
	if err != nil {
		return control.View{}, err
	}
	return d.picture(context.Background()).view(j), nil
}

// job returns a job as the store has it, or a control.Error that names those that may have
// been meant.
func (d *desk) job(id job.ID) (*store.Job, error) {
	jobs, err := d.store.Jobs(true)
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
func (p *picture) view(j *store.Job) control.View {
	v := control.View{
		ID: j.Spec.ID, Name: j.Spec.Name, MinGPUs: max(1, j.Spec.MinGPUs), MaxGPUs: max(j.Spec.GPUs, j.Spec.MaxGPUs), Target: j.Spec.Target,
		Command: j.Request.Command, Quarantined: p.refused[j.Spec.ID],
	}
	if c := j.Checkpoint; c != nil {
		v.Checkpoint = &control.CheckpointView{Step: c.Step, At: c.At, Progress: c.Progress}
	}
	status := j.Status
	row, why := p.row(j.Spec.ID)
	if row != nil && j.Ended == nil {
		status, v.Reason, v.Goodput = row.Status, why.String(), goodput(row)
		if j.Status.Since.After(status.Since) { // the plan of that round, which its snapshot has not
			status = j.Status
			status.Progress, v.Goodput = max(status.Progress, row.Progress), 0
		}
	}
	v.Phase, v.Progress, v.Restarts = status.Phase.String(), status.Progress, status.Restarts
	v.Submitted, v.Started = status.Submitted, status.FirstStarted
	if v.Checkpoint != nil {
		v.Progress = max(v.Progress, v.Checkpoint.Progress)
	}
	if e := j.Ended; e != nil {
		v.Outcome, v.Detail, v.Finished = e.Outcome.String(), e.Detail, e.At
		return v
	}
	v.GPUs, v.GPUType, v.Batch = status.Allocation.GPUs, status.Allocation.GPUType, status.Batch.PerReplica()*status.Allocation.GPUs
	l := p.live[j.Spec.ID]
	v.Profiling = l.Spoke && l.Up && row != nil && row.Perf == nil
	p.foresee(&v)
	return v
}

// row returns how the last round saw a job, and why it has what it has; nil if it did not.
func (p *picture) row(id job.ID) (*policy.Job, policy.Kind) {
	i := p.snapshot.Index(id)
	if i < 0 {
		return nil, policy.Unexplained
	}
	return p.snapshot.Jobs[i], p.plan.Jobs[i].Why.Kind
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

// foresee adds when a job is believed to start and end.
func (p *picture) foresee(v *control.View) {
	eta, ok := p.etas[v.ID]
	if !ok {
		return
	}
	at := func(d time.Duration) *time.Time {
		t := p.from.Add(d)
		return &t
	}
	if v.GPUs == 0 && eta.Start.Why == whatif.Known {
		v.StartEarly, v.StartLate = at(eta.Start.Early), at(eta.Start.Late)
	}
	if eta.End.Why == whatif.Known {
		v.EndEarly, v.EndLate = at(eta.End.Early), at(eta.End.Late)
	}
}

// Top implements control.Service.
func (d *desk) Top() control.Top {
	t := control.Top{Machine: d.machine.Name, Policy: d.o.Policy, Banner: d.world.Banner()}
	if err := d.record.Trouble(); err != nil && t.Banner == "" {
		t.Banner = "the journal is not written any more: " + err.Error()
	}
	if t.Banner == "" {
		t.Banner = d.watch.trouble()
	}
	t.CPUs.Total, t.Memory.Total = d.machine.CPUs, float64(d.machine.Memory)
	for i, s := range d.machine.Slots {
		t.Slots = append(t.Slots, control.SlotView{Index: i, Type: d.machine.Type, Visible: s.Visible})
	}
	for _, l := range d.world.Live() {
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
	if s, p := d.world.Seen(); s != nil {
		t.Round = s.Round
		for _, price := range p.Prices {
			t.Prices = append(t.Prices, control.Price{Resource: string(price.Type), Price: price.Price})
		}
	}
	return t
}

func marshal(s *explain.Story) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return text
}
