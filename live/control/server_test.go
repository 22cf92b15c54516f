package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type place struct {
	*controltest.Machine
	*control.Client
	server *control.Server
	socket string
}

// serve starts a server for a service on a machine; nil: the machine itself.
func serve(t *testing.T, wrap func(*controltest.Machine) control.Service) *place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	p := &place{socket: filepath.Join(dir, "control.sock")}
	l, err := control.Listen(p.socket, control.Private())
	if err != nil {
		t.Fatal(err)
	}
	p.Machine = controltest.New(dir, start)
	p.Client = control.NewClient(p.socket)
	p.server = control.New(p.Machine)
	if wrap != nil {
		p.server = control.New(wrap(p.Machine))
	}
	done := make(chan error, 1)
	go func() { done <- p.server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(p.server.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	})
	return p
}

// send sends a request as it stands, and returns the status and the body of the answer.
func (p *place) send(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", p.socket)
	}}}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://oxgang"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func request(name string) *control.Request {
	r := control.NewRequest()
	r.Name, r.Command, r.Dir = name, []string{"python", "train.py"}, "/"
	return &r
}

func TestSubmit(t *testing.T) {
	p := serve(t, nil)
	const text = `{"name":"mnist","command":["python","train.py"],"dir":"/","env":["A=b"],
		"gpus":{"min":1,"max":4},"gpu_types":["h200"],"class":"digits","batch":128,"samples":1e6,
		"cpus":4,"memory":8589934592,"weight":2,"preemptible":false,"restart_seconds":12.5}`
	for _, want := range []string{"mnist", "mnist-2", "mnist-3"} {
		status, got := p.send(t, "POST", "/v1/jobs", text)
		if status != http.StatusOK || got != `{"id":"`+want+`"}`+"\n" {
			t.Errorf("got status %d and %s, want %s", status, got, want)
		}
	}
	want := control.Request{
		Name: "mnist", Command: []string{"python", "train.py"}, Dir: "/", Env: []string{"A=b"},
		GPUs: control.Range{Min: 1, Max: 4}, GPUTypes: []cluster.GPUType{"h200"}, Class: "digits", Batch: 128, Samples: 1e6,
		CPUs: 4, Memory: 8 << 30, Weight: 2, RestartSeconds: 12.5,
	}
	if diff := cmp.Diff(want, p.Requests()[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestSubmit_what_is_left_out(t *testing.T) {
	p := serve(t, nil)
	_, got := p.send(t, "POST", "/v1/jobs", `{"command":["python3.12","-u","/src/Train_2.py","--lr=0.1"],"dir":"/"}`)
	if got != `{"id":"train-2"}`+"\n" {
		t.Errorf("got %s, want train-2", got)
	}
	want := control.NewRequest()
	want.Name = "train-2" // and no class
	want.Command, want.Dir = []string{"python3.12", "-u", "/src/Train_2.py", "--lr=0.1"}, "/"
	if diff := cmp.Diff(want, p.Requests()[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Each request is refused, and nothing of it reaches the service.
func TestRefused(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("mnist")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	job := func(more string) string { return `{"command":["a"],"dir":"/"` + more + `}` }
	tests := []struct {
		method, path, body string
		status             int
		want               string // the error, and the hint after a bar
	}{
		{"POST", "/v1/jobs", ``, 400, "request: empty, want a JSON object"},
		{"POST", "/v1/jobs", `[]`, 400, "request: want a JSON object"},
		{"POST", "/v1/jobs", `{`, 400, "request: unfinished JSON: unexpected EOF"},
		{"POST", "/v1/jobs", job(``) + job(``), 400, " after the end of the JSON value"},
		{"POST", "/v1/jobs", job(`,"gpu":1`), 400, `request: json: unknown field "gpu"`},
		{"POST", "/v1/jobs", job(`,"dir":"/"`), 400, `request: key "dir" occurs twice`},
		{"POST", "/v1/jobs", job(`,"Dir":"/"`), 400, `request: key "Dir" occurs twice`},
		{"POST", "/v1/jobs", job(`,"Dir":"/tmp"`), 400, `request: key "Dir" occurs twice`},
		{"POST", "/v1/jobs", job(`,"samples":1,"\u017famples":2`), 400, "request: key \"ſamples\" occurs twice"},
		{"POST", "/v1/jobs", job(`,"gpus":{"min":1,"min":2}`), 400, `request: key "min" occurs twice`},
		{"POST", "/v1/jobs", job(`,"gpus":2`), 400, "request: json: cannot unmarshal number"},
		{"POST", "/v1/jobs", `{"dir":"/"}`, 400, "command: empty, want a program and its arguments"},
		{"POST", "/v1/jobs", `{"command":[""],"dir":"/"}`, 400, "command: empty"},
		{"POST", "/v1/jobs", `{"command":["a\u0000b"],"dir":"/"}`, 400, "contains a zero byte"},
		{"POST", "/v1/jobs", `{"command":["a"],"dir":"here"}`, 400, `dir "here", want an absolute path`},
		{"POST", "/v1/jobs", `{"command":["a"],"dir":"/no/such"}`, 400, "dir: stat /no/such: no such file or directory"},
		{"POST", "/v1/jobs", `{"command":["a"],"dir":"` + file + `"}`, 400, "not a directory"},
		{"POST", "/v1/jobs", job(`,"env":["A"]`), 400, `env "A", want NAME=value`},
		{"POST", "/v1/jobs", job(`,"env":["=b"]`), 400, `env "=b", want NAME=value`},
		{"POST", "/v1/jobs", job(`,"name":"MNIST"`), 400, `name "MNIST", want 1 to 63 of a-z, 0-9 and -`},
		{"POST", "/v1/jobs", job(`,"name":"../x"`), 400, `name "../x", want`},
		{"POST", "/v1/jobs", job(`,"name":"-x"`), 400, `name "-x", want`},
		{"POST", "/v1/jobs", job(`,"name":"` + strings.Repeat("x", 64) + `"`), 400, "want 1 to 63"},
		{"POST", "/v1/jobs", job(`,"class":"a b"`), 400, `class "a b", want`},
		{"POST", "/v1/jobs", job(`,"gpus":{"min":0,"max":2}`), 400, "gpus 0..2, want 1 <= min <= max"},
		{"POST", "/v1/jobs", job(`,"gpus":{"min":3,"max":2}`), 400, "gpus 3..2, want 1 <= min <= max"},
		{"POST", "/v1/jobs", job(`,"gpus":{"min":1,"max":8}`), 400, "gpus 1..8: gpu7 has 4 slots for them, want at most 4"},
		{"POST", "/v1/jobs", job(`,"gpu_types":["a100"]`), 400, "gpu type a100: gpu7 has only h200"},
		{"POST", "/v1/jobs", job(`,"batch":-1`), 400, "batch -1, want 0 to"},
		{"POST", "/v1/jobs", job(`,"samples":-1`), 400, "samples -1, want 0 to 1e+18"},
		{"POST", "/v1/jobs", job(`,"samples":1e19`), 400, "samples 1e+19, want 0 to 1e+18"},
		{"POST", "/v1/jobs", job(`,"samples":1e999`), 400, "cannot unmarshal number 1e999"},
		{"POST", "/v1/jobs", job(`,"cpus":17`), 400, "cpus 17: gpu7 has 16 cores, want at most that"},
		{"POST", "/v1/jobs", job(`,"cpus":-1`), 400, "cpus -1, want 0 to"},
		{"POST", "/v1/jobs", job(`,"memory":68719476737`), 400, "memory 68719476737: gpu7 has 68719476736 bytes"},
		{"POST", "/v1/jobs", job(`,"weight":0`), 400, "weight 0, want 1e-06 to 1e+06"},
		{"POST", "/v1/jobs", job(`,"restart_seconds":-1`), 400, "restart_seconds -1, want 0 to 86400"},
		{"POST", "/v1/jobs", job(`,"batch":-1,"weight":0`), 400, "weight 0"}, // all complaints
		{"POST", "/v1/jobs", job(`,"env":["A=` + strings.Repeat("x", 1<<20) + `"]`), 413, "request larger than 1048576 bytes"},
		{"POST", "/v1/status?all=true", job(``), 400, `parameter "all": unknown`},

		{"GET", "/v1/status?all=perhaps", "", 400, `parameter all: got "perhaps", want true or false`},
		{"GET", "/v1/status?all=true&all=false", "", 400, "parameter all: given 2 times"},
		{"GET", "/v1/jobs/mnits", "", 404, `no job \"mnits\"","hint":"did you mean mnist?`},
		{"GET", "/v1/jobs/mnits/log", "", 404, `no job \"mnits\"`},
		{"GET", "/v1/jobs/mnits/explain", "", 404, `no job \"mnits\"`},
		{"GET", "/v1/jobs/..%2fmnist", "", 404, `job \"../mnist\", want 1 to 63`},
		{"DELETE", "/v1/jobs/mnits", "", 404, `no job \"mnits\"`},
		{"GET", "/v1/jobs/mnist/log?lines=-1", "", 400, `lines \"-1\", want 0 to 1000000`},
		{"GET", "/v1/jobs/mnist/log?lines=many", "", 400, `lines \"many\", want`},
		{"GET", "/v1/jobs/mnist/log?line=1", "", 400, `parameter \"line\": unknown`},
		{"GET", "/v2/jobs", "", 404, "GET /v2/jobs: unknown"},
		{"PUT", "/v1/jobs/mnist", "", 404, "PUT /v1/jobs/mnist: unknown"},
	}
	for _, test := range tests {
		status, got := p.send(t, test.method, test.path, test.body)
		want := test.want
		if !strings.Contains(want, `\"`) {
			want = strings.ReplaceAll(want, `"`, `\"`)
		}
		want = strings.ReplaceAll(want, "<", `\u003c`)
		if status != test.status || !strings.Contains(got, want) || !strings.HasPrefix(got, `{"error":"`) {
			t.Errorf("%s %.40s %.80s: got status %d and %s, want %d and %s", test.method, test.path, test.body, status, got, test.status, want)
		}
	}
	if n := len(p.Requests()); n != 1 {
		t.Errorf("%d requests were accepted, want 1", n)
	}
}

func TestJobs(t *testing.T) {
	p := serve(t, nil)
	if _, got := p.send(t, "GET", "/v1/status", ""); !strings.Contains(got, `"jobs":[]`) {
		t.Errorf("got %s, want an empty list", got)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := p.Client.Submit(t.Context(), request(name)); err != nil {
			t.Fatal(err)
		}
	}
	at := start.Add(time.Hour)
	p.Change("b", func(v *status.Job) {
		*v = status.Job{
			ID: "b", Name: "b", Phase: "running", GPUs: 2, MinGPUs: 1, MaxGPUs: 4, GPUType: "h200", Batch: 128, Goodput: 1.5,
			Progress: 2, Target: 3, Restarts: 4, Reason: "r", Sentence: "s", Start: status.Range{Early: at, Late: at}, End: status.Range{Early: at, Late: at},
			Submitted: start, Started: start, Detail: "d", Command: []string{"c"}, Quarantined: 5,
			Checkpoint: &status.Checkpoint{Step: 6, At: at, Progress: 7}, Profiling: true,
		}
	})
	if err := p.Client.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		want := p.Machine.Status(all)
		want.Fill()
		got, err := p.Client.Status(t.Context(), all)
		want.At = got.At
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("all %t: %v (-want +got):\n%s", all, err, diff)
		}
	}
	got, err := p.Client.Job(t.Context(), "b")
	if want, _ := p.Machine.Job("b"); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
}

func TestCancel(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	if err := p.Client.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	err := p.Client.Cancel(t.Context(), "a")
	want := &control.Error{Status: http.StatusConflict, Message: "job a: it has ended already (cancelled)"}
	if got, _ := errors.AsType[*control.Error](err); !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	err = p.Client.Cancel(t.Context(), "../a b?c")
	if got, _ := errors.AsType[*control.Error](err); got == nil || got.Status != http.StatusNotFound {
		t.Errorf("a name that is none: got %v, want status 404", err)
	}
}

func TestExplain(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	got, err := p.Client.Explain(t.Context(), "a")
	if err != nil || got.Text != "a is waiting: the next round decides on it\n" || string(got.Story) != `{"job":"a","policy":"sia"}` {
		t.Errorf("got %+v and %v", got, err)
	}
}

func TestLog(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	if err := p.Say("a", "one\ntwo\nthree\n"); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := p.Client.Log(t.Context(), "a", 2, false, &got); err != nil || got.String() != "two\nthree\n" {
		t.Errorf("got %q and %v, want two lines", got.String(), err)
	}
}

// broken is a writer that nobody reads.
type broken struct{}

// Write fails.
func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// That a log cannot be written where it should go is not the scheduler's doing.
func TestLog_nowhere(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	if err := p.Say("a", "one\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Client.Log(t.Context(), "a", 2, false, broken{}); !errors.Is(err, syscall.EPIPE) || errors.Is(err, control.ErrAbsent) {
		t.Errorf("got %v, want that of the writer", err)
	}
}

// notify is a writer that tells of every line.
type notify chan string

// Write tells of p.
func (n notify) Write(p []byte) (int, error) {
	n <- string(p)
	return len(p), nil
}

// A log that is followed comes as it is written, and ends with the job.
func TestLog_follow(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	said, done := make(notify), make(chan error, 1)
	go func() { done <- p.Client.Log(t.Context(), "a", 2, true, said) }()
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		if err := p.Say("a", line); err != nil {
			t.Fatal(err)
		}
		if got := <-said; got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
	p.Change("a", func(v *status.Job) { v.Finished = start })
	if err := <-done; err != nil {
		t.Errorf("at the end of the job: got %v, want nothing", err)
	}
}

// A scheduler that stops ends the logs that are followed, and says so.
func TestLog_shutdown(t *testing.T) {
	p := serve(t, nil)
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	if err := p.Say("a", "one\n"); err != nil {
		t.Fatal(err)
	}
	said, done := make(notify), make(chan error, 1)
	go func() { done <- p.Client.Log(t.Context(), "a", 2, true, said) }()
	<-said
	if err := p.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || err.Error() != "log of job a: the scheduler stops; the job keeps running" {
		t.Errorf("got %v, want that it was cut off", err)
	}
	if _, err := p.Client.Status(t.Context(), false); !errors.Is(err, control.ErrAbsent) {
		t.Errorf("afterwards: got %v, want that no scheduler listens", err)
	}
}

// faulty is a service whose disk fails.
type faulty struct {
	*controltest.Machine
	gone chan struct{} // closed when the reader of a log has gone
}

func (f faulty) Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error {
	if !follow {
		_, err := io.WriteString(w, "one\n")
		return errors.Join(err, errors.New("read log:\ninput/output error"))
	}
	_, err := io.WriteString(w, "one\n")
	<-ctx.Done()
	close(f.gone)
	return err
}

func (f faulty) Cancel(context.Context, job.ID) error { return errors.New("store: disk I/O error") }

func TestFaults(t *testing.T) {
	gone := make(chan struct{})
	p := serve(t, func(m *controltest.Machine) control.Service { return faulty{m, gone} })
	if _, err := p.Client.Submit(t.Context(), request("a")); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	err := p.Client.Log(t.Context(), "a", 2, false, &got)
	if err == nil || err.Error() != "log of job a: read log: input/output error" || got.String() != "one\n" {
		t.Errorf("within a log: got %q and %v", got.String(), err)
	}
	err = p.Client.Cancel(t.Context(), "a")
	if e, ok := errors.AsType[*control.Error](err); !ok || e.Status != http.StatusInternalServerError || e.Message != "store: disk I/O error" {
		t.Errorf("got %v, want the fault", err)
	}
	// A reader who goes away is not written for.
	ctx, stop := context.WithCancel(t.Context())
	said, done := make(notify), make(chan error, 1)
	go func() { done <- p.Client.Log(ctx, "a", 2, true, said) }()
	<-said
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	<-gone
}

// A question arrives as it was asked, and one with a number that is none is refused.
func TestServer_question(t *testing.T) {
	p := serve(t, nil)
	for _, want := range []control.Question{{Cancel: "a b"}, {Resize: "a", GPUs: 2}, {Type: "a100", Nodes: 3}} {
		text, err := p.Client.Ask(t.Context(), &want)
		if err != nil {
			t.Fatal(err)
		}
		var got control.Question
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s (%v), want %+v", text, err, want)
		}
	}
	for _, query := range []string{"resize=a&gpus=two", "type=t4&nodes=1.5", "cancel=a&cancel=b", "kill=a"} {
		if status, body := p.send(t, http.MethodGet, "/v1/question?"+query, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want 400", query, status, body)
		}
	}
}

// A job on trial arrives as it was sent. Without GPUs, or with an unknown field, it is refused.
func TestServer_try(t *testing.T) {
	p := serve(t, nil)
	want := job.Spec{Name: "a", GPUs: 3, GPUTypes: []cluster.GPUType{"t4"}, Class: "bert", Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}
	text, err := p.Client.Try(t.Context(), &want)
	if err != nil {
		t.Fatal(err)
	}
	var got job.Spec
	if err := json.Unmarshal(text, &got); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%s (%v), want %+v", text, err, want)
	}
	for _, spec := range []string{"{}", `{"GPUs": 2000000}`, `{"GPUs": 1, "command": "x"}`, "[]"} {
		if status, body := p.send(t, http.MethodPost, "/v1/trial", spec); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want 400", spec, status, body)
		}
	}
}
