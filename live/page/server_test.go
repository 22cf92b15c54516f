package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	settings "github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// recorded returns the journal of a small cluster that has too many jobs.
func recorded(t *testing.T) *Recorded {
	t.Helper()
	c := settings.Default()
	for key, value := range map[string]string{"policy": "oxgang", "cluster": "t4:2x4,rtx:1x8", "generate.jobs": "30", "generate.span": "40m", "horizon": "100m"} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := run.Load(c, run.Files{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, run.Header(c, in, "oxgang", "test"))
	_, err = run.Simulate(t.Context(), c, in, "oxgang", w)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := journal.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return &Recorded{Title: "test.oxj", File: f}
}

// served serves a source. The client keeps cookies only if it has the URL with the token opened first.
func served(t testing.TB, source Source) (*Server, *httptest.Server) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s := newServer(source, h.Listener.Addr())
	h.Config.Handler = s.handler()
	h.Start()
	t.Cleanup(h.Close)
	return s, h
}

// get asks for a path with a cookie, as a browser does.
func get(t *testing.T, s *Server, h *httptest.Server, path string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.viewer})
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body := io.Reader(answer.Body)
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, text
}

// Who does not know the token, asks by another name, or wants to change something, gets nothing.
func TestServer_shows_nothing_to_strangers(t *testing.T) {
	s, h := served(t, recorded(t))
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, c := range map[string]struct {
		method, path, host, cookie string
		want                       int
	}{
		"no token":        {"GET", "/", "", "", 401},
		"another token":   {"GET", "/?token=x", "", "", 401},
		"another cookie":  {"GET", "/api/overview", "", "x", 401},
		"token as cookie": {"GET", "/", "", s.token, 401},
		"cookie as token": {"GET", "/?token=" + s.viewer, "", "", 401},
		"the token":       {"GET", "/?token=" + s.token, "", "", 303},
		"the cookie":      {"GET", "/", "", s.viewer, 200},
		"unknown job":     {"GET", "/api/job?id=nobody", "", s.viewer, 404},
		"bad time":        {"GET", "/api/overview?at=NaN", "", s.viewer, 400},
		"time too late":   {"GET", "/api/overview?at=1e300", "", s.viewer, 400},
		"log of a record": {"GET", "/api/log?id=a", "", s.viewer, 404},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, h.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Host = h.Listener.Addr().String(); c.host != "" {
				r.Host = c.host
			}
			if c.cookie != "" {
				r.AddCookie(&http.Cookie{Name: s.cookie, Value: c.cookie})
			}
			answer, err := noFollow.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != c.want {
				t.Errorf("status %d, want %d", answer.StatusCode, c.want)
			}
			if csp := answer.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
				t.Errorf("policy %q lets scripts of others in", csp)
			}
		})
	}
}

// All scripts together are small: a page on a slow connection is there at once.
func TestScripts_are_small(t *testing.T) {
	text, err := files.ReadFile("web/page.js")
	if err != nil || len(text) > 120_000 {
		t.Errorf("%v: %d bytes of scripts, want 120,000 at most", err, len(text))
	}
}

// What a recording has is shown at any time of it: an overview, jobs, and what happened over time.
func TestRecorded(t *testing.T) {
	source := recorded(t)
	s, h := served(t, source)
	var overview Overview
	if _, text := get(t, s, h, "/api/overview?at=2400"); json.Unmarshal(text, &overview) != nil || len(overview.Jobs) == 0 || overview.Live {
		t.Fatalf("no overview in %s", text)
	}
	for _, j := range overview.Jobs[:3] {
		var one Job
		_, text := get(t, s, h, "/api/job?at=2400&id="+string(j.ID))
		if err := json.Unmarshal(text, &one); err != nil || !bytes.Contains(one.Moment, []byte(`"sentence":"`+string(j.ID))) || len(one.Life.Changes) == 0 {
			t.Errorf("%v: %s", err, text)
		}
	}
	var series Series
	_, text := get(t, s, h, "/api/series")
	if err := json.Unmarshal(text, &series); err != nil {
		t.Fatal(err)
	}
	for i, at := range series.At {
		then, err := explain.OverviewIn(source.File, time.Duration(at))
		if err != nil {
			t.Fatal(err)
		}
		held, waiting := 0, 0
		for _, j := range then.Jobs {
			if j.Holds == nil {
				waiting++
				continue
			}
			held += j.Holds.GPUs
		}
		if i%7 == 3 && (series.Held[i] != held || series.Waiting[i] != waiting || series.GPUs[i] != 16) {
			t.Errorf("at %v: %d GPUs held, %d jobs wait, of %d GPUs; the overview has %d, %d, 16", time.Duration(at), series.Held[i], series.Waiting[i], series.GPUs[i], held, waiting)
		}
	}
}

// A toy is a live source whose overview has a number.
type toy struct {
	looks, number atomic.Int64
	jobs          atomic.Pointer[[]status.Job]
}

func (*toy) Live() bool { return true }
func (y *toy) Overview(context.Context, time.Duration) (*Overview, error) {
	n := y.looks.Add(1)
	now := &status.Status{Title: "toy", At: time.Unix(n, 0), Policy: string(rune('a' + y.number.Load()))}
	if jobs := y.jobs.Load(); jobs != nil {
		now.Jobs = *jobs
	}
	return liveOverview(now), nil
}

func (*toy) Job(_ context.Context, id job.ID, _ time.Duration) (*Job, error) {
	change := explain.Change{At: journal.Seconds(time.Minute), What: explain.Submitted, Text: "came"}
	return &Job{Begun: time.Unix(3540, 0), Life: &explain.Story{Job: id, Changes: []explain.Change{change}}}, nil
}
func (*toy) Log(context.Context, job.ID, io.Writer) error       { return ErrUnknown }
func (*toy) Series(context.Context) (*Series, error)            { return &Series{}, nil }
func (*toy) Timeline(context.Context) (*status.Timeline, error) { return new(status.Timeline), nil }

// Viewers are told of another overview, not of the time alone; and the source is looked at once for all.
func TestServer_tells_of_changes(t *testing.T) {
	source := &toy{}
	s, _ := served(t, source)
	next := func() (int, chan struct{}) {
		_, number, next, err := s.feed.now()
		if err != nil {
			t.Fatal(err)
		}
		return number, next
	}
	s.feed.look(t.Context())
	first, told := next()
	s.feed.look(t.Context())
	if again, _ := next(); again != first {
		t.Errorf("overview %d, want %d: only its time is another", again, first)
	}
	source.number.Store(1)
	s.feed.look(t.Context())
	select {
	case <-told:
	default:
		t.Error("nobody was told of another overview")
	}
	if looks := source.looks.Load(); looks != 3 {
		t.Errorf("%d looks, want 3", looks)
	}
}
