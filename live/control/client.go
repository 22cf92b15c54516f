package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// ErrAbsent reports that no scheduler listens on the socket.
var ErrAbsent = errors.New("no scheduler listens")

const answerTime = 30 * time.Second

// A Client sends requests to the scheduler of this machine. Its methods return an *Error if the scheduler refuses,
// and ErrAbsent if no scheduler listens.
type Client struct {
	socket string
	http   http.Client
}

// NewClient returns a Client of the scheduler that listens on the unix socket at path socket.
func NewClient(socket string) *Client {
	c := &Client{socket: socket}
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
		ResponseHeaderTimeout: answerTime,
	}
	return c
}

// Submit returns the ID of the accepted job.
func (c *Client) Submit(ctx context.Context, r *Request) (job.ID, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	if len(text) > maxBody {
		return "", &Error{
			Status:  http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("command and environment take %d bytes, want at most %d", len(text), maxBody),
			Hint:    `submit with less of it: env -i PATH="$PATH" oxgang submit ...`,
		}
	}
	var a accepted
	err = c.ask(ctx, http.MethodPost, "/v1/jobs", text, &a)
	return job.ID(a.ID), err
}

// Status returns the state of the machine and its jobs. If all is true, it includes ended jobs.
func (c *Client) Status(ctx context.Context, all bool) (*status.Status, error) {
	path := "/v1/status"
	if all {
		path += "?all=true"
	}
	now := new(status.Status)
	err := c.ask(ctx, http.MethodGet, path, nil, now)
	return now, err
}

// Job returns the state of a job.
func (c *Client) Job(ctx context.Context, id job.ID) (status.Job, error) {
	var v status.Job
	err := c.ask(ctx, http.MethodGet, pathOf(id), nil, &v)
	return v, err
}

// Explain returns the reasons for a job's state.
func (c *Client) Explain(ctx context.Context, id job.ID) (*Explanation, error) {
	var e Explanation
	err := c.ask(ctx, http.MethodGet, pathOf(id)+"/explain", nil, &e)
	return &e, err
}

// Cancel ends a job.
func (c *Client) Cancel(ctx context.Context, id job.ID) error {
	return c.ask(ctx, http.MethodDelete, pathOf(id), nil, nil)
}

// Retry submits a failed job again, and returns the ID of the new job.
func (c *Client) Retry(ctx context.Context, id job.ID) (job.ID, error) {
	var a accepted
	err := c.ask(ctx, http.MethodPost, pathOf(id)+"/retry", nil, &a)
	return job.ID(a.ID), err
}

// Ask sends a what-if question, and returns the answer: a whatif.Answer as JSON.
func (c *Client) Ask(ctx context.Context, q *Question) (json.RawMessage, error) {
	v := url.Values{}
	for name, text := range map[string]string{"cancel": string(q.Cancel), "type": string(q.Type), "resize": string(q.Resize)} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, n := range map[string]int{"nodes": q.Nodes, "gpus": q.GPUs} {
		if n != 0 {
			v.Set(name, strconv.Itoa(n))
		}
	}
	var a json.RawMessage
	err := c.ask(ctx, http.MethodGet, "/v1/question?"+v.Encode(), nil, &a)
	return a, err
}

// Try asks when a job would start, and returns a whatif.TrialAnswer as JSON. Nothing is submitted.
func (c *Client) Try(ctx context.Context, spec *job.Spec) (json.RawMessage, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	var a json.RawMessage
	err = c.ask(ctx, http.MethodPost, "/v1/trial", text, &a)
	return a, err
}

// Prune deletes old data of ended jobs, or only returns the amounts for a dry run.
func (c *Client) Prune(ctx context.Context, r *PruneRequest) ([]statedir.Amount, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	var p pruned
	err = c.ask(ctx, http.MethodPost, "/v1/prune", text, &p)
	return p.Amounts, err
}

// Log writes the last lines of a job's log to w. If follow is true, it continues with new lines until the job ends.
func (c *Client) Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error {
	resp, err := c.do(ctx, http.MethodGet, fmt.Sprintf("%s/log?lines=%d&follow=%t", pathOf(id), lines, follow), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	out := &sink{w: w}
	_, err = io.Copy(out, resp.Body)
	switch {
	case out.err != nil:
		return out.err
	case err != nil:
		return c.broken(ctx, err)
	}
	if text := resp.Trailer.Get(trailerName); text != "" {
		return fmt.Errorf("log of job %s: %s", id, text)
	}
	return nil
}

type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

func pathOf(id job.ID) string { return "/v1/jobs/" + url.PathEscape(string(id)) }

func (c *Client) ask(ctx context.Context, method, path string, body []byte, v any) error {
	resp, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return c.broken(ctx, err)
	}
	return nil
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://oxgang"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	e := &Error{Status: resp.StatusCode}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(e); err != nil || e.Message == "" {
		e.Message = fmt.Sprintf("control socket %s: answered %s", Short(c.socket), resp.Status)
	}
	return nil, e
}

func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // users never see the URL
	}
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w on %s", ErrAbsent, Short(c.socket))
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("control socket %s: permission denied: the scheduler belongs to another user", Short(c.socket))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w on %s any more: it ended before it answered", ErrAbsent, Short(c.socket))
	}
	return fmt.Errorf("control socket %s: %w", Short(c.socket), err)
}

// Short abbreviates the home directory in a path: ~/a.
func Short(path string) string {
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && strings.HasPrefix(path, home+"/") {
		return "~" + path[len(home):]
	}
	return path
}
