package agentapi

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// Jobs receives the messages. Its methods may be called at the same time, but Hello, Report and
// Checkpoint never twice at once for one job.
//
// Job returns the job that a token belongs to. It returns ErrUnknown, wrapped, if there is
// none, and ErrLater, wrapped, if that is not known now. It must take the same time whichever
// bytes of a token are wrong: compare with crypto/subtle, or look up by a digest of the token.
// It is called before the rate limits are checked, so it should be cheap; if it asks another
// process, it has to limit how often, by Source. Its context ends after five seconds.
//
// Hello, Report and Checkpoint get messages that have passed every check here; the ID is
// that of the token. A client whose connection breaks before the answer sends its message again:
// they may see the same Hello or Checkpoint twice, and the same Report if they returned an
// error for it. They return ErrGeneration, ErrUnknown, ErrInvalid or ErrLater, wrapped, to refuse a
// message; the client sees such an error's text, of others nothing. What they return is
// kept and must not be changed. The context ends after ten seconds.
type Jobs interface {
	Job(ctx context.Context, token string) (job.ID, error)
	Hello(ctx context.Context, id job.ID, h *Hello) (*Welcome, error)
	Report(ctx context.Context, id job.ID, r *Report) (*Answer, error)
	Checkpoint(ctx context.Context, id job.ID, c *Checkpoint) error
}

// Why a message is refused.
var (
	ErrInvalid    = errors.New("invalid message")    // 400; the message is quarantined
	ErrUnknown    = errors.New("no such job")        // 404; 401 of a token
	ErrLater      = errors.New("not known yet")      // 503: the job of the token, or its start; to be sent again
	ErrGeneration = errors.New("another generation") // 409: the message is not of the job's present start
)

// What one request may be.
const (
	maxBody    = 64 << 10         // bytes
	maxHeader  = 8 << 10          // bytes; net/http adds 4 KiB
	atOnce     = 4                // requests of one job: only rank 0 sends any, and again if it got no answer
	knowTime   = 5 * time.Second  // of Jobs.Job
	callTime   = 10 * time.Second // of Jobs for one message
	answerTime = 5 * time.Second  // to write the answer
	idleTime   = 2 * time.Minute  // of a connection between requests; reports come every 30 s
)

// A Server answers the workers of all jobs. Make one with New.
type Server struct {
	jobs Jobs
	o    Options
	http http.Server

	mu    sync.Mutex
	known map[job.ID]*account
}

// New returns a server of j's jobs. Zero fields of o have their default; New panics if o
// does not pass Validate.
func New(j Jobs, o Options) *Server {
	if err := o.Validate(); err != nil {
		panic("agentapi: " + err.Error())
	}
	o = o.complete()
	s := &Server{jobs: j, o: o, known: make(map[job.ID]*account)}
	s.http = http.Server{
		Handler:                      s,
		DisableGeneralOptionsHandler: true, // it answers without a token
		ReadHeaderTimeout:            o.ReadTime,
		ReadTimeout:                  o.ReadTime,
		WriteTimeout:                 o.ReadTime + knowTime + callTime + answerTime, // from the end of the header
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		ConnState:                    noteState,
		ConnContext:                  withConn,
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// Serve answers requests that come through l until Shutdown, then returns nil. It may be
// called for several listeners at once.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(newLimitListener(l, &s.o))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown closes the listeners and waits for the requests that have begun; when ctx ends
// it cuts them off and returns its error.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close() // err says why
	}
	return err
}

// Quarantined returns the Quarantine of each job that had a message refused.
func (s *Server) Quarantined() map[job.ID]Quarantine {
	s.mu.Lock()
	accounts := maps.Clone(s.known)
	s.mu.Unlock()
	all := make(map[job.ID]Quarantine)
	for id, a := range accounts {
		if q := a.quarantined(); q.Count > 0 {
			all[id] = q
		}
	}
	return all
}

// Forget drops all that is known of a job: it has ended, and its token is void.
func (s *Server) Forget(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}

// account returns what is known of a job.
func (s *Server) account(id job.ID) *account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.known[id]
	if a == nil {
		a = newAccount(id, &s.o)
		s.known[id] = a
	}
	return a
}
