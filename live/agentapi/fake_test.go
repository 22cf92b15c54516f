package agentapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// fakeJobs are Jobs in memory: tokens "key-<job>" of the jobs there are, which are all in
// generation 3.
type fakeJobs struct {
	jobs []job.ID
	hook func(job.ID) error                            // called by each message, where there is one
	know func(context.Context, string) (job.ID, error) // in place of Job, where there is one

	mu          sync.Mutex
	reports     map[job.ID][]Report
	hellos      []Hello
	checkpoints []Checkpoint
}

func newFakeJobs(jobs ...job.ID) *fakeJobs {
	return &fakeJobs{jobs: jobs, reports: make(map[job.ID][]Report)}
}

func (w *fakeJobs) Job(ctx context.Context, token string) (job.ID, error) {
	if w.know != nil {
		return w.know(ctx, token)
	}
	for _, id := range w.jobs {
		if token == "key-"+string(id) {
			return id, nil
		}
	}
	return "", ErrUnknown
}

func (w *fakeJobs) take(id job.ID, generation int, keep func()) error {
	if w.hook != nil {
		if err := w.hook(id); err != nil {
			return err
		}
	}
	if generation != 3 {
		return fmt.Errorf("%w: generation %d, want 3", ErrGeneration, generation)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	keep()
	return nil
}

func (w *fakeJobs) Hello(_ context.Context, id job.ID, h *Hello) (*Welcome, error) {
	err := w.take(id, h.Generation, func() { w.hellos = append(w.hellos, *h) })
	return &Welcome{Batch: Batch{Local: 32, Accumulation: 1}, ReportSeconds: 30}, err
}

// Report answers with the sequence number as the local batch size.
func (w *fakeJobs) Report(_ context.Context, id job.ID, r *Report) (*Answer, error) {
	err := w.take(id, r.Generation, func() { w.reports[id] = append(w.reports[id], *r) })
	return &Answer{Batch: Batch{Local: int(r.Sequence)}}, err
}

func (w *fakeJobs) Checkpoint(_ context.Context, id job.ID, c *Checkpoint) error {
	return w.take(id, c.Generation, func() { w.checkpoints = append(w.checkpoints, *c) })
}

func (w *fakeJobs) seen(id job.ID) []Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Report(nil), w.reports[id]...)
}

// serve starts a server on a unix socket, which ends with the test, and returns its path.
func serve(t testing.TB, j Jobs, o Options) (*Server, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "oxg") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s, ended := New(j, o), make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what is still open is cut off
		_ = s.Shutdown(ctx)
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s, path
}

// client returns a client of the server at a socket.
func client(t testing.TB, path string) *http.Client {
	tr := &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 30 * time.Second}
}

// A reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
	closed bool // the server closes the connection
}

// post sends a body to an endpoint; edit may change the request.
func post(t testing.TB, c *http.Client, token, endpoint, body string, edit ...func(*http.Request)) reply {
	t.Helper()
	r, err := try(c, token, endpoint, body, edit...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// try is post for other goroutines.
func try(c *http.Client, token, endpoint, body string, edit ...func(*http.Request)) (reply, error) {
	req, err := http.NewRequest(http.MethodPost, "http://agent"+endpoint, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	for _, e := range edit {
		e(req)
	}
	res, err := c.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text), res.Close}, err
}

// golden returns an example of a message, in one line.
func golden(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/agent", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var short bytes.Buffer
	if err := json.Compact(&short, text); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return short.String()
}

// reported returns the golden report with another sequence number, step and progress.
func reported(t testing.TB, sequence, step int64, progress float64) string {
	t.Helper()
	r := goldenReport(t)
	r.Sequence, r.Step, r.Progress = sequence, step, progress
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func goldenReport(t testing.TB) Report {
	t.Helper()
	var r Report
	if err := decode([]byte(golden(t, "report")), reportShape, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
