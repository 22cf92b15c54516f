package agentapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

type endpoint func(ctx context.Context, s *Server, a *account, body []byte) (any, error)

var endpoints = map[string]endpoint{
	"/v1/hello":      as(helloShape, (*account).hello),
	"/v1/report":     as(reportShape, (*account).report),
	"/v1/checkpoint": as(checkpointShape, (*account).checkpoint),
}

func as[M any, P interface {
	*M
	message
}](of *shape, take func(*account, context.Context, Jobs, P) (any, error),
) endpoint {
	return func(ctx context.Context, s *Server, a *account, body []byte) (any, error) {
		m := P(new(M))
		if err := decode(body, of, m); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		if err := a.await(ctx); err != nil {
			return nil, err
		}
		defer a.done()
		return take(a, ctx, s.jobs, m)
	}
}

type refusal struct {
	status int
	text   string
	wait   time.Duration // for Retry-After; 0 for none
	hangUp bool          // close the connection
}

func (r *refusal) Error() string { return r.text }

// ServeHTTP determines the job that sent a message, checks the job's limits, and decodes and handles the message.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.survive(w, r)
	a, err := s.admit(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer a.leave()
	answer, err := s.serve(w, r, a)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.write(w, http.StatusOK, answer)
}

// admit returns the account for the token of a request, if its limits allow it. Call leave at the end.
func (s *Server) admit(r *http.Request) (*account, error) {
	id, err := s.know(r)
	if err != nil {
		return nil, err
	}
	a := s.account(id)
	if wait := a.bucket.take(time.Now()); wait > 0 {
		return nil, &refusal{status: http.StatusTooManyRequests, text: fmt.Sprintf("more than %v requests per second", s.o.Rate), wait: wait}
	}
	if !a.enter() {
		return nil, &refusal{status: http.StatusTooManyRequests, text: fmt.Sprintf("more than %d requests at a time", atOnce), wait: time.Second}
	}
	return a, nil
}

func (s *Server) know(r *http.Request) (job.ID, error) {
	ctx, cancel := context.WithTimeout(r.Context(), knowTime)
	defer cancel()
	id, err := s.jobs.Job(ctx, token(r))
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, ErrLater):
		return "", &refusal{status: http.StatusServiceUnavailable, text: "the token cannot be checked now; try again", wait: time.Second}
	case !errors.Is(err, ErrUnknown):
		return "", fmt.Errorf("check token: %w", err)
	case listenerOf(r).strangers.take(time.Now()) > 0:
		return "", &refusal{status: http.StatusTooManyRequests, text: "too many requests without a known token", wait: time.Second, hangUp: true}
	}
	return "", &refusal{status: http.StatusUnauthorized, text: "unknown token", hangUp: true}
}

func token(r *http.Request) string {
	all := r.Header.Values("Authorization")
	if len(all) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, a *account) (any, error) {
	do := endpoints[r.URL.Path]
	switch {
	case do == nil:
		return nil, &refusal{status: http.StatusNotFound, text: "no such endpoint"}
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return nil, &refusal{status: http.StatusMethodNotAllowed, text: "method " + shorten(r.Method) + ", want POST"}
	}
	body, err := read(w, r)
	var answer any
	if err == nil {
		answer, err = do(r.Context(), s, a, body)
	}
	if f := refusalOf(err); f.malformed() {
		a.quarantine(r.URL.Path, f.text, body)
	}
	return answer, err
}

func (r *refusal) malformed() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	t, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, says := params["charset"]
	if err != nil || t != "application/json" || says && !strings.EqualFold(charset, "utf-8") || r.Header.Get("Content-Encoding") != "" {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, text: "content type " + quote(r.Header.Get("Content-Type")) + ", want application/json, not encoded"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return body, &refusal{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf("body above %d bytes", maxBody), hangUp: true}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return body, &refusal{status: http.StatusRequestTimeout, text: "the body was not complete in time", hangUp: true}
	case err != nil:
		return body, &refusal{status: http.StatusBadRequest, text: "body: " + err.Error(), hangUp: true}
	}
	return body, nil
}

func refusalOf(err error) *refusal {
	var f *refusal
	switch {
	case err == nil:
		return &refusal{}
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrInvalid):
		return &refusal{status: http.StatusBadRequest, text: err.Error()}
	case errors.Is(err, ErrUnknown):
		return &refusal{status: http.StatusNotFound, text: err.Error()}
	case errors.Is(err, ErrGeneration):
		return &refusal{status: http.StatusConflict, text: err.Error()}
	case errors.Is(err, ErrLater):
		return &refusal{status: http.StatusServiceUnavailable, text: err.Error(), wait: time.Second}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &refusal{status: http.StatusServiceUnavailable, text: "not processed in time; send it again", wait: time.Second}
	}
	return &refusal{status: http.StatusInternalServerError, text: "internal error"}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	giveUp(r)
	f := refusalOf(err)
	if f.status == http.StatusInternalServerError {
		s.o.Log.Error("agent API: "+hide(err.Error(), r), "path", r.URL.Path)
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.wait.Seconds()))))
	}
	if f.hangUp {
		w.Header().Set("Connection", "close")
	}
	s.write(w, f.status, Error{Error: f.text})
}

func (s *Server) write(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil { // a number from Jobs is not finite
		s.o.Log.Error("agent API: answer: " + err.Error())
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (s *Server) survive(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	s.o.Log.Error("agent API: panic: "+hide(fmt.Sprint(v), r), "path", r.URL.Path, "stack", string(debug.Stack()))
	s.write(w, http.StatusInternalServerError, Error{Error: "internal error"})
}

func hide(what string, r *http.Request) string {
	if t := token(r); t != "" {
		return strings.ReplaceAll(what, t, "[token]")
	}
	return what
}
