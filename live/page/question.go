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

// An Asker is a Source that can also answer what-if questions by simulation.
type Asker interface {
	// Asks reports whether it can answer.
	Asks() bool
	// Ask answers a question about the state at a time.
	Ask(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error)
}

func (s *Server) asker() Asker {
	if a, ok := s.source.(Asker); ok && a.Asks() {
		return a
	}
	return nil
}

const mostShifts = 20

type answered struct {
	Sooner  int     `json:"sooner"`
	Later   int     `json:"later"`
	Same    int     `json:"same"`
	Unknown int     `json:"unknown"`
	Mean    float64 `json:"mean"`

	StartSooner int `json:"start_sooner"`
	StartLater  int `json:"start_later"`

	From time.Time `json:"from"` // origin of the times
	Jobs []shift   `json:"jobs"`
}

type shift struct {
	Job        job.ID      `json:"job"`
	Starts     *[2]float64 `json:"starts,omitempty"`
	WouldStart *[2]float64 `json:"would_start,omitempty"`
	Before     *[2]float64 `json:"before,omitempty"`
	After      *[2]float64 `json:"after,omitempty"`
}

func (s *Server) question(w http.ResponseWriter, r *http.Request) {
	a := s.asker()
	if a == nil {
		http.Error(w, "this source does not answer what-if questions", http.StatusNotFound)
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

func seconds(g *whatif.Guess) *[2]float64 {
	if g.Why != whatif.Known || g.Open {
		return nil
	}
	return &[2]float64{g.Early.Seconds(), g.Late.Seconds()}
}
