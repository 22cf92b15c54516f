package agentapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
)

func TestServer_answers(t *testing.T) {
	w := newFakeJobs("j1")
	_, path := serve(t, w, Options{})
	c := client(t, path)
	for _, tc := range []struct{ name, want string }{
		{"hello", `{"batch":{"local":32,"accumulation":1},"report_seconds":30,"profile":[]}`},
		{"report", `{"batch":{"local":17,"accumulation":0},"notice":null}`},
		{"checkpoint", `{}`},
	} {
		got := post(t, c, "key-j1", "/v1/"+tc.name, golden(t, tc.name))
		if got.status != http.StatusOK || got.body != tc.want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %d %s, want 200 %s", tc.name, got.status, got.body, tc.want)
		}
	}
	if len(w.hellos) != 1 || len(w.checkpoints) != 1 || len(w.reports["j1"]) != 1 {
		t.Errorf("%d hellos, %d checkpoints, %d reports came through, want one each", len(w.hellos), len(w.checkpoints), len(w.reports["j1"]))
	}
	if diff := cmp.Diff([]Report{goldenReport(t)}, w.reports["j1"]); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// What is refused says why, and neither it nor whose token it was goes further.
func TestServer_refuses(t *testing.T) {
	w := newFakeJobs("j1")
	s, path := serve(t, w, Options{Rate: 1000, Burst: 1000, Strangers: 1000})
	c := client(t, path)
	good := golden(t, "report")
	header := func(key string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[key] = values }
	}
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	const unknown = `{"error":"unknown token"}`
	tests := []struct {
		name, endpoint, body string
		edit                 func(*http.Request)
		status               int
		want                 string
		quarantined          bool
	}{
		{"no token", "/v1/report", good, header("Authorization"), 401, unknown, false},
		{"empty token", "/v1/report", good, header("Authorization", "Bearer "), 401, unknown, false},
		{"other token", "/v1/report", good, header("Authorization", "Bearer key-j2"), 401, unknown, false},
		{"other scheme", "/v1/report", good, header("Authorization", "Basic key-j1"), 401, unknown, false},
		{"two tokens", "/v1/report", good, header("Authorization", "Bearer key-j1", "Bearer key-j2"), 401, unknown, false},
		{"no token, no endpoint", "/", "", header("Authorization"), 401, unknown, false},
		{"no endpoint", "/v2/report", good, nil, 404, `{"error":"no such endpoint"}`, false},
		{"path up", "/v1/../v1/report", good, nil, 404, `{"error":"no such endpoint"}`, false},
		{"GET", "/v1/report", "", method("GET"), 405, `{"error":"method GET, want POST"}`, false},
		{"OPTIONS", "/v1/report", "", method("OPTIONS"), 405, `{"error":"method OPTIONS, want POST"}`, false},
		{"no content type", "/v1/report", good, header("Content-Type"), 415, `{"error":"content type \"\", want application/json, not encoded"}`, true},
		{"form", "/v1/report", good, header("Content-Type", "application/x-www-form-urlencoded"), 415, `want application/json`, true},
		{"other character set", "/v1/report", good, header("Content-Type", "application/json; charset=latin1"), 415, `want application/json`, true},
		{"compressed", "/v1/report", good, header("Content-Encoding", "gzip"), 415, `not encoded`, true},
		{"bad JSON", "/v1/report", "{", nil, 400, `{"error":"invalid message: offset 1: unexpected EOF"}`, true},
		{"of the other endpoint", "/v1/hello", good, nil, 400, `unknown key \"sequence\"`, true},
		{"NaN", "/v1/report", strings.Replace(good, "0.21", "NaN", 1), nil, 400, `invalid character 'N'`, true},
		{"1e308", "/v1/report", strings.Replace(good, "0.21", "1e308", 1), nil, 400, `step_time 1e+308, want 0 to 86400 s`, true},
		{"negative", "/v1/report", strings.Replace(good, "151000.5", "-151000.5", 1), nil, 400, `progress -151000.5, want 0 to 1e+18 samples`, true},
		{"deep", "/v1/report", strings.Repeat("[", maxBody), nil, 400, `message a list, want an object`, true},
		{"too large", "/v1/report", good + strings.Repeat(" ", maxBody), nil, 413, `{"error":"body above 65536 bytes"}`, true},
		{"another generation", "/v1/report", strings.Replace(good, `"generation":3`, `"generation":4`, 1), nil, 409, `{"error":"another generation: generation 4, want 3"}`, false},
	}
	bad := int64(0)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			edit := tc.edit
			if edit == nil {
				edit = func(*http.Request) {}
			}
			got := post(t, c, "key-j1", tc.endpoint, tc.body, edit)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, tc.status, tc.want)
			}
			if tc.quarantined {
				bad++
			}
			if q := s.Quarantined()["j1"]; q.Count != bad {
				t.Errorf("%d messages in quarantine, want %d", q.Count, bad)
			}
		})
	}
	if n := len(w.reports) + len(w.hellos); n > 0 {
		t.Errorf("%d messages came through", n)
	}
	got := post(t, c, "key-j1", "/v1/report", good, header("Content-Type", "application/json; charset=UTF-8"), header("Authorization", "bearer key-j1"))
	if got.status != http.StatusOK {
		t.Errorf("a good one afterwards: %d %s", got.status, got.body)
	}
}

