package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

const (
	maxBody     = 1 << 20
	bodyTime    = 30 * time.Second
	headTime    = 10 * time.Second
	idleTime    = time.Minute
	maxHead     = 1 << 16
	maxLines    = 1_000_000
	usualLines  = 50
	trailerName = "Oxgang-Error"
)

// A Server answers the requests of users, such as submit and cancel, for a Service.
type Server struct {
	service Service
	owner   int // uid
	group   int // gid; noGroup: none
	http    http.Server
	stop    context.CancelFunc // ends streams
}

// New returns a Server owned by this process's user.
func New(service Service) *Server {
	s := &Server{service: service, owner: os.Geteuid(), group: noGroup}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.http = http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: withPeer, ConnState: new(quietList).note,
	}
	return s
}

// Share allows members of a group to manage their own jobs. Call it before Serve.
func (s *Server) Share(gid int) { s.group = gid }

// Serve answers requests until Shutdown, and then returns nil. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("control socket: %w", err)
	}
	return nil
}

// Shutdown ends requests that follow a log, and waits until other open requests are answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/jobs", answer(s.submit))
	mux.HandleFunc("GET /v1/jobs/{id}", answer(s.job))
	mux.HandleFunc("DELETE /v1/jobs/{id}", answer(s.cancel))
	mux.HandleFunc("POST /v1/jobs/{id}/retry", answer(s.retry))
	mux.HandleFunc("GET /v1/jobs/{id}/explain", answer(s.explain))
	mux.HandleFunc("GET /v1/jobs/{id}/log", s.log)
	mux.HandleFunc("GET /v1/status", answer(s.status, "all"))
	mux.HandleFunc("GET /v1/question", answer(s.question, "cancel", "nodes", "type", "resize", "gpus"))
	mux.HandleFunc("POST /v1/trial", answer(s.try))
	mux.HandleFunc("POST /v1/prune", answer(s.prune))
	mux.HandleFunc("/", answer(func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return nil, &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%s %.80s: unknown; is the scheduler an older version?", r.Method, r.URL.Path)}
	}))
	return s.guarded(mux)
}

func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := allowed(peerOf(r.Context()), s.owner, s.group); err != nil {
			fail(w, &Error{Status: http.StatusForbidden, Message: err.Error()})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(f func(http.ResponseWriter, *http.Request) (any, error), parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := known(r, parameters...)
		var v any
		if err == nil {
			v, err = f(w, r)
		}
		var text []byte
		if err == nil {
			text, err = json.Marshal(v)
		}
		if err != nil {
			fail(w, asError(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(text, '\n'))
	}
}

func fail(w http.ResponseWriter, e *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e)
}

func known(r *http.Request, names ...string) error {
	for name, values := range r.URL.Query() {
		switch {
		case !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" "):
			return Refuse("parameter %.40q: unknown", name)
		case len(values) > 1:
			return Refuse("parameter %s: given %d times", name, len(values))
		}
	}
	return nil
}

func flag(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, Refuse("parameter %s: got %.40q, want true or false", name, text)
	}
	return on, nil
}

func named(r *http.Request) (job.ID, error) {
	id := r.PathValue("id")
	if err := validName("job", id); err != nil {
		return "", &Error{Status: http.StatusNotFound, Message: err.Error()}
	}
	return job.ID(id), nil
}

// A Service is the scheduler of one machine. Its methods are safe for concurrent use. An *Error is meant for the user;
// other errors are failures of the scheduler.
type Service interface {
	// Submit stores a valid request that fits the Node, and returns its ID.
	Submit(ctx context.Context, r *Request) (job.ID, error)
	// Status returns the state of the machine and its jobs; with all, ended jobs too.
	Status(all bool) *status.Status
	// Node returns what the machine has.
	Node() status.Node
	// Job returns a job, or Unknown.
	Job(id job.ID) (status.Job, error)
	// Explain returns why a job waits or runs.
	Explain(ctx context.Context, id job.ID) (*Explanation, error)
	// Log writes the last lines of a job's output. With follow it adds new lines until the job ends or ctx is done.
	Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error
	// Cancel ends a job soon.
	Cancel(ctx context.Context, id job.ID) error
	// Retry submits a failed job again, and returns the ID of the new job.
	Retry(ctx context.Context, id job.ID) (job.ID, error)
	// Ask answers a what-if question by simulation.
	Ask(ctx context.Context, q *Question) (json.RawMessage, error)
	// Try returns a whatif.TrialAnswer: when a job would start. Nothing is submitted.
	Try(ctx context.Context, spec *job.Spec) (json.RawMessage, error)
	// Prune deletes old data of ended jobs, or returns what would be deleted.
	Prune(ctx context.Context, r *PruneRequest) ([]statedir.Amount, error)
}

// A Question asks what would happen if a job were cancelled, if nodes were added, or if a job had another number of
// GPUs.
type Question struct {
	Cancel job.ID
	Nodes  int
	Type   cluster.GPUType
	Resize job.ID
	GPUs   int
}

// A PruneRequest asks to delete old data.
type PruneRequest struct {
	Keep   statedir.Limits `json:"keep,omitempty"` // replaces the scheduler's limits, by category
	DryRun bool            `json:"dry_run,omitempty"`
}

// An Explanation states why a job waits or runs.
type Explanation struct {
	Text    string          `json:"text"`
	Details string          `json:"details,omitempty"` // prices and weights behind the reasons
	Story   json.RawMessage `json:"story,omitempty"`   // an explain.Story; may be nil
}
