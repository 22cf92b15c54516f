package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
)

const clock = "2006-01-02 15:04:05 UTC"

type history struct {
	series Series
	lives  map[string]*life          // by key
	held   map[string]map[job.ID]int // at the last look, by node and holder; nil if not all pods are visible
	tracks tracks
	closed map[string]bool // nodes at the last look; nil before the first
}

type life struct {
	held    *explain.Holding
	on      []status.Share
	changes []explain.Change
	begun   time.Time // its holding is known from then on
	gpuTime time.Duration
	last    time.Time
}

const (
	mostLooks   = 20_000 // in a series; then the earlier half is dropped
	mostChanges = 200    // of a job
)

func key(j *status.Job) string { return cmp.Or(j.UID, string(j.ID)) }

func (h *history) add(s *status.Status) {
	gpus, held, waiting, running, own := 0, 0, 0, 0, 0
	lives := make(map[string]*life, len(s.Jobs))
	now := holders(s)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		h.track(s.At, j)
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
	if len(s.GPUs) == 0 { // idle GPUs are unknown
		gpus, held = own, own
	}
	h.endTracks(s)
	h.trackNodes(s)
	h.lives, h.held = lives, now
	if h.series.Begun.IsZero() {
		h.series.Begun = s.At
	}
	h.series.trim()
	h.series.add(point{s.At.Sub(h.series.Begun), gpus, held, waiting, running})
}

func (h *history) track(at time.Time, j *status.Job) {
	h.tracks.resume(j.ID, whole1970(j.Submitted))
	last, l := h.tracks.last(j.ID), h.lives[key(j)]
	switch {
	case last == nil || l == nil && last.What.Ends():
		begun := since(at, j)
		h.tracks.step(j.ID, j.User, status.Step{At: whole1970(cmp.Or(j.Submitted, begun)), What: status.Submitted})
		if j.GPUs > 0 {
			h.tracks.holds(j.ID, j.User, time.Duration(since1970(begun)), j.GPUs)
		}
	case last.GPUs != j.GPUs || l != nil && j.GPUs > 0 && !slices.Equal(l.on, j.Nodes):
		h.tracks.holds(j.ID, j.User, time.Duration(since1970(at)), j.GPUs)
	}
}

func whole1970(t time.Time) int64 { return whole(time.Duration(since1970(t))) }

func (h *history) endTracks(s *status.Status) {
	present, ended := make(map[job.ID]bool, len(s.Jobs)), make(map[job.ID]*status.Job, len(s.Ended))
	for i := range s.Jobs {
		present[s.Jobs[i].ID] = true
	}
	for i := range s.Ended {
		ended[s.Ended[i].ID] = &s.Ended[i]
	}
	var gone []job.ID
	for i := range h.tracks.all {
		if own := &h.tracks.all[i]; !present[own.Job] && !own.Ended() {
			gone = append(gone, own.Job)
		}
	}
	for _, id := range gone {
		h.tracks.step(id, "", end(ended[id], s.At))
	}
}

func end(e *status.Job, at time.Time) status.Step {
	if e == nil {
		return status.Step{At: whole1970(at), What: status.Ended}
	}
	return status.Step{At: whole1970(cmp.Or(e.Finished, at)), What: cmp.Or(status.What(e.Outcome), status.Ended)}
}

func (h *history) trackNodes(s *status.Status) {
	now, at := make(map[string]bool, len(s.Nodes)), time.Duration(since1970(s.At))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		closed, known := h.closed[n.Name]
		now[n.Name] = n.Closed != ""
		switch {
		case h.closed == nil:
		case !known:
			h.tracks.node(at, n.Name, status.Joined)
		case !closed && n.Closed != "":
			h.tracks.node(at, n.Name, status.Closed)
		case closed && n.Closed == "":
			h.tracks.node(at, n.Name, status.Opened)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.closed)) {
		if _, there := now[name]; !there {
			h.tracks.node(at, name, status.Left)
		}
	}
	h.closed = now
}

func (s *Series) trim() {
	if n := len(s.At); n >= mostLooks {
		s.At = slices.Clone(s.At[n/2:])
		for _, all := range []*[]int{&s.GPUs, &s.Held, &s.Waiting, &s.Running} {
			*all = slices.Clone((*all)[n/2:])
		}
	}
}

func (s *Series) copied() *Series {
	v := *s
	v.At = slices.Clone(v.At)
	for _, all := range []*[]int{&v.GPUs, &v.Held, &v.Waiting, &v.Running} {
		*all = slices.Clone(*all)
	}
	return &v
}

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
		At: since1970(at), What: what(l.held, holds), From: l.held, To: holds, Text: text(holds) + " instead of " + text(l.held) + h.takers(now, l.on, j),
	})
	l.changes = l.changes[max(0, len(l.changes)-mostChanges):]
	l.held, l.on = holds, j.Nodes
	return l
}

func (l *life) count(at time.Time) {
	if l.held != nil && at.After(l.last) {
		l.gpuTime += time.Duration(l.held.GPUs) * at.Sub(l.last)
	}
	l.last = at
}

func (h *history) story(j *status.Job) *explain.Story {
	l := h.lives[key(j)]
	if l == nil {
		return nil
	}
	note := fmt.Sprintf("Only what happened since this page was opened is known. Since %s it has held %.3g GPU-hours.", l.begun.UTC().Format(clock), l.gpuTime.Hours())
	return &explain.Story{Job: j.ID, Asked: j.Asked, Changes: slices.Clone(l.changes), Note: note}
}

func holding(j *status.Job) *explain.Holding {
	if !j.Holds() {
		return nil
	}
	return &explain.Holding{Nodes: len(j.Nodes), GPUs: j.GPUs, Type: j.GPUType}
}

func since(at time.Time, j *status.Job) time.Time {
	if j.Since.IsZero() {
		return at
	}
	return j.Since
}

func first(at time.Time, j *status.Job) explain.Change {
	c := explain.Change{At: since1970(since(at, j)), What: explain.Submitted, To: holding(j), Text: "submitted, asking for " + cmp.Or(j.Asked, "GPUs")}
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

func text(h *explain.Holding) string {
	if h == nil {
		return "no GPUs"
	}
	words := printable.GPUs(h.GPUs, string(h.Type))
	if h.Nodes > 1 {
		words += fmt.Sprintf(" on %d nodes", h.Nodes)
	}
	return words
}

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

// takers lists the jobs that have more GPUs than before on nodes where j has fewer, and how many more.
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
	return "; on its nodes these now hold more GPUs: " + strings.Join(all, ", ")
}
