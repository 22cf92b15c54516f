package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A pod's token, and the next one of the same pod, are its job's; each is asked for once a
// minute.
func TestReviewer_knows_a_pod_by_each_of_its_tokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		r := NewReviewer(agents, s.review, living{"p1": "j1"}.lookup)
		first, second := ticket("p1", 10*time.Minute, 1), ticket("p1", 10*time.Minute, 2)
		for i, token := range []string{first, second, first, first, second} {
			if id, err := r.Job(t.Context(), "a", token); id != "j1" || err != nil {
				t.Errorf("%d: got %s, %v, want j1", i, id, err)
			}
		}
		pod, err := r.pod(t.Context(), "a", first)
		if want := (identity{"ns", "p1-0", "p1", "default"}); pod != want || err != nil {
			t.Errorf("got %+v, %v, want %+v", pod, err, want)
		}
		if n := s.asked.Load(); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
		time.Sleep(keepYes + time.Second)
		if _, err := r.Job(t.Context(), "a", first); err != nil || s.asked.Load() != 3 {
			t.Errorf("after a minute: %v, asked %d times, want 3", err, s.asked.Load())
		}
	})
}

// What a token may not be. None of these is worth a question, and no bug in the API
// server's answer could let it in.
func TestReviewer_refuses_without_a_question(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := `{"aud":["oxgang-agents"],"exp":4102444800,"kubernetes.io":{"pod":{"uid":"p1"}}}`
		change := func(from, to string) string {
			if !strings.Contains(good, from) {
				t.Fatalf("%s is not in %s", from, good)
			}
			return written(strings.Replace(good, from, to, 1))
		}
		var s server
		r := NewReviewer(agents, s.review, living{"p1": "j1"}.lookup)
		for name, token := range map[string]string{
			"empty":             "",
			"no token":          "secret",
			"not signed":        "e30.e30.",
			"four parts":        written(good) + ".c2ln",
			"not base64":        "e30.?.c2ln",
			"not JSON":          written("{"),
			"too long":          written(strings.Repeat(" ", maxToken) + good),
			"other audience":    change("oxgang-agents", "https://kubernetes.default.svc"),
			"no audience":       change(`"aud":["oxgang-agents"],`, ""),
			"audience no text":  change(`["oxgang-agents"]`, "7"),
			"ended":             change("4102444800", "946684799"), // a bubble begins in 2000
			"no end":            change(`"exp":4102444800,`, ""),
			"negative end":      change("4102444800", "-1"),
			"end beyond times":  change("4102444800", "1e300"),
			"end is a text":     change("4102444800", `"4102444800"`),
			"a user's":          change(`"kubernetes.io":{"pod":{"uid":"p1"}}`, `"sub":"ann"`),
			"pod without a UID": change(`"uid":"p1"`, `"name":"p1"`),
			"pod not here":      change(`"p1"`, `"p2"`),
		} {
			if _, err := r.Job(t.Context(), "a", token); !errors.Is(err, ErrUnknownToken) {
				t.Errorf("%s: got %v, want it refused", name, err)
			}
		}
		if n := s.asked.Load(); n != 0 {
			t.Errorf("asked %d times, want never", n)
		}
		if _, err := r.Job(t.Context(), "a", written(good)); err != nil {
			t.Errorf("unchanged: %v", err)
		}
		if _, err := r.Job(t.Context(), "a", change(`["oxgang-agents"]`, `"oxgang-agents"`)); err != nil {
			t.Errorf("audience as one text: %v", err)
		}
	})
}

// Tokens for the audience of the scheduler that is asked are good, whatever that is called.
func TestReviewer_has_its_audience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{edit: func(s *authenticationv1.TokenReviewStatus) { s.Audiences = []string{"team"} }}
		r := NewReviewer("team", s.review, living{"p1": "j1"}.lookup)
		token := written(`{"aud":["team"],"exp":4102444800,"kubernetes.io":{"pod":{"uid":"p1"}}}`)
		if id, err := r.Job(t.Context(), "a", token); id != "j1" || err != nil {
			t.Errorf("got %s, %v, want j1", id, err)
		}
		if _, err := r.Job(t.Context(), "a", ticket("p1", time.Hour, 1)); !errors.Is(err, ErrUnknownToken) {
			t.Errorf("for %s: got %v, want it refused", agents, err)
		}
	})
}

