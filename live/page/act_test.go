package page

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// An obedient source remembers what it was told.
type obedient struct {
	toy
	cancelled []job.ID
}

func (o *obedient) Retry(ctx context.Context, id job.ID) (job.ID, error) {
	return id + "-2", o.Cancel(ctx, id)
}

// A cancelling source cannot retry jobs.
type cancelling struct{ Actor }

func (o *obedient) Cancel(_ context.Context, id job.ID) error {
	if id == "old" {
		return &RefusedError{"job old: it has ended already"}
	}
	o.cancelled = append(o.cancelled, id)
	return nil
}

// A job is cancelled or retried only where that was allowed, by the page itself, with cookie and token; by nothing less.
func TestServer_acts_for_who_may(t *testing.T) {
	for _, route := range []string{"cancel", "retry"} {
		t.Run(route, func(t *testing.T) { actsForWhoMay(t, "/api/"+route+"?id=") })
	}
}

func actsForWhoMay(t *testing.T, route string) {
	t.Helper()
	source := new(obedient)
	s, h := served(t, source)
	own := "http://" + s.host
	for _, c := range []struct {
		name, method, path, cookie, origin, token string
		allowed                                   bool
		want                                      int
	}{
		{"without the flag", "POST", "a", s.viewer, own, s.token, false, 403},
		{"another site", "POST", "a", s.viewer, "http://evil.example", s.token, true, 403},
		{"another port of this host", "POST", "a", s.viewer, "http://127.0.0.1:1", s.token, true, 403},
		{"an origin that hides", "POST", "a", s.viewer, "null", s.token, true, 403},
		{"no origin", "POST", "a", s.viewer, "", s.token, true, 403},
		{"no token", "POST", "a", s.viewer, own, "", true, 403},
		{"the cookie for a token", "POST", "a", s.viewer, own, s.viewer, true, 403},
		{"no cookie", "POST", "a", "", own, s.token, true, 401},
		{"another name of this host", "POST", "a", s.viewer, "http://localhost:" + s.host[strings.LastIndex(s.host, ":")+1:], s.token, true, 403},
		{"by a link", "GET", "a", s.viewer, own, s.token, true, 405},
		{"too late", "POST", "old", s.viewer, own, s.token, true, 409},
		{"all of it", "POST", "a", s.viewer, own, s.token, true, 200},
	} {
		s.actor = nil
		if c.allowed {
			s.Act(source)
		}
		source.cancelled = nil
		r, err := http.NewRequestWithContext(t.Context(), c.method, h.URL+route+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: s.cookie, Value: c.cookie})
		for name, value := range map[string]string{"Origin": c.origin, "Authorization": "Bearer " + c.token} {
			if value != "" && value != "Bearer " {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if done := len(source.cancelled) > 0; answer.StatusCode != c.want || done != (c.want == 200) {
			t.Errorf("%s: status %d, done: %v, want %d", c.name, answer.StatusCode, done, c.want)
		}
	}
}

// The token goes to the page in the address only where it can do something with it, and is no cookie.
func TestServer_gives_the_token_to_act_alone(t *testing.T) {
	s, _ := served(t, new(obedient))
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, acts := range []bool{false, true} {
		want := "/"
		if acts {
			s.Act(new(obedient))
			want += "#act=" + s.token
		}
		answer, err := noFollow.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Location"); got != want {
			t.Errorf("redirected to %q, want %q", got, want)
		}
		if c := answer.Header.Get("Set-Cookie"); strings.Contains(c, s.token) || !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") {
			t.Errorf("cookie %q", c)
		}
	}
}

// A failed job can be retried from the list of what needs a person: the page then shows the new job. A source that cannot retry has no such button.
func TestBrowser_retry(t *testing.T) {
	ctx := browser.Open(t)
	for _, retries := range []bool{true, false} {
		source := new(failing)
		s, _ := served(t, source)
		if s.Act(cancelling{source}); retries {
			s.Act(source)
		}
		s.feed.look(t.Context())
		var buttons int
		does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Evaluate(`document.querySelectorAll("[aria-label='Retry a']").length`, &buttons))
		if (buttons > 0) != retries {
			t.Errorf("%d buttons, may retry: %v", buttons, retries)
		}
		if !retries {
			continue
		}
		browser.Accessible(ctx, t, "retry")
		does(ctx, t, chromedp.Click("[aria-label='Retry a']"), chromedp.Poll(`location.hash === "#/job/a-2"`, nil))
		if len(source.cancelled) != 1 || source.cancelled[0] != "a" {
			t.Errorf("asked to retry %v", source.cancelled)
		}
	}
}

// A failing source has a job that has just failed.
type failing struct{ obedient }

func (*failing) Overview(context.Context, time.Duration) (*Overview, error) {
	now := time.Now()
	return liveOverview(&status.Status{Title: "box", At: now, Nodes: []status.Node{{Name: "n"}}, Ended: []status.Job{{ID: "a", Phase: "failed", Outcome: "failed", Finished: now.Add(-time.Minute)}}}), nil
}
