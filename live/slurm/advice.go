package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// An Advice states what the scheduler would do with one job now, and why.
type Advice struct {
	Job   *Job
	Gives cluster.Allocation // planned GPUs; zero: none
	On    cluster.Placement
	Why   explain.Because
	// Barred is Slurm's reason code if Slurm would not start the job even on free nodes.
	Barred string
	// Place is the job's place among the waiting jobs, from 1; 0: none.
	Place int
}

// advise plans one round from an observation without memory, so equal observations give equal advice.
func advise(ctx context.Context, o *Observation, c *Config) ([]Advice, error) {
	all := make([]Advice, 0, len(o.Jobs))
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if !j.Takes() {
			continue
		}
		a := Advice{Job: j}
		if j.Waits() {
			a.Barred = barred(j)
		}
		all = append(all, a)
	}
	snapshot, plan, err := round(ctx, o, all, c)
	if err != nil || snapshot == nil {
		return all, err
	}
	why, rows := explain.Now(snapshot, plan), rows(snapshot)
	why.Policy = c.policy()
	for i := range all {
		a := &all[i]
		if at, planned := rows[jobID(a.Job.ID)]; planned {
			a.Gives, a.On, a.Why = plan.Jobs[at].Allocation, plan.Jobs[at].Placement, why.Of(snapshot.Jobs[at].ID)
		}
	}
	rank(all, rows, snapshot, plan)
	return all, nil
}

func rows(s *policy.Snapshot) map[job.ID]int {
	at := make(map[job.ID]int, len(s.Jobs))
	for i, j := range s.Jobs {
		at[j.ID] = i
	}
	return at
}

func barred(j *Job) string {
	if j.IsHeld() && !j.Mark.Held {
		return cmp.Or(j.Reason, "JobHeldAdmin")
	}
	return whyBarred(&j.Job)
}

func round(ctx context.Context, o *Observation, all []Advice, conf *Config) (*policy.Snapshot, *policy.Plan, error) {
	p, placer, err := driver.NewPolicy(conf.policy(), conf.settings())
	if err != nil {
		return nil, nil, err
	}
	c, err := cluster.New(o.Nodes)
	if err != nil {
		return nil, nil, fmt.Errorf("nodes: %w", err)
	}
	so := scheduler.DefaultOptions()
	so.Round, so.Profile, so.Estimate.Share = conf.Round, false, true
	s, err := scheduler.New(p, placer, c, so)
	if err != nil {
		return nil, nil, err
	}
	for _, j := range jobs(o, all) {
		if _, err := s.Step(o.At, scheduler.Restored{Spec: j.spec(), Status: j.Status(o.At)}); err != nil {
			return nil, nil, err
		}
	}
	snapshot, plan, _ := s.Round(ctx, o.At)
	if plan != nil && plan.Refused != "" {
		return nil, nil, fmt.Errorf("no plan: %s", plan.Refused)
	}
	return snapshot, plan, nil
}

func jobs(o *Observation, all []Advice) []*Job {
	var planned []*Job
	for i := range all {
		if all[i].Barred == "" {
			planned = append(planned, all[i].Job)
		}
	}
	here := func(s cluster.Share) bool {
		return slices.ContainsFunc(o.Nodes, func(n cluster.Node) bool { return n.ID == s.Node })
	}
	for i := range o.Load {
		if slices.ContainsFunc(o.Load[i].Placement, here) {
			planned = append(planned, &o.Load[i])
		}
	}
	return planned
}

func rank(all []Advice, rows map[job.ID]int, s *policy.Snapshot, p *policy.Plan) {
	type waiting struct {
		advice *Advice
		after  float64 // above 0: not started
		since  time.Time
		id     job.ID
	}
	var line []waiting
	for i := range all {
		a := &all[i]
		at, planned := rows[jobID(a.Job.ID)]
		if !planned || !a.Job.Waits() {
			continue
		}
		w := waiting{advice: a, since: s.Jobs[at].Submitted, id: s.Jobs[at].ID}
		if a.Gives.IsZero() {
			w.after = 1 + after(p.Jobs[at].Why)
		}
		line = append(line, w)
	}
	slices.SortFunc(line, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.after, b.after), a.since.Compare(b.since), cmp.Compare(len(a.id), len(b.id)), cmp.Compare(a.id, b.id))
	})
	for i := range line {
		line[i].advice.Place = i + 1
	}
}

func after(why policy.Reason) float64 {
	switch why.Kind {
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority, policy.WaitShare, policy.WaitBackfill:
		return 0
	case policy.WaitOrder:
		return why.Value
	case policy.WaitPrice:
		return why.Limit / max(why.Value, minOffer)
	default:
		return last
	}
}

const (
	minOffer = 1e-12
	last     = 1e15
)

// Does describes in words what the scheduler would do with the job, such as "start on 4 a100 (n1:4)".
func (a *Advice) Does() string {
	has, gets := a.Job.Configuration, a.Gives.Configuration
	switch {
	case a.Barred != "":
		return "nothing"
	case a.Job.Waits() && gets.IsZero():
		return "wait at place " + strconv.Itoa(a.Place)
	case a.Job.Waits():
		return fmt.Sprintf("start on %d %s (%s)", gets.GPUs, gets.GPUType, Nodes(a.On))
	case a.Job.Part != client.Elastic || gets == has && a.On.Equal(a.Job.Placement):
		return "keep"
	case gets.IsZero():
		return fmt.Sprintf("stop, for now, on %d %s", has.GPUs, has.GPUType)
	case gets.GPUs > has.GPUs:
		return fmt.Sprintf("grow from %d to %d %s (%s)", has.GPUs, gets.GPUs, gets.GPUType, Nodes(a.On))
	case gets.GPUs < has.GPUs:
		return fmt.Sprintf("shrink from %d to %d %s (%s)", has.GPUs, gets.GPUs, gets.GPUType, Nodes(a.On))
	}
	return fmt.Sprintf("move to %d %s (%s)", gets.GPUs, gets.GPUType, Nodes(a.On))
}

// Because returns why the scheduler would do it, as a clause.
func (a *Advice) Because() string {
	if a.Barred != "" {
		return "Slurm does not let it start: " + a.Barred
	}
	return a.Why.Text
}

// Nodes formats a placement, such as "n1:4 n2:2".
func Nodes(p cluster.Placement) string {
	all := make([]string, len(p))
	for i, s := range p {
		all[i] = fmt.Sprintf("%s:%d", s.Node, s.GPUs)
	}
	return strings.Join(all, " ")
}