// Each part of an answer that vouches for less than a living pod with our audience refuses
// the token, for five seconds without another question.
func TestReviewer_refuses_by_the_answer(t *testing.T) {
	for name, edit := range map[string]func(*authenticationv1.TokenReviewStatus){
		"not authenticated": func(s *authenticationv1.TokenReviewStatus) { s.Authenticated = false },
		"error":             func(s *authenticationv1.TokenReviewStatus) { s.Error = "expired" },
		"no audiences":      func(s *authenticationv1.TokenReviewStatus) { s.Audiences = nil },
		"other audiences":   func(s *authenticationv1.TokenReviewStatus) { s.Audiences = []string{"x"} },
		"a user":            func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "ann" },
		"a node":            func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "system:node:n1" },
		"no namespace":      func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "system:serviceaccount:" },
		"no pod name":       func(s *authenticationv1.TokenReviewStatus) { delete(s.User.Extra, podName) },
		"no pod":            func(s *authenticationv1.TokenReviewStatus) { s.User.Extra = nil },
		"two pods":          func(s *authenticationv1.TokenReviewStatus) { s.User.Extra[podUID] = []string{"p1", "p2"} },
		"another pod":       func(s *authenticationv1.TokenReviewStatus) { s.User.Extra[podUID] = []string{"p2"} },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := server{edit: edit}
			r := NewReviewer(agents, s.review, living{"p1": "j1", "p2": "j2"}.lookup)
			token := ticket("p1", time.Hour, 1)
			for range 3 {
				if _, err := r.Job(t.Context(), "a", token); !errors.Is(err, ErrUnknownToken) {
					t.Errorf("%s: got %v, want it refused", name, err)
				}
			}
			if n := s.asked.Load(); n != 1 {
				t.Errorf("%s: asked %d times, want once", name, n)
			}
			time.Sleep(keepNo + time.Second)
			s.edit = nil
			if _, err := r.Job(t.Context(), "a", token); err != nil {
				t.Errorf("%s: later: %v", name, err)
			}
		})
	}
}

// The API server vouches for a token for up to a minute after its pod is gone, and so does
// a kept answer.
func TestReviewer_refuses_a_pod_that_is_gone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		pods := living{"p1": "j1"}
		r := NewReviewer(agents, s.review, pods.lookup)
		token := ticket("p1", time.Hour, 1)
		if _, err := r.Job(t.Context(), "a", token); err != nil {
			t.Fatal(err)
		}
		delete(pods, "p1")
		for _, again := range []string{token, ticket("p1", time.Hour, 2)} {
			if _, err := r.Job(t.Context(), "a", again); !errors.Is(err, ErrUnknownToken) {
				t.Errorf("got %v, want it refused", err)
			}
		}
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

// A kept answer does not outlive its token.
func TestReviewer_keeps_no_answer_beyond_its_token(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		r := NewReviewer(agents, s.review, living{"p1": "j1"}.lookup)
		token := ticket("p1", 10*time.Second, 1)
		if _, err := r.Job(t.Context(), "a", token); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if _, err := r.Job(t.Context(), "a", token); !errors.Is(err, ErrUnknownToken) {
			t.Errorf("got %v, want it refused", err)
		}
	})
}

// While the API server is away tokens that are known stay so, and others are told to come
// again; that is not remembered.
func TestReviewer_while_the_API_server_is_away(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		r := NewReviewer(agents, s.review, living{"p1": "j1", "p2": "j2"}.lookup)
		known, other := ticket("p1", time.Hour, 1), ticket("p2", time.Hour, 1)
		if _, err := r.Job(t.Context(), "a", known); err != nil {
			t.Fatal(err)
		}
		s.away.Store(true)
		if _, err := r.Job(t.Context(), "a", known); err != nil {
			t.Errorf("known: %v", err)
		}
		if _, err := r.Job(t.Context(), "a", other); !errors.Is(err, ErrReviewLater) || errors.Is(err, ErrUnknownToken) {
			t.Errorf("other: got %v, want later", err)
		}
		s.away.Store(false)
		if id, err := r.Job(t.Context(), "a", other); id != "j2" || err != nil {
			t.Errorf("other, later: got %s, %v, want j2", id, err)
		}
	})
}

// Many who ask the same at once are one question, and one who gives up does not end it.
func TestReviewer_asks_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		answer := make(chan struct{})
		review := func(ctx context.Context, token string) (*authenticationv1.TokenReviewStatus, error) {
			<-answer
			return s.review(ctx, token)
		}
		r := NewReviewer(agents, review, living{"p1": "j1"}.lookup)
		token := ticket("p1", time.Hour, 1)
		hasty, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go func() {
			_, err := r.Job(hasty, "hasty", token)
			errs <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, ErrReviewLater) {
			t.Errorf("one who gave up: got %v, want later", err)
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if id, err := r.Job(t.Context(), "a", token); id != "j1" || err != nil {
					t.Errorf("%d: got %s, %v", i, id, err)
				}
			})
		}
		synctest.Wait()
		close(answer)
		all.Wait()
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

