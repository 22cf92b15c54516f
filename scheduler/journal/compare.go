package journal

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Watch returns an observer to pass to the replaying scheduler. Call Watch before the first Next. Unless Shadow is set,
// the Backend then also compares each plan with the recording, with its reasons, prices and refusals, and with the
// stats of plans that were not interrupted.
func (b *Backend) Watch() scheduler.Observer {
	b.decisions = maps.Clone(b.begun)
	if b.decisions == nil {
		b.decisions = map[job.ID]policy.Decision{}
	}
	return watcher{b}
}

type watcher struct{ b *Backend }

func (watcher) Event(time.Time, scheduler.Event) {}

func (w watcher) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.b.planned = &planned{s, p}
}

type planned struct {
	*policy.Snapshot
	plan *policy.Plan
}

func (b *Backend) plans(rec *Round, now *planned) *Difference {
	if b.decisions == nil || b.Shadow {
		return nil
	}
	if rec != nil {
		b.hear(rec)
	}
	switch {
	case rec == nil && now == nil:
		return nil
	case rec == nil:
		return &Difference{Field: "the round", Got: "a plan", Want: "none"}
	case now == nil:
		return &Difference{Field: "the round", Got: "no plan", Want: "one"}
	case rec.Number != now.Round:
		return &Difference{Field: "the number of the round", Got: strconv.Itoa(now.Round), Want: strconv.Itoa(rec.Number)}
	}
	if d := b.jobsOf(now); d != nil {
		return d
	}
	return b.rest(rec, now.plan)
}

func (b *Backend) hear(rec *Round) {
	for i := range rec.Changed {
		b.decisions[rec.Changed[i].Job] = rec.Changed[i].Decision
	}
	for _, id := range rec.Left {
		delete(b.decisions, id)
	}
}

func (b *Backend) jobsOf(now *planned) *Difference {
	for i, j := range now.Jobs {
		recorded, ok := b.decisions[j.ID]
		if !ok {
			return &Difference{Job: j.ID, Field: "presence", Got: "in the round", Want: "not in it"}
		}
		if d := apartIn(&recorded, &now.plan.Jobs[i]); d != nil {
			d.Job = j.ID
			return d
		}
	}
	if len(b.decisions) == len(now.Jobs) {
		return nil
	}
	missing := maps.Clone(b.decisions)
	for _, j := range now.Jobs {
		delete(missing, j.ID)
	}
	return &Difference{Job: slices.Min(slices.Collect(maps.Keys(missing))), Field: "presence", Got: "not in the round", Want: "in it"}
}

func apartIn(recorded, now *policy.Decision) *Difference {
	switch {
	case now.Allocation != recorded.Allocation:
		return unlike("allocation", recorded.Allocation, now.Allocation, (*encoder).allocation)
	case !now.Placement.Equal(recorded.Placement):
		return unlike("placement", recorded.Placement, now.Placement, (*encoder).placement)
	case now.Batch != recorded.Batch:
		return unlike("batch size", recorded.Batch, now.Batch, (*encoder).batch)
	case now.Why != recorded.Why:
		return unlike("reason", recorded.Why, now.Why, (*encoder).reason)
	}
	return nil
}

func (b *Backend) rest(rec *Round, now *policy.Plan) *Difference {
	switch {
	case !slices.Equal(rec.Prices, now.Prices):
		return unlike("prices", rec.Prices, now.Prices, (*encoder).prices)
	case b.r.Sealed() && !maps.Equal(rec.Capacity, now.Capacity):
		return unlike("nodes wanted", rec.Capacity, now.Capacity, (*encoder).capacity)
	case !sameRefusal(rec.Refused, now.Refused):
		return unlike("refusal", rec.Refused, now.Refused, (*encoder).str)
	case !rec.Stats.Interrupted && rec.Stats != now.Stats:
		return unlike("stats", &rec.Stats, &now.Stats, (*encoder).stats)
	}
	return nil
}

// inARow matches what policy/fallback adds to an error in live runs.
var inARow = regexp.MustCompile(`plan: failure \d+ in a row: `)

