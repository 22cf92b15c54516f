package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// clock is how times are written.
const clock = "2006-01-02 15:04:05 UTC"

// A history is what was seen of a backend since the program began to look, for backends that keep none.
type history struct {
	series Series
	lives  map[string]*life          // by key, of the jobs of the last look
	held   map[string]map[job.ID]int // GPUs by node and holder, at the last look that showed all; nil: it did not
}

// A life is what was seen of a job.
type life struct {
	held    *explain.Holding
	on      []status.Share
	changes []explain.Change
	begun   time.Time     // from when on what it held is known
	gpuTime time.Duration // GPUs times time, from then until last
	last    time.Time     // of the look that counted
}

const (
	mostLooks   = 20_000 // in a series: the earlier half goes when there are more
	mostChanges = 200    // of a job, the last ones
)

// key identifies a job: a name can be used again.
func key(j *status.Job) string { return cmp.Or(j.UID, string(j.ID)) }

// add takes another look.
func (h *history) add(s *status.Status) {
	gpus, held, waiting, running, own := 0, 0, 0, 0, 0
	lives := make(map[string]*life, len(s.Jobs))
	now := holders(s)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		lives[key(j)] = h.life(s.At, j, now)
		if own += j.GPUs; j.Holds() {
			running++
		} else {
			waiting++
		}
	}
	for i := range s.GPUs {
		gpus, held = gpus+s.GPUs[i].Total-s.GPUs[i].Unusable, held+s.GPUs[i].Held
	}
	if len(s.GPUs) == 0 { // idle GPUs are not known
		gpus, held = own, own
	}
	h.lives, h.held = lives, now
	if h.series.Begun.IsZero() {
		h.series.Begun = s.At
	}
	h.series.trim()
	h.series.add(point{s.At.Sub(h.series.Begun), gpus, held, waiting, running})
}

// trim drops the earlier half of a series that is too long.
func (s *Series) trim() {
	if n := len(s.At); n >= mostLooks {
		s.At = slices.Clone(s.At[n/2:])
		for _, all := range []*[]int{&s.GPUs, &s.Held, &s.Waiting, &s.Running} {
			*all = slices.Clone((*all)[n/2:])
		}
	}
}

// copied returns a copy of a series.
func (s *Series) copied() *Series {
	v := *s
	v.At = slices.Clone(v.At)
	for _, all := range []*[]int{&v.GPUs, &v.Held, &v.Waiting, &v.Running} {
		*all = slices.Clone(*all)
	}
	return &v
}

// life returns what was seen of a job, with what has changed now.
func (h *history) life(at time.Time, j *status.Job, now map[string]map[job.ID]int) *life {
	holds, l := holding(j), h.lives[key(j)]
	if l == nil {
		begun := since(at, j)
		l = &life{held: holds, on: j.Nodes, changes: []explain.Change{first(at, j)}, begun: begun, last: begun}
	}
	l.count(at)
	if slices.Equal(l.on, j.Nodes) {
		return l
	}
	l.changes = append(l.changes, explain.Change{
		At: Since1970(at), What: what(l.held, holds), From: l.held, To: holds, Text: text(holds) + " in place of " + text(l.held) + h.takers(now, l.on, j),
	})
	l.changes = l.changes[max(0, len(l.changes)-mostChanges):]
	l.held, l.on = holds, j.Nodes
	return l
}

// count counts what a job has held until a look.
func (l *life) count(at time.Time) {
	if l.held != nil && at.After(l.last) {
		l.gpuTime += time.Duration(l.held.GPUs) * at.Sub(l.last)
	}
	l.last = at
}

// story returns the life of a job; nil if it was not seen.
func (h *history) story(j *status.Job) *explain.Story {
	l := h.lives[key(j)]
	if l == nil {
		return nil
	}
	note := fmt.Sprintf("Of its life, what was seen since this page was opened. Since %s it has held %.3g GPU-hours, as far as was seen.", l.begun.UTC().Format(clock), l.gpuTime.Hours())
	return &explain.Story{Job: j.ID, Asked: j.Asked, Changes: slices.Clone(l.changes), Note: note}
}

// holding returns what a job holds; nil: nothing.
func holding(j *status.Job) *explain.Holding {
	if !j.Holds() {
		return nil
	}
	return &explain.Holding{Nodes: len(j.Nodes), GPUs: j.GPUs, Type: j.GPUType}
}

// since returns from when on a job has been as it is; if that is not known, now.
func since(at time.Time, j *status.Job) time.Time {
	if j.Since.IsZero() {
		return at
	}
	return j.Since
}

// first returns how a job was seen first.
func first(at time.Time, j *status.Job) explain.Change {
	c := explain.Change{At: Since1970(since(at, j)), What: explain.Submitted, To: holding(j), Text: "submitted, asking for " + cmp.Or(j.Asked, "GPUs")}
	submitted := "; submitted at " + j.Submitted.UTC().Format(clock)
	switch {
	case c.To != nil:
		c.What, c.Text = explain.Started, text(c.To)+" since then"+submitted
	case j.Submitted.IsZero():
		c.What, c.Text = explain.Waits, "waits"
	case j.Since.After(j.Submitted):
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

// holders returns who has how many GPUs of each node; nil: not all pods are visible.
func holders(s *status.Status) map[string]map[job.ID]int {
	if len(s.GPUs) == 0 {
		return nil
	}
	all := make(map[string]map[job.ID]int, len(s.Nodes))
	for i := range s.Nodes {
		of := make(map[job.ID]int)
		for _, h := range s.Nodes[i].Held {
			of[h.Job] += h.GPUs
		}
		all[s.Nodes[i].Name] = of
	}
	return all
}

// takers says who has more GPUs than before on the nodes on which a job has fewer, and how many more; empty: nobody, or not all pods are
// visible. Some of these may have been idle before, so it does not say that they were the job's.
func (h *history) takers(now map[string]map[job.ID]int, was []status.Share, j *status.Job) string {
	more := make(map[job.ID]int)
	if h.held == nil || now == nil {
		return ""
	}
	for _, had := range was {
		i := slices.IndexFunc(j.Nodes, func(s status.Share) bool { return s.Node == had.Node })
		if i >= 0 && j.Nodes[i].GPUs >= had.GPUs {
			continue
		}
		for name, n := range now[had.Node] {
			if by := n - h.held[had.Node][name]; by > 0 {
				more[name] += by
			}
		}
	}
	var all []string
	for name, n := range more {
		all = append(all, fmt.Sprintf("%s %d", name, n))
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return "; more GPUs of its nodes than before: " + strings.Join(all, ", ")
}
