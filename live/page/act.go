package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/oxgang/oxgang/model/job"
)

// An Actor is a Source that can be told to do something.
type Actor interface {
	// Cancel makes a job end soon. The error is ErrUnknown if there is no such job, and a *RefusedError if it may not be.
	Cancel(ctx context.Context, id job.ID) error
}

// A RefusedError says why a source does not do, or does not answer, what it was asked.
type RefusedError struct{ Text string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Text }

// Act lets who opens the URL with the token cancel jobs, by an Actor. Call it before Handler.
func (s *Server) Act(a Actor) { s.actor = a }

// cancel makes a job end soon. The cookie is not enough for it: browsers send it to, and with requests of, whatever else listens on
// another port of this host. The request must come from this page, by the word of the browser, and have the token, which the
// page has from the first URL alone and keeps where only pages of this address and port can read it.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	token, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.actor == nil:
		http.Error(w, "this page can change nothing", http.StatusForbidden)
	case r.Header.Get("Origin") != "http://"+s.host:
		http.Error(w, "only this page itself may ask for that", http.StatusForbidden)
	case !bears || !s.knows(token):
		http.Error(w, "to cancel jobs, open the URL that the program printed in this tab: it has the token", http.StatusForbidden)
	default:
		answer(w, r, struct{}{}, s.actor.Cancel(r.Context(), job.ID(r.URL.Query().Get("id"))))
	}
}