func sameRefusal(recorded, now string) bool {
	return recorded == now || inARow.ReplaceAllString(recorded, "plan: ") == now || inARow.ReplaceAllString(recorded, "") == now
}

func unlike[T any](field string, recorded, now T, write func(*encoder, T)) *Difference {
	var want, got encoder
	write(&want, recorded)
	write(&got, now)
	return &Difference{Field: field, Got: string(got.buf), Want: string(want.buf)}
}

// A Comparison counts the decisions of a replay, and how many differ from the recorded ones. If Shadow is set, it
// counts only decisions about jobs, not about nodes.
type Comparison struct {
	Rounds    int
	Differing int
	Actions   int
	First     *Difference // nil if there is none
}

// A Difference is an error that describes the first decision of a replay that differs from the recorded one.
type Difference struct {
	Round int // number of the recorded round; -1 if there was none
	At    time.Duration
	Job   job.ID // may be empty
	// Field names what differs, and Got and Want are its values as in a journal; all are empty if an action
	// differs.
	Field, Got, Want string
	Recorded         scheduler.Action
	Now              scheduler.Action // nil if there is none
	// Interrupted states that the recorded plan was the best one found within a time limit, so another run may find
	// another.
	Interrupted bool
}

func (d *Difference) Error() string {
	what, got, want := d.what()
	text := fmt.Sprintf("round %d at %v: %s: got %s, want %s as recorded", d.Round, d.At, what, got, want)
	if d.Interrupted {
		text += "; the recorded plan was interrupted at its time limit, so another run may find another plan"
	}
	return text
}

func (d *Difference) what() (what, got, want string) {
	if d.Field == "" {
		about := d.Recorded
		if about == nil {
			about = d.Now
		}
		return about.Topic().String(), show(d.Now), show(d.Recorded)
	}
	if d.Job == "" {
		return d.Field, d.Got, d.Want
	}
	return printable.Named("job", string(d.Job)) + ": " + d.Field, d.Got, d.Want
}

func show(a scheduler.Action) string {
	if a == nil {
		return "no action"
	}
	var e encoder
	e.action(a)
	return string(e.buf)
}

func (b *Backend) compare(rec *Record, now []scheduler.Action, plan *planned) error {
	b.counts.Rounds++
	found := Difference{Round: -1, At: b.at()}
	var round *Round
	var recorded []scheduler.Action
	if rec != nil {
		round, recorded = rec.Round, rec.Round.Actions
		found = Difference{Round: round.Number, At: rec.At, Interrupted: round.Stats.Interrupted}
	}
	if b.Shadow {
		recorded, now = ofJobs(recorded), ofJobs(now)
	}
	actions := pair(recorded, now)
	b.counts.Actions += len(actions)
	first := b.plans(round, plan)
	if first == nil && len(actions) > 0 {
		first = &actions[0]
	}
	if first == nil {
		return nil
	}
	first.Round, first.At, first.Interrupted = found.Round, found.At, found.Interrupted
	return b.differs(first)
}

// differs counts a round that differs. It returns an error, which ends the replay, unless in shadow.
func (b *Backend) differs(first *Difference) error {
	b.counts.Differing++
	if b.counts.First == nil {
		b.counts.First = first
	}
	if b.Shadow {
		return nil
	}
	b.ahead, b.err, b.own = nil, io.EOF, nil
	return first
}

func ofJobs(actions []scheduler.Action) []scheduler.Action {
	return slices.DeleteFunc(slices.Clone(actions), apart)
}

func pair(recorded, now []scheduler.Action) []Difference {
	asked := make(map[scheduler.Topic]scheduler.Action, len(now))
	for _, a := range now {
		asked[a.Topic()] = a
	}
	var all []Difference
	for _, a := range recorded {
		about := a.Topic()
		if b := asked[about]; !equal(a, b) {
			all = append(all, Difference{Job: about.Job, Recorded: a, Now: b})
		}
		delete(asked, about)
	}
	for _, a := range now {
		if about := a.Topic(); asked[about] != nil {
			all = append(all, Difference{Job: about.Job, Now: a})
		}
	}
	return all
}
