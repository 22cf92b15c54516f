package page

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// tracks records a status.Timeline. It holds at most limit steps: jobs that ended first are forgotten first, and then the
// early steps of the others.
type tracks struct {
	at      map[job.ID]int // index in all
	all     []status.Track
	ends    []job.ID // in order of their ends
	steps   int
	nodes   []status.NodeChange
	omitted int
}

const (
	mostSteps    = 50_000
	mostOwnSteps = 100 // of a job
	fewSteps     = 4   // of a job, if all jobs together have too many
	mostNodes    = 1000
)

// resume removes the end of a job that was only absent for a time: its end was not listed, and it was submitted before.
func (t *tracks) resume(id job.ID, submitted int64) {
	last := t.last(id)
	if last == nil || last.What != status.Ended || submitted > last.At || len(t.all[t.at[id]].Steps) == 1 {
		return
	}
	own := &t.all[t.at[id]]
	own.Steps, t.steps = own.Steps[:len(own.Steps)-1], t.steps-1
}

// step adds a step of a job, at the time of its last step or later.
func (t *tracks) step(id job.ID, user string, s status.Step) {
	if t.at == nil {
		t.at = make(map[job.ID]int)
	}
	i, known := t.at[id]
	if !known {
		i = len(t.all)
		t.at[id], t.all = i, append(t.all, status.Track{Job: id, User: user})
	}
	own := &t.all[i]
	if n := len(own.Steps); n > 0 {
		s.At = max(s.At, own.Steps[n-1].At)
	}
	own.Steps = append(own.Steps, s)
	if t.steps++; len(own.Steps) > mostOwnSteps {
		t.thin(own, mostOwnSteps/2)
	}
	if own.Ended() {
		t.ended(id)
	}
	if t.steps > t.limit() {
		t.forget()
	}
}

// limit is mostSteps, or more if there are so many jobs that a few steps of each exceed it. So each forget makes room for
// many more steps.
func (t *tracks) limit() int { return max(mostSteps, (fewSteps+1)*len(t.all)) }

// ended notes the end of a job. A name that is used again ends again, so earlier notes are removed now and then.
func (t *tracks) ended(id job.ID) {
	if t.ends = append(t.ends, id); len(t.ends) <= 2*len(t.all)+100 {
		return
	}
	last := make(map[job.ID]int, len(t.ends))
	for i, id := range t.ends {
		last[id] = i
	}
	kept := t.ends[:0]
	for i, id := range t.ends {
		if last[id] == i {
			kept = append(kept, id)
		}
	}
	t.ends = kept
}

// thin keeps the first step of a job and its last ones.
func (t *tracks) thin(own *status.Track, most int) {
	if drop := len(own.Steps) - most; drop > 0 {
		own.Steps, t.steps = slices.Delete(own.Steps, 1, 1+drop), t.steps-drop
	}
}

func (t *tracks) forget() {
	gone, most := make(map[job.ID]bool), t.limit()*9/10
	for _, id := range t.ends {
		i, known := t.at[id]
		if t.steps <= most {
			break
		}
		if known && !gone[id] && t.all[i].Ended() {
			gone[id], t.steps = true, t.steps-len(t.all[i].Steps)
		}
	}
	t.drop(gone)
	for i := range t.all {
		if t.steps > most {
			t.thin(&t.all[i], fewSteps)
		}
	}
}

func (t *tracks) drop(gone map[job.ID]bool) {
	t.omitted += len(gone)
	t.all = slices.DeleteFunc(t.all, func(own status.Track) bool { return gone[own.Job] })
	t.ends = slices.DeleteFunc(t.ends, func(id job.ID) bool { return gone[id] })
	clear(t.at)
	for i := range t.all {
		t.at[t.all[i].Job] = i
	}
}

func (t *tracks) last(id job.ID) *status.Step {
	i, known := t.at[id]
	if !known {
		return nil
	}
	return &t.all[i].Steps[len(t.all[i].Steps)-1]
}

func (t *tracks) holds(id job.ID, user string, at time.Duration, gpus int) {
	was := 0
	if last := t.last(id); last != nil {
		was = last.GPUs
	}
	s := status.Step{At: whole(at), GPUs: gpus, What: status.Moved}
	switch {
	case was == 0:
		s.What = status.Started
	case gpus == 0:
		s.What = status.Preempted
	case gpus > was:
		s.What = status.Grown
	case gpus < was:
		s.What = status.Shrunk
	}
	t.step(id, user, s)
}

func (t *tracks) node(at time.Duration, name string, what status.What) {
	t.nodes = append(t.nodes, status.NodeChange{At: whole(at), Node: name, What: what})
	t.nodes = t.nodes[max(0, len(t.nodes)-mostNodes):]
}

func whole(at time.Duration) int64 { return int64(at.Round(time.Second) / time.Second) }

func (t *tracks) timeline(begun time.Time, until time.Duration) *status.Timeline {
	l := &status.Timeline{Begun: begun, Until: whole(until), Tracks: make([]status.Track, len(t.all)), Nodes: append([]status.NodeChange{}, t.nodes...), Omitted: t.omitted}
	for i, own := range t.all {
		own.Steps = slices.Clone(own.Steps)
		l.Tracks[i] = own
	}
	return l
}
