package page

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

const markup = `<script>alert(1)</script><img src=x onerror=alert(1)>`

// A poisoned source has markup in all that users and programs choose.
type poisoned struct{ obedient }

func (*poisoned) Overview(context.Context, time.Duration) (*Overview, error) {
	j := status.Job{ID: markup, Name: markup, User: markup, Sentence: markup, Trouble: markup, Detail: markup}
	return liveOverview(&status.Status{Title: markup, At: time.Unix(1, 0), Policy: markup, Jobs: []status.Job{j}, Ended: []status.Job{j}, Nodes: []status.Node{{Name: markup, Closed: markup}}}), nil
}

func (*poisoned) Log(_ context.Context, _ job.ID, w io.Writer) error {
	_, err := io.WriteString(w, markup)
	return err
}

func (*poisoned) Timeline(context.Context) (*status.Timeline, error) {
	return &status.Timeline{Tracks: []status.Track{{Job: markup, User: markup}}}, nil
}

func (*poisoned) Asks() bool { return true }
func (*poisoned) Ask(context.Context, whatif.Question, time.Duration) (*whatif.Answer, error) {
	return nil, &RefusedError{Text: markup}
}

// An attack is a request that another page, or another user of this machine, can make.
type attack struct {
	name   string
	method string // empty: as the route wants
	change func(s *Server, r *http.Request)
	status int // 0: any
}

var attacks = []attack{
	{name: "no cookie", status: 401, change: func(_ *Server, r *http.Request) { r.Header.Del("Cookie") }},
	{name: "the token as cookie", status: 401, change: func(s *Server, r *http.Request) { r.Header.Set("Cookie", s.cookie+"="+s.token) }},
	{name: "DNS rebinding", status: 421, change: func(_ *Server, r *http.Request) { r.Host = "evil.example" }},
	{name: "another port of this host", status: 421, change: func(_ *Server, r *http.Request) { r.Host = "127.0.0.1:1" }},
	{name: "a preflight", method: "OPTIONS", status: 405, change: func(_ *Server, r *http.Request) {
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
	}},
	{name: "another method", method: "PUT", status: 405},
	{name: "a foreign origin", change: func(_ *Server, r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
	{name: "a form of another site", method: "POST", change: func(_ *Server, r *http.Request) {
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}},
	{name: "a link", method: "GET"},
	{name: "markup"},
}

// No route gives anything to other sites, to strangers, or to another name of this host; none does anything for them; and none sends what users chose as a page.
// The routes are those of the server: a new one is attacked, too.
func TestServer_withstands_attacks(t *testing.T) {
	source := new(poisoned)
	h := httptest.NewUnstartedServer(nil)
	s := newServer(source, h.Listener.Addr())
	s.Act(source)
	h.Config.Handler = s.handler()
	h.Start()
	t.Cleanup(h.Close)
	s.feed.look(t.Context())
	for route := range s.routes() {
		method, path, _ := strings.Cut(strings.TrimSuffix(route, "{$}"), " ")
		for i := range attacks {
			t.Run(strings.TrimSpace(path+" "+attacks[i].name), func(t *testing.T) {
				source.cancelled = nil
				attacked(t, s, h.URL, method, path, &attacks[i])
				if len(source.cancelled) > 0 {
					t.Errorf("cancelled or retried %q", source.cancelled)
				}
			})
		}
	}
}

func attacked(t *testing.T, s *Server, at, method, path string, a *attack) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second) // a stream does not end
	defer stop()
	used := method
	if a.method != "" {
		used = a.method
	}
	r, err := http.NewRequestWithContext(ctx, used, at+path+"?id="+url.QueryEscape(markup)+"&cancel="+url.QueryEscape(markup), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.viewer})
	if a.change != nil {
		a.change(s, r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if a.status != 0 && answer.StatusCode != a.status {
		t.Errorf("status %d, want %d", answer.StatusCode, a.status)
	}
	if used != method && answer.StatusCode < 400 || used == "POST" && answer.StatusCode < 400 {
		t.Errorf("status %d of a %s, want a refusal", answer.StatusCode, used)
	}
	kind, head := answer.Header.Get("Content-Type"), answer.Header
	if page := strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "text/javascript"); page && strings.HasPrefix(path, "/api/") {
		t.Errorf("answers with %s", kind)
	}
	if csp := head.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy %q", csp)
	}
	if head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Cache-Control") != "no-store" || head.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers %v", head)
	}
	for name := range head {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("allows another site: %s: %q", name, head[name])
		}
	}
}

// answerStatus returns the status of an answer without waiting for its end.
func answerStatus(t *testing.T, s *Server, address string) int {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.viewer})
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// A flood of streams ends at the limit on each route that streams; requests that end are answered meanwhile.
func TestServer_limits_streams(t *testing.T) {
	s, h := served(t, new(poisoned))
	s.feed.look(t.Context())
	s.feed.streams.Store(maxStreams)
	streams := 0
	for route := range s.routes() {
		method, path, _ := strings.Cut(strings.TrimSuffix(route, "{$}"), " ")
		if method != "GET" {
			continue
		}
		switch got := answerStatus(t, s, h.URL+path); got {
		case http.StatusServiceUnavailable:
			streams++
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict:
		default:
			t.Errorf("%s: status %d", route, got)
		}
	}
	if streams != 1 || s.feed.streams.Load() != maxStreams {
		t.Errorf("%d routes are limited, and %d streams are counted, want 1 and %d", streams, s.feed.streams.Load(), maxStreams)
	}
}
