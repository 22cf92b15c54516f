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
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Jobs is implemented by backends to receive the messages of their jobs. Its methods may be called concurrently, but
// Hello, Report and Checkpoint only once at a time for each job.
//
// Job returns the job that a token belongs to. It returns ErrUnknown, wrapped, if there is none, and ErrLater, wrapped,
// if the token cannot be checked now. Its running time must not depend on which bytes of a token are wrong: use
// crypto/subtle, or look up a digest. It is called before the rate limits, so it should be cheap, and must limit calls
// of other processes by their Source. Its context ends after five seconds.
//
// Hello, Report and Checkpoint receive messages that have been checked; the token determines the ID. Clients repeat
// messages: Hello and Checkpoint may come twice, and a Report after an error. To refuse a message, the methods return
// ErrGeneration, ErrUnknown, ErrInvalid or ErrLater, wrapped; the client sees the text of only these errors. Their
// results are stored and must not be changed. The context ends after ten seconds.
type Jobs interface {
	Job(ctx context.Context, token string) (job.ID, error)
	Hello(ctx context.Context, id job.ID, h *Hello) (*Welcome, error)
	Report(ctx context.Context, id job.ID, r *Report) (*Answer, error)
	Checkpoint(ctx context.Context, id job.ID, c *Checkpoint) error
}

// Reasons for refusing a message.
var (
	ErrInvalid    = errors.New("invalid message")    // 400; the message is quarantined
	ErrUnknown    = errors.New("no such job")        // 404; 401 for a token
	ErrLater      = errors.New("not known yet")      // 503; send it again
	ErrGeneration = errors.New("another generation") // 409; not the job's current start
)

const (
	maxBody    = 64 << 10
	maxHeader  = 8 << 10         // net/http adds 4 KiB
	atOnce     = 4               // requests of one job; only rank 0 sends
	knowTime   = 5 * time.Second // for Jobs.Job
	callTime   = 10 * time.Second
	answerTime = 5 * time.Second
	idleTime   = 2 * time.Minute // between requests; reports come every 30 s
)

// A Server receives the messages that the workers of all jobs send over HTTP.
type Server struct {
	jobs Jobs
	o    Options
	http http.Server

	mu    sync.Mutex
	known map[job.ID]*account
}

// New returns a Server that passes messages to j.
func New(j Jobs, o Options) *Server {
	if err := o.Validate(); err != nil {
		panic("agentapi: " + err.Error())
	}
	o = o.complete()
	s := &Server{jobs: j, o: o, known: make(map[job.ID]*account)}
	s.http = http.Server{
		Handler:                      s,
		DisableGeneralOptionsHandler: true, // it needs no token
		ReadHeaderTimeout:            o.ReadTime,
		ReadTimeout:                  o.ReadTime,
		WriteTimeout:                 o.ReadTime + knowTime + callTime + answerTime, // counted from the end of the header
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		ConnState:                    noteState,
		ConnContext:                  withConn,
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// Serve answers requests on l until Shutdown, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(newLimitListener(l, &s.o))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown closes the listeners and waits until open requests are answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	return err
}

// Quarantined returns the refused messages of each job: their number and the last one.
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

// Forget deletes the server's data about a job that has ended.
func (s *Server) Forget(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}

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

type forgetter struct{ server *Server }

// Forgetter returns an observer of the scheduler that deletes the server's data about each job when it ends.
func (s *Server) Forgetter() scheduler.Observer { return forgetter{s} }

func (f forgetter) Event(_ time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		f.server.Forget(e.Job)
	}
}

func (forgetter) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}
