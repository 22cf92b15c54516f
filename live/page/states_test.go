package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
)

// A mortal source fails while down.
type mortal struct {
	toy
	down atomic.Bool
}

func (m *mortal) Overview(ctx context.Context, at time.Duration) (*Overview, error) {
	if m.down.Load() {
		return nil, errors.New("connection refused")
	}
	return m.toy.Overview(ctx, at)
}

// A source that fails is served with its last state, the time of that state and the error; and as before once it answers again.
func TestServer_keeps_the_last_state(t *testing.T) {
	source := new(mortal)
	s, h := served(t, source)
	source.down.Store(true)
	s.feed.look(t.Context())
	if answer, text := get(t, s, h, "/api/overview"); answer.StatusCode != http.StatusInternalServerError || !strings.Contains(string(text), "connection refused") {
		t.Errorf("before the first state: status %d, %s", answer.StatusCode, text)
	}
	source.down.Store(false)
	s.feed.look(t.Context())
	source.looks.Store(99)
	s.feed.look(t.Context()) // at 100 s, nothing changed
	for _, down := range []bool{true, false} {
		source.down.Store(down)
		s.feed.look(t.Context())
		s.feed.look(t.Context())
		answer, text := get(t, s, h, "/api/overview")
		stale := strings.Contains(string(text), `"stale":"connection refused"`)
		if at := answer.Header.Get("Oxgang-At"); answer.StatusCode != http.StatusOK || stale != down || down && (at != "1970-01-01T00:01:40Z" || !strings.Contains(string(text), `"at":"1970-01-01T00:01:40Z"`)) {
			t.Errorf("down %v: status %d at %s: %s", down, answer.StatusCode, at, text)
		}
	}
}

// A browser that has the overview does not get it again, but its time.
func TestServer_sends_an_overview_once(t *testing.T) {
	source := new(toy)
	s, h := served(t, source)
	s.feed.look(t.Context())
	answer, _ := get(t, s, h, "/api/overview")
	s.feed.look(t.Context())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/api/overview", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.viewer})
	r.Header.Set("If-None-Match", answer.Header.Get("ETag"))
	again, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	again.Body.Close()
	if at := again.Header.Get("Oxgang-At"); again.StatusCode != http.StatusNotModified || at != "1970-01-01T00:00:02Z" {
		t.Errorf("status %d at %s, want 304 at the time of the second look", again.StatusCode, at)
	}
}

// A silent source shows a cluster that answers and whose scheduler does not.
type silent struct {
	toy
	since time.Time
}

func (s *silent) Overview(ctx context.Context, at time.Duration) (*Overview, error) {
	o, err := s.toy.Overview(ctx, at)
	if err == nil {
		o.SilentSince = s.since
	}
	return o, err
}

// A cluster whose scheduler is silent needs a person, who cannot dismiss that. The page does not call this state live.
func TestBrowser_silent_scheduler(t *testing.T) {
	ctx := browser.Open(t)
	since := time.Now().Add(-time.Hour)
	for _, s := range []time.Time{{}, since} {
		source := &silent{since: s}
		source.jobs.Store(&[]status.Job{{ID: "train", Phase: "waiting"}})
		server, _ := served(t, source)
		server.feed.look(t.Context())
		var needs, facts string
		var buttons int
		does(ctx, t, chromedp.Navigate(server.URL()), chromedp.WaitVisible(ready), chromedp.Text("#attention", &needs), chromedp.Text("#facts", &facts), chromedp.Evaluate(`document.querySelectorAll("#attention button").length`, &buttons))
		want := since.Format("15:04")
		if s.IsZero() && (strings.Contains(needs, "scheduler") || !strings.HasPrefix(facts, "live")) {
			t.Errorf("a scheduler that answers: %q, %q", needs, facts)
		}
		if !s.IsZero() && (!strings.Contains(needs, "The scheduler has not answered since "+want) || !strings.HasPrefix(facts, "scheduler silent since "+want) || buttons != 0) {
			t.Errorf("silent since %s: %q, %q, %d buttons", want, needs, facts, buttons)
		}
	}
}

// The page draws each state of the connection: nothing yet, the present, the last known state of a scheduler that died, no access, no jobs.
// It never shows an empty table in place of a state that it does not know.
func TestBrowser_states(t *testing.T) {
	ctx := browser.Open(t)
	source := new(mortal)
	source.jobs.Store(&[]status.Job{{ID: "train", Phase: "waiting", Since: time.Unix(0, 0)}})
	source.down.Store(true)
	s, _ := served(t, source)
	go s.watch(t.Context(), 20*time.Millisecond)
	shows := func(state string, wants ...string) {
		t.Helper()
		condition := fmt.Sprintf("document.body.dataset.state === %q", state)
		for _, want := range wants {
			absent := strings.TrimPrefix(want, "no ")
			condition += fmt.Sprintf(" && document.body.innerText.includes(%q) === %t", absent, absent == want)
		}
		var text string
		if err := chromedp.Run(ctx, chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
			does(ctx, t, chromedp.Evaluate(`document.body.innerText`, &text))
			t.Errorf("%s: %v: the page shows %q, want %q", state, err, text, wants)
		}
		browser.Accessible(ctx, t, state)
	}
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
	shows("error", "Nothing to show yet. connection refused", "no Waiting (0)", "no GPUs held")
	source.down.Store(false)
	shows("live", "Waiting (1)", "train", "no Nothing to show", "no out of date")
	source.down.Store(true)
	shows("stale", "Waiting (1)", "train", "The scheduler does not answer. This is the state of", "ago. connection refused", "out of date", "GPUs were held and 1 job waited", "The scheduler has not answered since")
	source.down.Store(false)
	shows("live", "Waiting (1)", "no out of date")
	source.jobs.Store(new([]status.Job))
	shows("live", "No jobs and no nodes yet")
	source.jobs.Store(&[]status.Job{{ID: "train", Phase: "waiting"}})
	shows("live", "Waiting (1)")
	// An address with an impossible moment shows the present; its axis would have no length.
	open, _, _ := strings.Cut(s.URL(), "?")
	does(ctx, t, chromedp.Navigate("about:blank"), chromedp.Navigate(open+"#/?at=1e20"), chromedp.WaitVisible(ready))
	shows("live", "Waiting (1)")
	does(ctx, t, network.ClearBrowserCookies())
	source.jobs.Store(&[]status.Job{{ID: "another", Phase: "waiting"}})
	shows("forbidden", "train", "You have no access")
}
