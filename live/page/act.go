package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/oxgang/oxgang/model/job"
)

// An Actor is a Source that can also cancel jobs.
type Actor interface {
	// Cancel ends a job soon. It returns ErrUnknown for an unknown job, and a *RefusedError if the job may not be
	// cancelled.
	Cancel(ctx context.Context, id job.ID) error
}

// A retrier is an Actor that can also submit failed jobs again.
type retrier interface {
	// Retry returns the new job, or an error as Actor.Cancel does.
	Retry(ctx context.Context, id job.ID) (job.ID, error)
}

// A RefusedError states why a request was refused.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Act allows viewers with the token to cancel jobs, and to retry them if a is a Retrier. Call it before Handler.
func (s *Server) Act(a Actor) { s.actor = a }

func (s *Server) retrier() retrier {
	r, _ := s.actor.(retrier)
	return r
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	if s.mayAct(w, r) {
		answer(w, r, struct{}{}, s.actor.Cancel(r.Context(), job.ID(r.URL.Query().Get("id"))))
	}
}

func (s *Server) retry(w http.ResponseWriter, r *http.Request) {
	if !s.mayAct(w, r) {
		return
	}
	if s.retrier() == nil {
		http.Error(w, "jobs cannot be retried here", http.StatusForbidden)
		return
	}
	again, err := s.retrier().Retry(r.Context(), job.ID(r.URL.Query().Get("id")))
	answer(w, r, struct {
		Job job.ID `json:"job"`
	}{again}, err)
}

// mayAct answers requests that may not change jobs. It needs more than the cookie: browsers also send it to other ports of this host. The request must have this
// page as its Origin, and the token, which only pages of this address and port can read.
func (s *Server) mayAct(w http.ResponseWriter, r *http.Request) bool {
	token, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.actor == nil:
		http.Error(w, "this page is read-only", http.StatusForbidden)
	case r.Header.Get("Origin") != "http://"+s.host:
		http.Error(w, "only this page itself may change jobs", http.StatusForbidden)
	case !bears || !s.knows(token):
		http.Error(w, "to change jobs, open the printed URL, which contains the token, in this tab", http.StatusForbidden)
	default:
		return true
	}
	return false
}