// A flood of tokens that name a living pod, which is the worst that can be forged, does not
// reach the API server, and does not keep another address from it.
func TestReviewer_a_flood_does_not_reach_the_API_server(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{edit: func(s *authenticationv1.TokenReviewStatus) { s.Authenticated = false }}
		r := NewReviewer(agents, s.review, living{"p1": "j1", "p2": "j2"}.lookup)
		for i := range 10_000 {
			if _, err := r.Job(t.Context(), "bad", ticket("p1", time.Hour, i)); err == nil {
				t.Fatal("a forged token is taken")
			}
		}
		if n := s.asked.Load(); n != burst {
			t.Errorf("asked %d times, want %d", n, burst)
		}
		s.edit = nil
		if id, err := r.Job(t.Context(), "good", ticket("p2", time.Hour, 0)); id != "j2" || err != nil {
			t.Errorf("another address: got %s, %v, want j2", id, err)
		}
		time.Sleep(time.Second)
		before := s.asked.Load()
		for i := range 100 {
			_, _ = r.Job(t.Context(), "bad", ticket("p1", time.Hour, i+20_000))
		}
		if n := s.asked.Load() - before; n != perSource {
			t.Errorf("a second later: asked %d times, want %d", n, perSource)
		}
	})
}

// A flood from many addresses has a rate, too.
func TestReviewer_floods_together_have_a_rate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		r := NewReviewer(agents, s.review, living{"p1": "j1"}.lookup)
		later := 0
		for i := range 1000 {
			_, err := r.Job(t.Context(), fmt.Sprint(i), ticket("p1", time.Hour, i))
			if errors.Is(err, ErrReviewLater) {
				later++
			}
		}
		if n := s.asked.Load(); n != burstAll || later != 1000-burstAll {
			t.Errorf("asked %d times, %d told to come again, want %d and %d", n, later, burstAll, 1000-burstAll)
		}
	})
}

// The question that is asked names the audience: without it the API server vouches for
// tokens that are its own.
func TestClient(t *testing.T) {
	c := fake.NewClientset()
	var spec authenticationv1.TokenReviewSpec
	c.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		spec, r.Status = r.Spec, *vouched("p1")
		return true, r, nil
	})
	r := NewReviewer(agents, TokenReviews(c.AuthenticationV1().TokenReviews(), agents), func(string) (Member, bool) {
		return Member{Job: "j1", Namespace: "ns", Name: "p1-0", Account: "default"}, true
	})
	token := ticket("p1", time.Hour, 1)
	if id, err := r.Job(t.Context(), "a", token); id != "j1" || err != nil {
		t.Errorf("got %s, %v, want j1", id, err)
	}
	if spec.Token != token || len(spec.Audiences) != 1 || spec.Audiences[0] != agents {
		t.Errorf("asked %+v, want the token, for %s", spec, agents)
	}
}

// FuzzGlance reads anything: it does not panic, and what it lets through ends later.
func FuzzGlance(f *testing.F) {
	f.Add("")
	f.Add(written(`{"aud":"oxgang-agents","exp":1e9,"kubernetes.io":{"pod":{"uid":"p"}}}`))
	f.Add(written(`{"aud":["oxgang-agents"],"exp":1e11,"kubernetes.io":{"pod":{"uid":"p"}}}`))
	f.Add(written(`{"exp":-1e999}`))
	now := time.Unix(1e9, 0)
	f.Fuzz(func(t *testing.T, token string) {
		if pod, ends, err := readToken(token, agents, now); err == nil && (pod == "" || !ends.After(now)) {
			t.Errorf("let through: pod %q, ends %v", pod, ends)
		}
	})
}

// A token speaks for the pod that it is of, and that pod's service account, in its namespace, even
// if another pod has its UID.
func TestReviewer_compares_the_pod(t *testing.T) {
	of := Member{Job: "j1", Namespace: "ns", Name: "p1-0", Account: "default"}
	for name, change := range map[string]func(*Member){
		"as it is":        func(*Member) {},
		"namespace":       func(m *Member) { m.Namespace = "victim" },
		"name":            func(m *Member) { m.Name = "p2-0" },
		"service account": func(m *Member) { m.Account = "trainer" },
	} {
		synctest.Test(t, func(t *testing.T) {
			var s server
			m := of
			change(&m)
			r := NewReviewer(agents, s.review, func(string) (Member, bool) { return m, true })
			id, err := r.Job(t.Context(), "a", ticket("p1", time.Hour, 1))
			if same := m == of; same != (id == "j1") || !same && !errors.Is(err, ErrUnknownToken) {
				t.Errorf("%s: got %q, %v", name, id, err)
			}
		})
	}
}
