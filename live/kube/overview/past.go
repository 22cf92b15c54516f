package overview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A past is what was seen of a cluster since the program began to look: the API keeps no history.
type past struct {
	series page.Series
	lives  map[string]*life          // by uid, of the jobs of the last look
	held   map[string]map[string]int // GPUs by node and holder, at the last look that showed all
}

// A life is what was seen of a job.
type life struct {
	held    *explain.Holding
	on      []view.Share
	changes []explain.Change
	begun   time.Time     // from when on what it held is known
	gpuTime time.Duration // GPUs times time, from then until last
	last    time.Time     // of the look that counted
}

func newPast() past {
	return past{lives: make(map[string]*life)}
}

const (
	mostPoints  = 20_000 // of a series: the earlier half goes when there are more
	mostChanges = 200    // of a job, the last ones
)

// add takes another look.
func (p *past) add(at *view.Look) {
	held, waiting, running := 0, 0, 0
	lives := make(map[string]*life, len(at.Jobs))
	for i := range at.Jobs {
		s := &at.Jobs[i]
		lives[s.UID] = p.life(at, s)
		if h := lives[s.UID].held; h != nil {
			running++
			held += h.GPUs
		} else {
			waiting++
		}
	}
	gpus := held // where idle ones are not known
	if at.Whole {
		gpus, held = 0, 0
		for _, t := range types(at) {
			gpus, held = gpus+t.GPUs, held+t.GPUs-t.Free
		}
	}
	p.lives, p.held = lives, holders(at)
	if p.series.Begun.IsZero() {
		p.series.Begun = at.At
	}
	p.point(journal.Seconds(at.At.Sub(p.series.Begun)), gpus, held, waiting, running)
}

// point adds a point of the series.
func (p *past) point(at journal.Seconds, gpus, held, waiting, running int) {
	v := &p.series
	if n := len(v.At); n >= mostPoints {
		v.At = slices.Clone(v.At[n/2:])
		for _, all := range []*[]int{&v.GPUs, &v.Held, &v.Waiting, &v.Running} {
			*all = slices.Clone((*all)[n/2:])
		}
	}
	v.At, v.GPUs, v.Held = append(v.At, at), append(v.GPUs, gpus), append(v.Held, held)
	v.Waiting, v.Running = append(v.Waiting, waiting), append(v.Running, running)
}

// life returns what was seen of a job, with what is another now.
func (p *past) life(at *view.Look, s *view.Seen) *life {
	holds, l := holding(at, s), p.lives[s.UID]
	if l == nil {
		begun := since(at, s)
		l = &life{held: holds, on: s.Held, changes: []explain.Change{first(at, s)}, begun: begun, last: begun}
	}
	l.count(at.At)
	if slices.Equal(l.on, s.Held) {
		return l
	}
	l.changes = append(l.changes, explain.Change{At: since1970(at.At), What: what(l.held, holds), From: l.held, To: holds, Text: text(holds) + " in place of " + text(l.held) + p.takers(at, l.on, s)})
	l.changes = l.changes[max(0, len(l.changes)-mostChanges):]
	l.held, l.on = holds, s.Held
	return l
}

// first returns how a job was seen first. Of what was before, the API says no more.
func first(at *view.Look, s *view.Seen) explain.Change {
	c := explain.Change{At: since1970(since(at, s)), What: explain.Submitted, To: holding(at, s), Text: "submitted, asking for " + cmp.Or(s.Asked, "GPUs")}
	submitted := "; submitted at " + s.Created.UTC().Format(clock)
	switch {
	case c.To != nil:
		c.What, c.Text = explain.Started, text(c.To)+", its last pod made then"+submitted
	case s.Created.IsZero():
		c.What, c.Text = explain.Waits, "waits"
	case s.Since.After(s.Created):
		c.What, c.Text = explain.Waits, "waits since then"+submitted
	}
	return c
}

// what returns the kind of a change.
func what(from, to *explain.Holding) explain.What {
	switch {
	case from == nil:
		return explain.Started
	case to == nil:
		return explain.Waits
	case to.GPUs > from.GPUs:
		return explain.Grown
	case to.GPUs < from.GPUs:
		return explain.Shrunk
	}
	return explain.Moved
}

// text returns "4 nvidia-h200 GPUs on 2 nodes".
func text(h *explain.Holding) string {
	if h == nil {
		return "no GPUs"
	}
	gpus := "GPUs"
	if h.GPUs == 1 {
		gpus = "GPU"
	}
	words := fmt.Sprintf("%d %s", h.GPUs, strings.TrimSpace(string(h.Type)+" "+gpus))
	if h.Nodes > 1 {
		words += fmt.Sprintf(" on %d nodes", h.Nodes)
	}
	return words
}

// job returns a job as its page shows it.
func (p *past) job(at *view.Look, s *view.Seen) (*page.Job, error) {
	j := jobOf(at, s)
	story := explain.Story{Job: j.ID, Policy: policies(at), Asked: j.Asked, Moment: &explain.Moment{
		At: since1970(at.At), Phase: j.Phase, Since: &j.Since, Holds: j.Holds, Reason: j.Reason, Sentence: j.Sentence,
		Start: j.Start, End: j.End,
	}}
	if s.Why.FromPlan() && s.Planned {
		story.Moment.Unblock = s.Unblock
	}
	moment, err := json.Marshal(&story)
	out := &page.Job{Begun: time.Unix(0, 0).UTC(), Moment: moment}
	if l := p.lives[s.UID]; l != nil && len(l.changes) > 0 {
		out.Life = &explain.Story{Job: j.ID, Asked: j.Asked, Changes: slices.Clone(l.changes), Note: l.note()}
	}
	return out, err
}

// copied returns the series so far.
func (p *past) copied() *page.Series {
	v := p.series
	for _, all := range []*[]int{&v.GPUs, &v.Held, &v.Waiting, &v.Running} {
		*all = slices.Clone(*all)
	}
	v.At = slices.Clone(v.At)
	return &v
}
