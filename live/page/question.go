package page

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// An Asker is a Source that answers what would be from a time on, by simulation. Nothing is done.
type Asker interface {
	// Asks reports whether it can be asked.
	Asks() bool
	// Ask answers a question about the state at a time.
	Ask(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error)
}

// asker returns the source if it can be asked; nil: it cannot.
func (s *Server) asker() Asker {
	if a, ok := s.source.(Asker); ok && a.Asks() {
		return a
	}
	return nil
}

// mostShifts is how many jobs of an answer are listed, those for which most changes first.
const mostShifts = 20

// An answered is an answer as the page wants it. Times are in seconds.
type answered struct {
	Sooner  int     `json:"sooner"`
	Later   int     `json:"later"`
	Same    int     `json:"same"`
	Unknown int     `json:"unknown"`
	Mean    float64 `json:"mean"` // by how much sooner jobs end

	StartSooner int `json:"start_sooner"`
	StartLater  int `json:"start_later"`

	From time.Time `json:"from"` // from when times count
	Jobs []shift   `json:"jobs"`
}

// A shift is when a job gets GPUs and ends, and would, in seconds from then: the least and the most of two simulations; nil: not known, or
// the same.
type shift struct {
	Job        job.ID      `json:"job"`
	Starts     *[2]float64 `json:"starts,omitempty"`
	WouldStart *[2]float64 `json:"would_start,omitempty"`
	Before     *[2]float64 `json:"before,omitempty"`
	After      *[2]float64 `json:"after,omitempty"`
}

// question answers what would be.
func (s *Server) question(w http.ResponseWriter, r *http.Request) {
	a := s.asker()
	if a == nil {
		http.Error(w, "this source cannot be asked what would be", http.StatusNotFound)
		return
	}
	t, err := at(r)
	q := questionOf(r)
	if err == nil {
		err = q.Validate()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, err := a.Ask(r.Context(), q, t)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, r, show(found), nil)
}

// questionOf returns what a request asks. A number that is none is 0, which no question has.
func questionOf(r *http.Request) whatif.Question {
	given := r.URL.Query()
	number := func(key string) int {
		n, _ := strconv.Atoi(given.Get(key))
		return n
	}
	return whatif.Question{
		Cancel: job.ID(given.Get("cancel")),
		Nodes:  number("nodes"), Type: cluster.GPUType(given.Get("type")),
		Resize: job.ID(given.Get("resize")), GPUs: number("gpus"),
	}
}

// show returns an answer with the jobs for which most changes.
func show(a *whatif.Answer) *answered {
	v := &answered{
		Sooner: a.Sooner, Later: a.Later, Same: a.Same, Unknown: a.Unknown, Mean: a.Mean.Seconds(),
		StartSooner: a.StartSooner, StartLater: a.StartLater, From: a.From, Jobs: []shift{},
	}
	few := *a
	few.Keep(mostShifts)
	for _, h := range few.Jobs {
		one := shift{Job: h.Job, Before: seconds(&h.Before), After: seconds(&h.After)}
		if h.Starts != h.WouldStart {
			one.Starts, one.WouldStart = seconds(&h.Starts), seconds(&h.WouldStart)
		}
		v.Jobs = append(v.Jobs, one)
	}
	return v
}

// seconds returns a guess; nil if it is not known.
func seconds(g *whatif.Guess) *[2]float64 {
	if g.Why != whatif.Known || g.Open {
		return nil
	}
	return &[2]float64{g.Early.Seconds(), g.Late.Seconds()}
}