func TestServer_quarantines(t *testing.T) {
	w := newFakeJobs("j1", "j2")
	s, path := serve(t, w, Options{})
	c := client(t, path)
	before := time.Now()
	post(t, c, "key-j1", "/v1/checkpoint", "{}")
	long := strings.Replace(golden(t, "report"), "0.21", strings.Repeat("1", 9000), 1)
	post(t, c, "key-j1", "/v1/report", long)
	post(t, c, "key-j2", "/v1/report", golden(t, "report"))
	all := s.Quarantined()
	q := all["j1"]
	if len(all) != 1 || q.Count != 2 || q.Path != "/v1/report" || string(q.Body) != long[:4096] || q.At.Before(before) {
		t.Errorf("got %+v, want the second of j1, cut at 4 KiB", all)
	}
	if want := "invalid message: step_time 1111111111111111111111111111111111111111..., want a number of 64 bits"; q.Complaint != want {
		t.Errorf("complaint %s, want %s", q.Complaint, want)
	}
	q.Body[0] = 'x'
	if s.Quarantined()["j1"].Body[0] != '{' {
		t.Error("a caller changes what is kept")
	}
	s.Forget("j1")
	if got := s.Quarantined(); len(got) != 0 {
		t.Errorf("after Forget: %+v", got)
	}
}

// What Jobs returns decides the status; only its refusals are told to the client. A panic
// is an answer of 500, and the token is not in the log of it.
func TestServer_survives_Jobs(t *testing.T) {
	w := newFakeJobs("j1")
	var log bytes.Buffer
	_, path := serve(t, w, Options{Burst: 100, Log: slog.New(slog.NewJSONHandler(&log, nil))})
	c := client(t, path)
	for name, tc := range map[string]struct {
		hook   func(job.ID) error
		status int
		want   string
		log    string
	}{
		"unknown":  {func(job.ID) error { return fmt.Errorf("%w: j1 is over", ErrUnknown) }, 404, "no such job: j1 is over", ""},
		"invalid":  {func(job.ID) error { return fmt.Errorf("%w: checkpoint is not there", ErrInvalid) }, 400, "checkpoint is not there", ""},
		"failed":   {func(job.ID) error { return errors.New("disk full at key-j1") }, 500, `"internal error"`, "disk full at [token]"},
		"too slow": {func(job.ID) error { return fmt.Errorf("store: %w", context.DeadlineExceeded) }, 503, "not processed in time; send it again", ""},
		"panics":   {func(job.ID) error { panic("lost key-j1") }, 500, `"internal error"`, "panic: lost [token]"},
	} {
		w.hook = tc.hook
		log.Reset()
		for _, endpoint := range []string{"hello", "report", "checkpoint"} {
			got := post(t, c, "key-j1", "/v1/"+endpoint, golden(t, endpoint))
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("%s: %s: got %d %s, want %d %s", name, endpoint, got.status, got.body, tc.status, tc.want)
			}
		}
		if !strings.Contains(log.String(), tc.log) || strings.Contains(log.String(), "key-j1") || tc.log == "" && log.Len() > 0 {
			t.Errorf("%s: log %s, want %q and no token", name, &log, tc.log)
		}
		w.hook = nil
	}
	if got := post(t, c, "key-j1", "/v1/report", golden(t, "report")); got.status != http.StatusOK {
		t.Errorf("afterwards: %d %s, want 200", got.status, got.body)
	}
}

// An answer that JSON has no words for is a fault of ours.
func TestServer_with_answers_that_are_not_finite(t *testing.T) {
	var log bytes.Buffer
	s := New(newFakeJobs(), Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	rec := recorder{header: make(http.Header)}
	zero := 0.0
	s.write(&rec, http.StatusOK, &Answer{Notice: &Notice{Deadline: 1 / zero}})
	if rec.status != 500 || rec.String() != `{"error":"internal error"}` || !strings.Contains(log.String(), "unsupported value") {
		t.Errorf("got %d %s, log %s", rec.status, &rec, &log)
	}
}

type recorder struct {
	bytes.Buffer
	header http.Header
	status int
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }

// One server answers on several listeners, and Shutdown ends them all.
func TestServer_on_loopback_too(t *testing.T) {
	s, path := serve(t, newFakeJobs("j1"), Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	c := &http.Client{Transport: new(http.Transport)}
	req, _ := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/v1/report", strings.NewReader(golden(t, "report")))
	req.Header.Set("Authorization", "Bearer key-j1")
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var answer Answer
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Batch.Local != 17 {
		t.Errorf("got %+v, %v", answer, err)
	}
	res.Body.Close()
	c.CloseIdleConnections()
	if got := post(t, client(t, path), "key-j1", "/v1/report", golden(t, "report")); got.status != 200 {
		t.Errorf("on the socket: %d %s", got.status, got.body)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v, want nil after Shutdown", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the port is open after Shutdown")
	}
}

func TestOptions_Validate(t *testing.T) {
	zero := Options{}
	if err := zero.Validate(); err != nil {
		t.Errorf("zero: %v", err)
	}
	nan := zero.Rate
	nan /= nan
	bad := Options{Rate: nan, Burst: -1, ReadTime: -time.Second}
	want := "agent API: rate NaN, want 0 (the default) to 1000000\nagent API: burst -1, want 0 (the default) to 1000000\nagent API: read time -1, want 0 (the default) to 1000000"
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := (Options{Burst: 3}).complete(); got.Burst != 3 || got.Rate != 10 || got.Log == nil {
		t.Errorf("got %+v, want the defaults but for burst", got)
	}
}
