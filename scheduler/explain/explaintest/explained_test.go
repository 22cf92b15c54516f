package explaintest

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func (r *run) explained(t *testing.T, points []point) map[point]*stated {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(r.journal))
	if err != nil {
		t.Fatal(err)
	}
	p, placer, err := r.remake.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	rec := counterfactual.NewRecorder(p, r.remake.Fresh, 8)
	so := r.remake.Scheduler
	so.Round = j.Header().Round
	s, err := scheduler.New(rec, placer, j.Header().Cluster, so)
	if err != nil {
		t.Fatal(err)
	}
	x := &explainer{t: t, rec: rec, points: points, said: map[point]*stated{}}
	if err := s.Run(t.Context(), journal.Replay(j), x); err != nil {
		t.Fatal(err)
	}
	return x.said
}

// An explainer asks what would help at some points of a run.
type explainer struct {
	t      *testing.T
	rec    *counterfactual.Recorder
	round  int
	points []point
	said   map[point]*stated
}

func (x *explainer) Event(time.Time, scheduler.Event) {}

func (x *explainer) Round(now *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	x.t.Helper()
	for _, at := range x.points {
		if at.round != x.round {
			continue
		}
		s, d, err := x.rec.At(context.Background(), now.Now)
		if err != nil {
			x.t.Fatal(err)
		}
		c, err := counterfactual.Find(context.Background(), s, p, at.job, d, foreseen(x.round, s))
		if err != nil {
			x.t.Fatal(err)
		}
		x.said[at] = read(x.t, c)
	}
	x.round++
}

// foreseen says of every second round in how long jobs end, at will: what is stated must be so whatever was foreseen.
func foreseen(round int, s *policy.Snapshot) map[job.ID]time.Duration {
	if round%2 == 0 {
		return nil
	}
	all := map[job.ID]time.Duration{}
	for i, j := range s.Jobs {
		if (i+round)%5 > 0 {
			all[j.ID] = time.Duration(i*7919%101) * time.Minute
		}
	}
	return all
}

// asGPUs calls CPU slots "cpu GPUs", as the tests of GPUs read them.
func asGPUs(text string) string {
	return regexp.MustCompile(`CPU slots?`).ReplaceAllString(text, "cpu GPUs")
}

// read returns a change as its JSON and its words say it.
func read(t *testing.T, c *counterfactual.Change) *stated {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	said := &stated{text: asGPUs(c.String())}
	if err := json.Unmarshal(text, said); err != nil {
		t.Fatal(err)
	}
	return said
}
