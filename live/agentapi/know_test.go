package agentapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/job"
)

// Whose token it is may be said later, or never: each has its answer.
func TestServer_asks_whose_token_it_is(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    error
		status int
		after  string
		want   string
	}{
		{"known", nil, http.StatusOK, "", "{}"},
		{"nobody's", fmt.Errorf("pod gone: %w", ErrUnknown), http.StatusUnauthorized, "", `{"error":"unknown token"}`},
		{"not now", fmt.Errorf("away: %w", ErrLater), http.StatusServiceUnavailable, "1", `{"error":"the token cannot be checked now; try again"}`},
		{"too late", context.DeadlineExceeded, http.StatusServiceUnavailable, "1", `{"error":"not processed in time; send it again"}`},
		{"broken", errors.New("secret detail"), http.StatusInternalServerError, "", `{"error":"internal error"}`},
	} {
		w := newFakeJobs("j1")
		w.know = func(ctx context.Context, _ string) (job.ID, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Errorf("%s: its context has no end", tc.name)
			}
			return "j1", tc.err
		}
		_, path := serve(t, w, Options{})
		got := post(t, client(t, path), "any", "/v1/checkpoint", golden(t, "checkpoint"))
		if got.status != tc.status || got.body != tc.want || got.header.Get("Retry-After") != tc.after {
			t.Errorf("%s: got %d %s, retry after %q, want %d %s, %q", tc.name, got.status, got.body, got.header.Get("Retry-After"), tc.status, tc.want, tc.after)
		}
		if let := len(w.checkpoints) == 1; let != (tc.err == nil) {
			t.Errorf("%s: let through: %v", tc.name, let)
		}
	}
}

// A message of a start that is not known yet is refused for now, and taken when it is sent again.
func TestServer_later(t *testing.T) {
	w := newFakeJobs("j1")
	later := fmt.Errorf("start 3: %w", ErrLater)
	w.hook = func(job.ID) error { return later }
	s, path := serve(t, w, Options{})
	c := client(t, path)
	got := post(t, c, "key-j1", "/v1/report", golden(t, "report"))
	if want := `{"error":"start 3: not known yet"}`; got.status != http.StatusServiceUnavailable || got.body != want || got.header.Get("Retry-After") != "1" {
		t.Errorf("got %d %s, retry after %q, want 503 %s, 1", got.status, got.body, got.header.Get("Retry-After"), want)
	}
	later = nil
	if got := post(t, c, "key-j1", "/v1/report", golden(t, "report")); got.status != http.StatusOK || len(w.reports["j1"]) != 1 {
		t.Errorf("sent again: got %d %s, and %d were taken, want 200 and one", got.status, got.body, len(w.reports["j1"]))
	}
	if q := s.Quarantined(); len(q) > 0 {
		t.Errorf("quarantined: %v, want none", q)
	}
}

// Jobs is told where a request comes from.
func TestSource(t *testing.T) {
	w, sources := newFakeJobs("j1"), make(chan string, 1)
	w.know = func(ctx context.Context, _ string) (job.ID, error) {
		sources <- Source(ctx)
		return "j1", nil
	}
	s, path := serve(t, w, Options{})
	post(t, client(t, path), "any", "/v1/checkpoint", golden(t, "checkpoint"))
	if got := <-sources; got != "" {
		t.Errorf("of a unix socket: got %q, want none", got)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	r, err := http.Post("http://"+l.Addr().String()+"/v1/checkpoint", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if got := <-sources; got != "127.0.0.1" {
		t.Errorf("got %q, want 127.0.0.1", got)
	}
	if Source(t.Context()) != "" {
		t.Error("of another context: want none")
	}
	http.DefaultClient.CloseIdleConnections()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
