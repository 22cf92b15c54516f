package external

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/queue"
)

// A Policy asks another process, for example a reinforcement learner, what to do in each round.
type Policy struct {
	in     *json.Decoder
	out    *bufio.Writer
	meter  *Meter
	first  time.Time
	failed error // once set, Plan asks no more
	fail   func()
}

// New returns a Policy that writes questions to out and reads answers from in. m must observe the same run. fail is
// called at the first error and must end the run; otherwise the scheduler would continue with its last plan.
func New(in io.Reader, out io.Writer, m *Meter, fail func()) *Policy {
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	return &Policy{in: d, out: bufio.NewWriter(out), meter: m, fail: fail}
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits { return policy.Traits{Models: true, Sizes: true, Classes: true} }

// Err returns the first error of the exchange with the other process.
func (p *Policy) Err() error { return p.failed }

// Plan implements policy.Policy. It returns an error if ctx ends, the exchange fails, or the answer has an unknown
// name.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := errors.Join(ctx.Err(), p.failed); err != nil {
		return nil, fmt.Errorf("external: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s)
	answer, err := p.ask(s, r)
	if err == nil {
		err = follow(r, answer)
	}
	if err != nil {
		p.failed = fmt.Errorf("external: round %d: %w", s.Round, err)
		p.fail()
		return nil, p.failed
	}
	return r.Plan(), nil
}

func (p *Policy) ask(s *policy.Snapshot, r *grant.Round) (*Answer, error) {
	if err := p.Say(p.question(s, r)); err != nil {
		return nil, err
	}
	answer := new(Answer)
	switch err := p.in.Decode(answer); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("no answer: the other process closed the connection")
	case err != nil:
		return nil, fmt.Errorf("answer: %w", err)
	}
	return answer, nil
}

// Say sends a value to the other process as a line of JSON.
func (p *Policy) Say(v any) error {
	if err := json.NewEncoder(p.out).Encode(v); err != nil {
		return err
	}
	return p.out.Flush()
}

func (p *Policy) question(s *policy.Snapshot, r *grant.Round) *Question {
	if p.first.IsZero() {
		p.first = s.Now
	}
	q := &Question{Round: s.Round, Now: s.Now.Sub(p.first).Seconds(), Span: s.Length.Seconds(), JobTime: p.meter.Take(s.Now), GPUs: GPUsOf(s.Cluster), Jobs: []Job{}}
	for i, j := range s.Jobs {
		left, _ := queue.RemainingTime(s, j)
		q.Jobs = append(q.Jobs, Job{
			ID: j.ID, Class: j.Class, User: j.User, Queue: j.Queue, Submitted: j.Submitted.Sub(p.first).Seconds(),
			Requested: grant.Requested(j), Sizes: sizes(r, i), Held: j.Allocation.AllGPUs(), HeldType: j.Allocation.GPUType,
			Service: j.AttainedGPUService(s.Now).Seconds(), Restarts: j.Restarts, Restart: j.RestartOverhead.Seconds(),
			Remaining: left.Seconds(), Fixed: r.Decided(i),
		})
	}
	return q
}

// GPUsOf returns the number of GPUs of each type of a cluster.
func GPUsOf(c *cluster.Cluster) []GPUs {
	all := []GPUs{}
	for _, t := range c.Types() {
		all = append(all, GPUs{t.Type, t.GPUs, t.PerNode})
	}
	return all
}

func sizes(r *grant.Round, i int) []Sizes {
	all := []Sizes{}
	for t := range r.Types {
		if least, most, step := r.Range(i, t); least > 0 {
			all = append(all, Sizes{r.Types[t].Type, least, most, step})
		}
	}
	return all
}
