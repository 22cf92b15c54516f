package control

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func (s *Server) submit(w http.ResponseWriter, r *http.Request) (any, error) {
	request := NewRequest()
	if err := body(w, r, &request); err != nil {
		return nil, err
	}
	if err := request.Validate(); err != nil {
		return nil, Refuse("%v", err)
	}
	if s.group != noGroup {
		p := peerOf(r.Context())
		request.User = &p.User
	}
	m := s.service.Node()
	if err := errors.Join(request.fits(&m), request.User.Do(func() error { return checkDir(request.Dir) })); err != nil {
		return nil, Refuse("%v", err)
	}
	request.complete()
	id, err := s.service.Submit(r.Context(), &request)
	return accepted{string(id)}, err
}

type accepted struct {
	ID string `json:"id"`
}

func body(w http.ResponseWriter, r *http.Request, v any) error {
	c := http.NewResponseController(w)
	if err := c.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return err
	}
	if err := decode(http.MaxBytesReader(w, r.Body, maxBody), v); err != nil {
		return err
	}
	return c.SetReadDeadline(time.Time{})
}

func (s *Server) status(_ http.ResponseWriter, r *http.Request) (any, error) {
	all, err := flag(r, "all")
	if err != nil {
		return nil, err
	}
	now := s.service.Status(all)
	for _, jobs := range [][]status.Job{now.Jobs, now.Ended} {
		for i := range jobs {
			s.hide(r.Context(), &jobs[i])
		}
	}
	now.Fill()
	return now, nil
}

func (s *Server) job(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := named(r)
	if err != nil {
		return nil, err
	}
	v, err := s.service.Job(id)
	s.hide(r.Context(), &v)
	return v, err
}

func (s *Server) cancel(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := named(r)
	if err == nil {
		err = s.own(r.Context(), id)
	}
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.service.Cancel(r.Context(), id)
}

func (s *Server) retry(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := named(r)
	if err == nil {
		err = s.own(r.Context(), id)
	}
	if err != nil {
		return nil, err
	}
	again, err := s.service.Retry(r.Context(), id)
	return accepted{string(again)}, err
}

func (s *Server) explain(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := named(r)
	if err == nil {
		err = s.own(r.Context(), id)
	}
	if err != nil {
		return nil, err
	}
	return s.service.Explain(r.Context(), id)
}

type pruned struct {
	Amounts []statedir.Amount `json:"amounts"`
}

func (s *Server) prune(w http.ResponseWriter, r *http.Request) (any, error) {
	var request PruneRequest
	if err := s.ruler(r.Context()); err != nil {
		return nil, err
	}
	if err := body(w, r, &request); err != nil {
		return nil, err
	}
	amounts, err := s.service.Prune(r.Context(), &request)
	return pruned{amounts}, err
}

func (s *Server) question(_ http.ResponseWriter, r *http.Request) (any, error) {
	given := r.URL.Query()
	q := Question{Cancel: job.ID(given.Get("cancel")), Type: cluster.GPUType(given.Get("type")), Resize: job.ID(given.Get("resize"))}
	for name, n := range map[string]*int{"nodes": &q.Nodes, "gpus": &q.GPUs} {
		text := given.Get(name)
		var err error
		if *n, err = strconv.Atoi(text); err != nil && text != "" {
			return nil, Refuse("parameter %s: got %.40q, want a number", name, text)
		}
	}
	return s.service.Ask(r.Context(), &q)
}

func (s *Server) try(w http.ResponseWriter, r *http.Request) (any, error) {
	spec := new(job.Spec)
	if err := body(w, r, spec); err != nil {
		return nil, err
	}
	if spec.GPUs < 1 || spec.GPUs > maxTrialGPUs {
		return nil, Refuse("%d GPUs, want 1 to %d", spec.GPUs, maxTrialGPUs)
	}
	return s.service.Try(r.Context(), spec)
}

const maxTrialGPUs = 1 << 20

// log reports errors before the first byte as a status. A later error is in the trailer.
func (s *Server) log(w http.ResponseWriter, r *http.Request) {
	id, err := named(r)
	if err == nil {
		err = s.own(r.Context(), id)
	}
	lines, follow, bad := extent(r)
	if err = errors.Join(err, bad); err != nil {
		fail(w, asError(err))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Trailer", trailerName)
	out := &stream{w, http.NewResponseController(w)}
	err = out.c.Flush() // the client knows that the job exists
	if err == nil {
		err = s.service.Log(r.Context(), id, lines, follow, out)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("the scheduler stops; the job keeps running")
	}
	if err != nil {
		w.Header().Set(trailerName, strings.Join(strings.Fields(err.Error()), " "))
	}
}

func extent(r *http.Request) (lines int, follow bool, err error) {
	if err := known(r, "lines", "follow"); err != nil {
		return 0, false, err
	}
	lines = usualLines
	if text := r.URL.Query().Get("lines"); text != "" {
		if lines, err = strconv.Atoi(text); err != nil || lines < 0 || lines > maxLines {
			return 0, false, Refuse("lines %.40q, want 0 to %d", text, maxLines)
		}
	}
	follow, err = flag(r, "follow")
	return lines, follow, err
}

type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		return n, err
	}
	return n, s.c.Flush()
}
